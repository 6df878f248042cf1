//! Keys of a repository and paths inside a directory: neither leads anywhere else.

use std::path::{Component, Path, PathBuf};

use mainspring_model::spec::Digest;

use crate::error::Error;

/// Where content lives in a repository: `sha256/ab/cdef…`.
pub fn content_key(digest: &Digest) -> String {
    let text = digest.to_string();
    let hex = text.strip_prefix("sha256:").unwrap_or(&text);
    let (first, rest) = hex.split_at(2);
    format!("sha256/{first}/{rest}")
}

/// Checks a key: parts between slashes, none of them empty or special.
pub(crate) fn check(key: &str) -> Result<&str, Error> {
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\0', '\\']);
    if key.split('/').all(plain) { Ok(key) } else { Err(Error::Outside { path: key.to_owned() }) }
}

/// The path `relative` inside `directory`, however it is spelled; an error when it would be elsewhere. Links that stand in
/// the directory are the concern of whoever put them there.
pub fn inside(directory: &Path, relative: &str) -> Result<PathBuf, Error> {
    let outside = || Error::Outside { path: relative.to_owned() };
    let mut path = directory.to_owned();
    let mut depth = 0;
    for component in Path::new(relative).components() {
        match component {
            Component::Normal(part) => {
                path.push(part);
                depth += 1;
            }
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    if depth == 0 || relative.contains('\0') { Err(outside()) } else { Ok(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_paths_stay_where_they_are() {
        for good in ["a", "sha256/ab/cd", "logs/2026-01-01/x.zst"] {
            assert!(check(good).is_ok(), "{good}");
            assert_eq!(inside(Path::new("/work"), good).unwrap(), Path::new("/work").join(good));
        }
        for bad in ["", "/", "/etc/passwd", "..", "a/../../b", "a//../..", "a\0b"] {
            assert!(inside(Path::new("/work"), bad).is_err(), "{bad}");
        }
        for bad in ["", "/a", "a/", "a//b", "a/./b", "../a", "a\\b"] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert_eq!(inside(Path::new("/srv"), "./a/./b").unwrap(), Path::new("/srv/a/b"));
    }

    #[test]
    fn content_is_found_by_its_digest() {
        let digest = Digest::from_bytes([0xab; 32]);
        assert_eq!(content_key(&digest), format!("sha256/ab/{}", "ab".repeat(31)));
    }
}
