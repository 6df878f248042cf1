//! What callers sign with, at rest.
//!
//! A signature can be checked only by who knows the secret, so it cannot be kept as a hash. It is kept under a pad that follows
//! from the trigger's token, of which only the hash is stored: every call brings the token, and with it the secret can be read.
//! Who has the database alone, or the URL alone, has no secret. A token is random, has 256 bits, and seals one secret.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::secret::{from_hex, hex};

/// The secret under the pad of a token, as text.
pub(super) fn seal(token: &str, secret: &str) -> String {
    hex(&under_pad(token, secret.as_bytes()))
}

/// The secret that was sealed with this token.
pub(super) fn unseal(token: &str, sealed: &str) -> Option<Vec<u8>> {
    from_hex(sealed).map(|bytes| under_pad(token, &bytes))
}

fn under_pad(token: &str, bytes: &[u8]) -> Vec<u8> {
    let mut padded = Vec::with_capacity(bytes.len());
    for (number, block) in bytes.chunks(32).enumerate() {
        let pad = mac(token.as_bytes(), format!("mainspring/hook/{number}").as_bytes());
        padded.extend(block.iter().zip(pad).map(|(byte, pad)| byte ^ pad));
    }
    padded
}

/// The HMAC-SHA256 of a text.
pub(super) fn mac(key: &[u8], text: &[u8]) -> [u8; 32] {
    started(key).chain_update(text).finalize().into_bytes().into()
}

/// An HMAC-SHA256 that has seen nothing yet.
pub(super) fn started(key: &[u8]) -> Hmac<Sha256> {
    match Hmac::new_from_slice(key) {
        Ok(mac) => mac,
        Err(error) => panic!("a key of any length is a key: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_with_its_token_only() {
        for secret in ["short", &"x".repeat(32), &"long ".repeat(50)] {
            let sealed = seal("msh_one", secret);
            assert_eq!(unseal("msh_one", &sealed).unwrap(), secret.as_bytes());
            assert_ne!(unseal("msh_two", &sealed).unwrap(), secret.as_bytes());
            assert!(!sealed.contains(&hex(&secret.as_bytes()[..5])));
        }
        // The pad does not repeat.
        let zeros = unseal("msh_one", &hex(&[0; 64])).unwrap();
        assert_ne!(zeros[..32], zeros[32..]);
        assert_eq!(unseal("msh_one", "nonsense"), None);
    }
}
