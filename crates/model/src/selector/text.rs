//! The text form of a selector: `zone=eu, disk in (ssd,nvme), gpu, !spot`.
//!
//! Requirements are separated by commas outside parentheses. Label keys and values contain none of the
//! characters used here, so there is no quoting. What is printed is the canonical form and reads back equal.

use std::fmt;
use std::str::FromStr;

use super::{Requirement, Selector, SelectorError, Test, Values};

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let requirements: Vec<Requirement> = split(text).map(requirement).collect::<Result<_, _>>()?;
        Self::new(requirements)
    }
}

/// The parts between commas that stand outside parentheses.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.split(move |c| {
        match c {
            '(' => inside = true,
            ')' => inside = false,
            _ => {}
        }
        c == ',' && !inside
    })
}

fn requirement(part: &str) -> Result<Requirement, SelectorError> {
    let part = part.trim();
    let shape = || SelectorError::Shape(part.into());
    if let Some((head, list)) = part.split_once('(') {
        let values = list.strip_suffix(')').ok_or_else(shape)?.split(',').map(str::trim);
        let words: Vec<&str> = head.split_whitespace().collect();
        return match words[..] {
            [key, "in"] => Requirement::any_of(key, values),
            [key, "not", "in"] => Requirement::none_of(key, values),
            _ => Err(shape()),
        };
    }
    if let Some((key, value)) = part.split_once("!=") {
        return Requirement::none_of(key.trim(), [value.trim()]);
    }
    if let Some((key, value)) = part.split_once('=') {
        return Requirement::any_of(key.trim(), [value.trim()]);
    }
    if part.is_empty() || part.contains(char::is_whitespace) {
        return Err(shape());
    }
    match part.strip_prefix('!') {
        Some(key) => Requirement::not_exists(key),
        None => Requirement::exists(part),
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements().iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{requirement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key();
        match self.test() {
            Test::In(values) => match single(values) {
                Some(value) => write!(f, "{key}={value}"),
                None => write!(f, "{key} in ({})", join(values)),
            },
            Test::NotIn(values) => match single(values) {
                Some(value) => write!(f, "{key}!={value}"),
                None => write!(f, "{key} not in ({})", join(values)),
            },
            Test::Exists => f.write_str(key),
            Test::NotExists => write!(f, "!{key}"),
        }
    }
}

fn single(values: &Values) -> Option<&str> {
    let mut iter = values.iter();
    iter.next().filter(|_| iter.next().is_none())
}

fn join(values: &Values) -> String {
    values.iter().collect::<Vec<_>>().join(",")
}

crate::name::serde_by_text!(Selector);

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        match (text.parse::<Selector>(), expected) {
            (Ok(selector), Ok(printed)) => {
                assert_eq!(selector.to_string(), printed, "{text}");
                assert_eq!(printed.parse::<Selector>().as_ref(), Ok(&selector), "{text}");
            }
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{text}: {error}"),
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn reads_and_prints() {
        check("", Ok(""));
        check("  ", Ok(""));
        check("zone=eu", Ok("zone=eu"));
        check(" zone = eu ", Ok("zone=eu"));
        check("zone!=eu", Ok("zone!=eu"));
        check("disk in ( ssd , nvme )", Ok("disk in (nvme,ssd)"));
        check("disk in (ssd)", Ok("disk=ssd"));
        check("disk not in (ssd,hdd)", Ok("disk not in (hdd,ssd)"));
        check("zone=eu, disk in (ssd,nvme), gpu, !spot", Ok("disk in (nvme,ssd), gpu, !spot, zone=eu"));
        check("in=in", Ok("in=in"));
    }

    #[test]
    fn refuses_what_is_not_a_requirement() {
        check(",", Err("not a requirement"));
        check("zone=eu,", Err("not a requirement"));
        check("zone eu", Err("not a requirement"));
        check("zone in (", Err("not a requirement"));
        check("zone in ()", Err("not a label value"));
        check("zone like (a)", Err("not a requirement"));
        check("zone == eu", Err("not a label value"));
        check("zone=", Err("not a label value"));
        check("=eu", Err("not a label key"));
        check("!", Err("not a label key"));
        check("a) b (c", Err("not a requirement"));
    }
}
