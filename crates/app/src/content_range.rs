//! The header `Range`, as far as it makes sense for a file: one range of bytes. Pure.

use std::ops::Range;

/// A range that the file does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file has {length} bytes")]
pub struct RangeError {
    /// How long the file is.
    pub length: u64,
}

/// The bytes that a header asks for. What is not understood is no range: then the whole is sent, as HTTP has it.
pub fn parse_range(header: &str, length: u64) -> Result<Option<Range<u64>>, RangeError> {
    let Some(spec) = header.strip_prefix("bytes=") else { return Ok(None) };
    let Some((first, last)) = spec.split_once('-').filter(|_| !spec.contains(',')) else { return Ok(None) };
    let range = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => first..last.saturating_add(1).min(length),
        (Ok(first), Err(_)) if last.is_empty() => first..length,
        (Err(_), Ok(suffix)) if first.is_empty() && suffix > 0 => length.saturating_sub(suffix)..length,
        (Err(_), Ok(0)) if first.is_empty() => return Err(RangeError { length }),
        _ => return Ok(None),
    };
    if range.start >= length {
        return Err(RangeError { length });
    }
    Ok(Some(range))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &str, expected: Result<Option<Range<u64>>, ()>) {
        assert_eq!(parse_range(header, 100).map_err(|_| ()), expected, "{header}");
    }

    #[test]
    fn one_range_of_bytes() {
        check("bytes=0-9", Ok(Some(0..10)));
        check("bytes=90-", Ok(Some(90..100)));
        check("bytes=-10", Ok(Some(90..100)));
        check("bytes=-1000", Ok(Some(0..100)));
        check("bytes=50-1000", Ok(Some(50..100)));
        check("bytes=100-", Err(()));
        check("bytes=-0", Err(()));
        check("bytes=9-0", Ok(None));
        check("bytes=0-1,5-6", Ok(None));
        check("lines=0-1", Ok(None));
        check("bytes=x-y", Ok(None));
    }
}
