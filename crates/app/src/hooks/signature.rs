//! Whether a body is signed: HMAC-SHA256 over the bytes as they came, compared in a time that tells nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::Mac;
use mainspring_model::spec::{Encoding, Signature};

use super::seal::started;
use crate::secret::from_hex;

/// Whether what a header says is the signature of the body.
pub(super) fn is_right(wanted: &Signature, said: Option<&str>, secret: &[u8], body: &[u8]) -> bool {
    let Some(text) = said.and_then(|said| said.trim().strip_prefix(&*wanted.prefix)) else { return false };
    let bytes = match wanted.encoding {
        Encoding::Hex => from_hex(text),
        Encoding::Base64 => STANDARD.decode(text).ok(),
    };
    bytes.is_some_and(|bytes| started(secret).chain_update(body).verify_slice(&bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"It's a Secret to Everybody";
    const BODY: &[u8] = b"Hello, World!";
    /// The example that GitHub's manual gives.
    const HEX: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    const BASE64: &str = "dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=";

    fn check(prefix: &str, encoding: Encoding, said: Option<&str>, right: bool) {
        let wanted = Signature { header: "X-Sig".into(), prefix: prefix.into(), encoding };
        assert_eq!(is_right(&wanted, said, SECRET, BODY), right, "{said:?}");
        assert!(!is_right(&wanted, said, b"another", BODY), "{said:?}");
        assert!(!is_right(&wanted, said, SECRET, b"Hello, World?"), "{said:?}");
    }

    #[test]
    fn only_the_whole_signature_is_right() {
        check("sha256=", Encoding::Hex, Some(&format!("sha256={HEX}")), true);
        check("", Encoding::Hex, Some(&HEX.to_uppercase()), true);
        check("", Encoding::Base64, Some(BASE64), true);
        check("sha256=", Encoding::Hex, Some(HEX), false);
        check("", Encoding::Hex, Some(&HEX[..62]), false);
        check("", Encoding::Hex, Some(""), false);
        check("", Encoding::Hex, Some(BASE64), false);
        check("", Encoding::Base64, Some(HEX), false);
        check("", Encoding::Hex, None, false);
    }
}
