//! Counting and digesting content while it passes.

use mainspring_model::spec::Digest;
use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// What passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// Its SHA-256.
    pub digest: Digest,
    /// Its length.
    pub size: u64,
}

/// Digests what passes, up to a limit.
#[derive(Debug, Clone)]
pub struct Digester {
    hash: Sha256,
    size: u64,
    limit: u64,
}

impl Digester {
    /// For at most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self { hash: Sha256::new(), size: 0, limit }
    }

    /// More content.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.size += bytes.len() as u64;
        if self.size > self.limit {
            return Err(Error::TooLarge { limit: self.limit });
        }
        self.hash.update(bytes);
        Ok(())
    }

    /// All of it passed.
    pub fn finish(self) -> Content {
        let mut digest = [0; 32];
        digest.copy_from_slice(&self.hash.finalize());
        Content { digest: Digest::from_bytes(digest), size: self.size }
    }

    /// All of it passed; an error when it is not what was named.
    pub fn finish_as(self, expected: Option<&Digest>) -> Result<Content, Error> {
        let content = self.finish();
        match expected {
            Some(expected) if *expected != content.digest => {
                Err(Error::Digest { expected: *expected, found: content.digest })
            }
            _ => Ok(content),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_counted_digested_and_bounded() {
        let mut digester = Digester::new(5);
        digester.add(b"ab").unwrap();
        digester.add(b"c").unwrap();
        let content = digester.clone().finish();
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((content.digest.to_string().as_str(), content.size), (expected, 3));
        let other = Digest::from_bytes([0; 32]);
        assert!(matches!(digester.clone().finish_as(Some(&other)), Err(Error::Digest { .. })));
        assert!(matches!(digester.add(b"xyz"), Err(Error::TooLarge { limit: 5 })));
    }
}
