//! Secrets that we give out: tokens, sessions, login codes, join tokens, node credentials, webhooks.
//!
//! A secret is a prefix that tells its kind, 256 random bits and a checksum, so that a scanner finds one that leaked and a
//! typing error is told from a revoked one without asking the store. Only the SHA-256 of a secret is kept.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// Letters and digits that are not taken for each other.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 256 bits, five to a character.
const RANDOM_CHARS: usize = 52;
/// 30 bits of checksum.
const CHECK_CHARS: usize = 6;

/// What a secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    /// The API.
    Api,
    /// A session of the console.
    Session,
    /// Opening one session.
    LoginCode,
    /// Joining, once.
    Join,
    /// A node.
    Node,
    /// Calling a webhook.
    Hook,
    /// Signing calls of a webhook.
    HookSecret,
}

/// The SHA-256 of a secret: what a store keeps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SecretHash([u8; 32]);

impl SecretKind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Api, Self::Session, Self::LoginCode, Self::Join, Self::Node, Self::Hook, Self::HookSecret];

    /// How its secrets begin.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Api => "ms_",
            Self::Session => "mss_",
            Self::LoginCode => "msl_",
            Self::Join => "msj_",
            Self::Node => "msn_",
            Self::Hook => "msh_",
            Self::HookSecret => "msk_",
        }
    }

    /// A secret from 256 random bits.
    pub fn secret(self, random: [u8; 32]) -> String {
        let mut text = String::with_capacity(4 + RANDOM_CHARS + CHECK_CHARS);
        text.push_str(self.prefix());
        let (mut bits, mut count) = (0u32, 0);
        for byte in random {
            (bits, count) = ((bits << 8 | u32::from(byte)) & 0xffff, count + 8);
            while count >= 5 {
                count -= 5;
                text.push(char::from(ALPHABET[(bits >> count & 31) as usize]));
            }
        }
        text.push(char::from(ALPHABET[(bits << (5 - count) & 31) as usize]));
        let check = checksum(&text);
        text.push_str(&check);
        text
    }

    /// Whether this can be a secret of the kind: its shape and checksum fit.
    pub fn fits(self, text: &str) -> bool {
        let length = self.prefix().len() + RANDOM_CHARS + CHECK_CHARS;
        text.is_ascii() && text.len() == length && text.starts_with(self.prefix()) && {
            let (body, check) = text.split_at(length - CHECK_CHARS);
            checksum(body) == check
        }
    }
}

impl SecretHash {
    /// The hash of a secret.
    pub(crate) fn of(secret: &str) -> Self {
        Self(sha256(secret.as_bytes()))
    }

    /// The bytes.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash with these bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// What people call it by: `tok_` and the first digits.
    pub(crate) fn id(&self) -> String {
        format!("tok_{}", hex(&self.0[..12]))
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id())
    }
}

impl Serialize for SecretHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for SecretHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = from_hex(&text).and_then(|bytes| Self::from_bytes(&bytes));
        hash.ok_or_else(|| D::Error::custom("a hash is 64 hexadecimal digits"))
    }
}

/// The SHA-256 of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// The bytes of hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

fn checksum(body: &str) -> String {
    let hash = sha256(body.as_bytes());
    let bits = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
    (0..CHECK_CHARS).map(|at| char::from(ALPHABET[(bits >> (at * 5) & 31) as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_fits_its_kind_only() {
        for kind in SecretKind::ALL {
            let secret = kind.secret([0xa5; 32]);
            for other in SecretKind::ALL {
                assert_eq!(other.fits(&secret), other == kind, "{secret}");
            }
            assert_eq!(secret.len(), kind.prefix().len() + 58);
        }
    }

    #[test]
    fn every_random_bit_counts() {
        let zero = SecretKind::Api.secret([0; 32]);
        for bit in 0..256 {
            let mut random = [0; 32];
            random[bit / 8] = 1 << (bit % 8);
            assert_ne!(SecretKind::Api.secret(random)[..55], zero[..55], "bit {bit}");
        }
    }

    #[test]
    fn a_typing_error_does_not_fit() {
        let secret = SecretKind::Api.secret([7; 32]);
        for at in 3..secret.len() {
            let mut wrong = secret.clone().into_bytes();
            wrong[at] = if wrong[at] == b'0' { b'1' } else { b'0' };
            assert!(!SecretKind::Api.fits(&String::from_utf8(wrong).unwrap()), "{at}");
        }
        assert!(!SecretKind::Api.fits("ms_"));
        assert!(!SecretKind::Api.fits(&format!("ms_é{}", &secret[5..])));
    }

    #[test]
    fn hexadecimal_digits_read_back() {
        assert_eq!(hex(&[0, 0xaf, 0x10]), "00af10");
        assert_eq!(from_hex("00af10"), Some(vec![0, 0xaf, 0x10]));
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("0g"), None);
    }
}
