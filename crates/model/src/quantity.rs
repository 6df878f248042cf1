//! Exact quantities: `500m` cpu, `256Mi` memory, `1.5` of a named countable.
//!
//! All arithmetic is on integers, so nothing is lost: a number finer than
//! the smallest unit (a thousandth of a countable, one byte of memory) is refused, never rounded.

/// Text that is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// No number such as `2` or `0.5`.
    #[error("`{0}` is not a number such as `2`, `0.5` or `500m`")]
    Countable(String),
    /// No size such as `256Mi`.
    #[error("`{0}` is not a size such as `256Mi`, `1.5Gi` or `1G`")]
    Size(String),
    /// Finer than a thousandth.
    #[error("`{0}` is finer than a thousandth, `1m`")]
    TooFine(String),
    /// Not a whole number of bytes.
    #[error("`{0}` is not a whole number of bytes; use a smaller unit")]
    PartOfByte(String),
    /// Larger than 64 bits hold.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

/// The pattern of a countable's text form, for the JSON Schema.
pub const MILLI_PATTERN: &str = r"^([0-9]+m|[0-9]+(\.[0-9]+)?)$";
/// The pattern of a size's text form, for the JSON Schema.
pub const BYTES_PATTERN: &str = r"^[0-9]+(\.[0-9]+)?([KMGTP]i|[kMGTP])?$";

const BINARY: [(&str, u64); 5] =
    [("Pi", 1 << 50), ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
const DECIMAL: [(&str, u64); 5] = [
    ("P", 1_000_000_000_000_000),
    ("T", 1_000_000_000_000),
    ("G", 1_000_000_000),
    ("M", 1_000_000),
    ("k", 1_000),
];

/// Reads a countable (`2`, `0.5`, `500m`) as thousandths.
pub fn parse_milli(text: &str) -> Result<u64, QuantityError> {
    let shape = || QuantityError::Countable(text.into());
    if let Some(milli) = text.strip_suffix('m') {
        if milli.is_empty() || !milli.bytes().all(|b| b.is_ascii_digit()) {
            return Err(shape());
        }
        return milli.parse().map_err(|_| QuantityError::TooLarge(text.into()));
    }
    match scaled(text, 1_000) {
        Scaled::Exact(milli) => Ok(milli),
        Scaled::Fraction => Err(QuantityError::TooFine(text.into())),
        Scaled::TooLarge => Err(QuantityError::TooLarge(text.into())),
        Scaled::NotANumber => Err(shape()),
    }
}

/// Writes thousandths in canonical form: `2` for whole numbers, otherwise `1500m`.
pub fn format_milli(milli: u64) -> String {
    if milli.is_multiple_of(1_000) { (milli / 1_000).to_string() } else { format!("{milli}m") }
}

/// Reads a size (`256Mi`, `1.5Gi`, `1G`, `4096`) as bytes.
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    let (number, unit) = BINARY
        .iter()
        .chain(&DECIMAL)
        .find_map(|(suffix, unit)| text.strip_suffix(suffix).map(|number| (number, *unit)))
        .unwrap_or((text, 1));
    match scaled(number, unit) {
        Scaled::Exact(bytes) => Ok(bytes),
        Scaled::Fraction => Err(QuantityError::PartOfByte(text.into())),
        Scaled::TooLarge => Err(QuantityError::TooLarge(text.into())),
        Scaled::NotANumber => Err(QuantityError::Size(text.into())),
    }
}

/// Writes bytes in canonical form: the largest unit that divides them, binary before decimal.
pub fn format_bytes(bytes: u64) -> String {
    BINARY
        .iter()
        .chain(&DECIMAL)
        .find(|(_, unit)| bytes != 0 && bytes.is_multiple_of(*unit))
        .map_or_else(|| bytes.to_string(), |(suffix, unit)| format!("{}{suffix}", bytes / unit))
}

enum Scaled {
    Exact(u64),
    Fraction,
    TooLarge,
    NotANumber,
}

/// `number × unit`, where `number` is digits with an optional decimal point.
fn scaled(number: &str, unit: u64) -> Scaled {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let point_without_decimals = number.contains('.') && decimals.is_empty();
    if whole.is_empty() || point_without_decimals || !is_digits(whole) || !is_digits(decimals) {
        return Scaled::NotANumber;
    }
    let decimals = decimals.trim_end_matches('0');
    let Ok(whole) = whole.parse::<u128>() else { return Scaled::TooLarge };
    let Some(divisor) = 10u128.checked_pow(decimals.len() as u32) else { return Scaled::Fraction };
    let part = if decimals.is_empty() { Ok(0) } else { decimals.parse::<u128>() };
    let Ok(part) = part else { return Scaled::Fraction };
    let Some(part) = part.checked_mul(u128::from(unit)) else { return Scaled::Fraction };
    if !part.is_multiple_of(divisor) {
        return Scaled::Fraction;
    }
    whole
        .checked_mul(u128::from(unit))
        .and_then(|whole| whole.checked_add(part / divisor))
        .and_then(|total| u64::try_from(total).ok())
        .map_or(Scaled::TooLarge, Scaled::Exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(got: Result<u64, QuantityError>, expected: Result<u64, &str>, text: &str) {
        match (got, expected) {
            (Ok(got), Ok(want)) => assert_eq!(got, want, "{text}"),
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{text}: {error}"),
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn countables_are_exact_thousandths() {
        let cases: &[(&str, Result<u64, &str>)] = &[
            ("0", Ok(0)),
            ("2", Ok(2_000)),
            ("500m", Ok(500)),
            ("0.5", Ok(500)),
            ("0.1", Ok(100)),
            ("2.0", Ok(2_000)),
            ("1.250", Ok(1_250)),
            ("18446744073709551615m", Ok(u64::MAX)),
            ("0.0005", Err("finer than")),
            ("1e3", Err("not a number")),
            (".5", Err("not a number")),
            ("5.", Err("not a number")),
            ("-1", Err("not a number")),
            ("m", Err("not a number")),
            ("1.5m", Err("not a number")),
            ("", Err("not a number")),
            ("99999999999999999999", Err("too large")),
        ];
        for (text, expected) in cases {
            check(parse_milli(text), *expected, text);
            if let Ok(milli) = expected {
                check(parse_milli(&format_milli(*milli)), Ok(*milli), text);
            }
        }
    }

    #[test]
    fn sizes_are_exact_bytes() {
        let cases: &[(&str, Result<u64, &str>)] = &[
            ("0", Ok(0)),
            ("4096", Ok(4096)),
            ("256Mi", Ok(256 << 20)),
            ("1.5Gi", Ok(3 << 29)),
            ("1G", Ok(1_000_000_000)),
            ("1k", Ok(1_000)),
            ("0.5Ki", Ok(512)),
            ("8191Pi", Ok(8191 << 50)),
            ("0.1Gi", Err("whole number of bytes")),
            ("0.5", Err("whole number of bytes")),
            ("1GB", Err("not a size")),
            ("1g", Err("not a size")),
            ("Mi", Err("not a size")),
            ("1 Mi", Err("not a size")),
            ("99999Pi", Err("too large")),
            ("1.00000000000000000000000000000000000000000001Gi", Err("whole number")),
        ];
        for (text, expected) in cases {
            check(parse_bytes(text), *expected, text);
            if let Ok(bytes) = expected {
                check(parse_bytes(&format_bytes(*bytes)), Ok(*bytes), text);
            }
        }
    }

    #[test]
    fn prints_the_largest_unit_that_divides() {
        for (bytes, text) in [(3 << 29, "1536Mi"), (1_000_000_000, "1G"), (1_025, "1025"), (2_000, "2k")] {
            assert_eq!(format_bytes(bytes), text);
        }
        assert_eq!(format_milli(1_500), "1500m");
    }
}
