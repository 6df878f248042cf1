//! Content encodings that the build prepared, and which of them a request accepts.

/// A prepared form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Brotli,
    Gzip,
}

impl Encoding {
    pub(crate) const fn name(self) -> Option<&'static str> {
        Some(self.token())
    }

    /// The end of the file's name.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }

    const fn token(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }
}

/// Those that `Accept-Encoding` names, the smallest first. Browsers name Brotli on encrypted connections alone.
pub(crate) fn wanted(accepted: &str) -> impl Iterator<Item = Encoding> {
    [Encoding::Brotli, Encoding::Gzip].into_iter().filter(move |encoding| names(accepted, encoding.token()))
}

fn names(accepted: &str, token: &str) -> bool {
    accepted.split(',').any(|part| {
        let mut words = part.split(';').map(str::trim);
        let is_it = words.next().is_some_and(|name| name.eq_ignore_ascii_case(token));
        let weight = words.find_map(|word| word.strip_prefix("q=")).map_or(Ok(1.0), str::parse::<f32>);
        is_it && weight.is_ok_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_that_is_accepted_comes_first() {
        for (accepted, expected) in [
            ("gzip, deflate, br", &[Encoding::Brotli, Encoding::Gzip][..]),
            ("gzip", &[Encoding::Gzip]),
            ("br;q=0, GZIP;q=0.5", &[Encoding::Gzip]),
            ("brotli, xgzip", &[]),
            ("", &[]),
        ] {
            assert_eq!(wanted(accepted).collect::<Vec<_>>(), expected, "{accepted}");
        }
    }
}
