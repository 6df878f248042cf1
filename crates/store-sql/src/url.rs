//! Options in a store's URL. Each driver takes those it knows; one that nobody knows is an error, so that a typo
//! does not silently mean the default.

use std::time::Duration;

use crate::session::Result;
use mainspring_store::Error;

/// A URL without its options, and the options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// What comes before the `?`.
    pub(crate) base: String,
    pairs: Vec<(String, String)>,
}

impl Options {
    /// Splits a URL.
    pub(crate) fn of(url: &str) -> Self {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        });
        Self { base: base.to_owned(), pairs: pairs.collect() }
    }

    /// Takes an option out.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(known, _)| known == name)?;
        Some(self.pairs.remove(at).1)
    }

    /// Takes a number out.
    pub(crate) fn take_number(&mut self, name: &str, default: u64) -> Result<u64> {
        match self.take(name) {
            None => Ok(default),
            Some(text) => {
                text.parse().map_err(|_| Error::Open(format!("option `{name}` is `{text}`, not a number")))
            }
        }
    }

    /// Takes a duration in milliseconds out.
    pub(crate) fn take_millis(&mut self, name: &str, default: Duration) -> Result<Duration> {
        Ok(Duration::from_millis(self.take_number(name, default.as_millis() as u64)?))
    }

    /// Takes one of some words out, as its position.
    pub(crate) fn take_word(&mut self, name: &str, words: &[&str], default: usize) -> Result<usize> {
        match self.take(name) {
            None => Ok(default),
            Some(text) => words.iter().position(|word| *word == text).ok_or_else(|| {
                Error::Open(format!("option `{name}` is `{text}`, not one of {}", words.join(", ")))
            }),
        }
    }

    /// Refuses what nobody took.
    pub(crate) fn finish(self, known: &str) -> Result<()> {
        match self.pairs.first() {
            None => Ok(()),
            Some((name, _)) => Err(Error::Open(format!("unknown option `{name}`; known are {known}"))),
        }
    }

    /// The URL with the options that nobody took, for a driver that reads them itself.
    pub(crate) fn rest(&self) -> String {
        let pairs: Vec<String> = self.pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { self.base.clone() } else { format!("{}?{}", self.base, pairs.join("&")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_and_the_rest_stays() {
        let mut options = Options::of("postgres://u:p@h/db?pool_size=3&connect_timeout=5&sslmode=require");
        assert_eq!(options.take_number("pool_size", 9).unwrap(), 3);
        assert_eq!(options.take_number("pool_size", 9).unwrap(), 9);
        assert_eq!(options.take_word("sslmode", &["disable", "require"], 0).unwrap(), 1);
        assert_eq!(options.rest(), "postgres://u:p@h/db?connect_timeout=5");
        assert!(options.finish("x").unwrap_err().to_string().contains("connect_timeout"));
        assert_eq!(Options::of("sqlite:a.db").rest(), "sqlite:a.db");
    }

    #[test]
    fn nonsense_is_told() {
        assert!(Options::of("x?n=abc").take_number("n", 1).is_err());
        assert!(
            Options::of("x?w=abc").take_word("w", &["a"], 0).unwrap_err().to_string().contains("one of a")
        );
    }
}
