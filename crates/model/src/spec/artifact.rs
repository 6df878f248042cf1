//! Artifacts: files fetched to the node before a task starts, checked by digest.
//!
//! The digest is not optional: what runs is what was named, on every node and on every retry.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use utoipa::ToSchema;

/// A file to fetch before the task starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Where to fetch it: an `https`, `http` or `file` URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Box<str>>,
    /// What its content must be: `sha256:` and 64 hexadecimal digits.
    pub digest: Digest,
    /// Where to put it, relative to the working directory. Without one, the last part of the URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Box<str>>,
    /// Whether to make it executable.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

impl Artifact {
    /// Where the file goes, relative to the working directory.
    pub fn target(&self) -> &str {
        self.path.as_deref().or_else(|| last_part(self.url.as_deref()?)).unwrap_or_default()
    }
}

/// The last part of a URL's path, without query and fragment.
pub(super) fn last_part(url: &str) -> Option<&str> {
    let url = url.split(['?', '#']).next()?;
    let (_, rest) = url.split_once("://")?;
    let (_, path) = rest.split_once('/')?;
    path.rsplit('/').next().filter(|part| !part.is_empty())
}

/// The SHA-256 of an artifact's content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is `sha256:` and 64 hexadecimal digits")]
pub struct DigestError;

impl Digest {
    /// The digest with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix("sha256:").ok_or(DigestError)?.as_bytes();
        if hex.len() != 64 {
            return Err(DigestError);
        }
        let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8).ok_or(DigestError);
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

crate::name::serde_by_text!(Digest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_read_and_print() {
        let text = format!("sha256:{}", "0aF9".repeat(16));
        assert_eq!(text.parse::<Digest>().unwrap().to_string(), text.to_lowercase());
        for bad in ["", "sha256:", "md5:00", &text[..70], &format!("{text}0"), &text.replace('F', "g")] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_target_is_given_or_the_end_of_the_url() {
        for (url, path, expected) in [
            ("https://files.example/app/etl.bin", None, "etl.bin"),
            ("https://files.example/etl.bin?v=2#top", None, "etl.bin"),
            ("https://files.example/etl.bin", Some("bin/etl"), "bin/etl"),
            ("https://files.example/", None, ""),
            ("https://files.example", None, ""),
            ("file:///opt/etl", None, "etl"),
        ] {
            let artifact = Artifact {
                url: Some(url.into()),
                digest: Digest::from_bytes([0; 32]),
                path: path.map(Into::into),
                executable: false,
            };
            assert_eq!(artifact.target(), expected, "{url}");
        }
    }
}
