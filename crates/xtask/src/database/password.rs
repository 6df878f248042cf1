//! A password nobody else knows, new for every server.

use std::fs::File;
use std::io::Read;

use anyhow::{Context, Result};

/// 32 hexadecimal digits: they need no quoting in SQL, in a URL or in a file.
pub(super) fn random() -> Result<String> {
    let mut bytes = [0_u8; 16];
    let source = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    source.context("cannot read /dev/urandom")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn passwords_are_long_plain_and_different() {
        let [first, second] = [super::random().unwrap(), super::random().unwrap()];
        assert_eq!(first.len(), 32);
        assert!(first.chars().all(|c| c.is_ascii_hexdigit()));
        assert_ne!(first, second);
    }
}
