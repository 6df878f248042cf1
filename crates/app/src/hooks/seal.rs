//! Webhook secrets at rest: authenticated encryption under a key that follows from the trigger's token.
//!
//! A signature can be checked only with the secret itself, so a hash is not enough. The store has the hash of the token and
//! not the token: every call brings it, and with it the secret can be read. The database alone, or the URL alone, shows no
//! secret. The token's hash, the job and the trigger are authenticated with it (associated data), so a row that was copied to
//! another trigger is not read.
//!
//! Rows before version 1 had a one-time pad without authentication. They are still read, and sealed anew when they are used.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use hmac::{Hmac, KeyInit, Mac};
use mainspring_model::JobId;
use sha2::Sha256;

use crate::secret::{SecretHash, from_hex, hex};

/// How the text of a sealed secret begins.
const VERSION: &str = "v1:";

/// What a secret belongs to: authenticated, not encrypted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) token: &'a str,
    pub(super) job: JobId,
    pub(super) trigger: &'a str,
}

/// A secret that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unsealed {
    pub(super) secret: Vec<u8>,
    /// Whether the row has the form before version 1.
    pub(super) is_old: bool,
}

/// The secret as it is stored. `nonce` is random: a token seals its secret once when it is made, and once when an old row is
/// sealed anew.
pub(super) fn seal(owner: Owner<'_>, secret: &[u8], nonce: [u8; NONCE_LEN]) -> String {
    let mut bytes = secret.to_vec();
    let sealed = key(owner.token).seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        owner.associated(),
        &mut bytes,
    );
    if sealed.is_err() {
        panic!("a secret is shorter than what the cipher can take");
    }
    format!("{VERSION}{}{}", hex(&nonce), hex(&bytes))
}

/// The secret that was sealed for this owner; none when it was for another, or changed since.
pub(super) fn unseal(owner: Owner<'_>, sealed: &str) -> Option<Unsealed> {
    let Some(text) = sealed.strip_prefix(VERSION) else {
        let secret = under_pad(owner.token, &from_hex(sealed)?);
        return Some(Unsealed { secret, is_old: true });
    };
    let mut bytes = from_hex(text)?;
    let nonce = Nonce::try_assume_unique_for_key(bytes.get(..NONCE_LEN)?).ok()?;
    let secret = key(owner.token).open_in_place(nonce, owner.associated(), &mut bytes[NONCE_LEN..]).ok()?;
    Some(Unsealed { secret: secret.to_vec(), is_old: false })
}

impl Owner<'_> {
    fn associated(self) -> Aad<Vec<u8>> {
        let hash = SecretHash::of(self.token);
        Aad::from(
            [hash.as_bytes().as_slice(), self.job.as_bytes().as_slice(), self.trigger.as_bytes()].concat(),
        )
    }
}

/// The key of a token, which is random and has 256 bits.
fn key(token: &str) -> LessSafeKey {
    let bytes = mac(token.as_bytes(), b"mainspring/hook/aead/1");
    match UnboundKey::new(&AES_256_GCM, &bytes) {
        Ok(key) => LessSafeKey::new(key),
        Err(error) => panic!("32 bytes are a key: {error}"),
    }
}

/// The form before version 1: a pad of HMAC blocks.
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
    use mainspring_model::Timestamp;

    use super::*;

    fn owner<'a>(token: &'a str, trigger: &'a str) -> Owner<'a> {
        Owner { token, job: JobId::new(Timestamp::ZERO, 7), trigger }
    }

    #[test]
    fn a_secret_is_read_by_its_owner_only() {
        let one = owner("msh_one", "push");
        for secret in ["short", &"x".repeat(32), &"long ".repeat(50)] {
            let sealed = seal(one, secret.as_bytes(), [1; NONCE_LEN]);
            let read = Unsealed { secret: secret.into(), is_old: false };
            assert_eq!(unseal(one, &sealed), Some(read));
            assert_ne!(sealed, seal(one, secret.as_bytes(), [2; NONCE_LEN]));
            assert!(!sealed.contains(&hex(&secret.as_bytes()[..5])));
            for other in [
                owner("msh_two", "push"),
                owner("msh_one", "pull"),
                Owner { job: JobId::new(Timestamp::ZERO, 8), ..one },
            ] {
                assert_eq!(unseal(other, &sealed), None, "{other:?}");
            }
        }
    }

    #[test]
    fn a_row_that_was_changed_is_not_read() {
        let one = owner("msh_one", "push");
        let sealed = seal(one, b"a secret", [1; NONCE_LEN]);
        for at in VERSION.len()..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            assert_eq!(unseal(one, std::str::from_utf8(&changed).unwrap()), None, "{at}");
        }
        assert_eq!(unseal(one, "v1:"), None);
        assert_eq!(unseal(one, "v1:nonsense"), None);
        assert_eq!(unseal(one, "nonsense"), None);
    }

    #[test]
    fn a_row_of_the_form_before_is_read() {
        let read = unseal(owner("msh_one", "push"), OLD_ROW).unwrap();
        assert_eq!(
            read,
            Unsealed { secret: b"a secret of forty bytes, two pad blocks.".to_vec(), is_old: true }
        );
    }

    /// Written by the program before, with the token `msh_one`.
    const OLD_ROW: &str = "e48a7142caf32a53e6ee3c01e1e2f77645f16fcb0a532b26516bd430e46d031d3cf21a9ca62006e5";
}
