//! The built files of the web console: embedded in the binary, or read from a folder while the console is developed.
//!
//! What is absent: HTTP, and anything that Node does. `cargo xtask console` builds the files; without them
//! [`Console::page`] answers nothing and the server shows a page that says so.
//! Invariant: a name never leads out of the folder.

mod encoding;
mod file;
mod page;

use std::borrow::Cow;
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

pub use file::File;
use flate2::read::GzDecoder;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Where the console's files come from.
#[derive(Debug, Clone, Default)]
pub struct Console {
    /// Read from here instead of the binary.
    folder: Option<PathBuf>,
}

impl Console {
    /// The files inside the binary.
    pub fn embedded() -> Self {
        Self::default()
    }

    /// The files of a folder, read anew for each request.
    pub fn from_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }

    /// A file by its name below the console's root, in the best encoding that the caller accepts.
    pub fn file(&self, name: &str, accepted: &str) -> Option<File> {
        // The page has values of its own for each request: see [`Console::page`].
        if !file::is_servable(name) {
            return None;
        }
        for encoding in encoding::wanted(accepted) {
            if let Some(body) = self.read(&format!("{name}{}", encoding.suffix())) {
                return Some(File::new(name, encoding.name(), body));
            }
        }
        let plain = self.read(name).or_else(|| self.unpacked(name))?;
        Some(File::new(name, None, plain))
    }

    /// The page of every URL of the console: below `prefix` (empty, or `/some/path`), with a nonce for styles. Nothing when the
    /// console was not built.
    pub fn page(&self, prefix: &str, nonce: &str) -> Option<String> {
        let template = self.read("index.html")?;
        Some(page::fill(&String::from_utf8_lossy(&template), prefix, nonce))
    }

    /// For the few callers that accept no encoding.
    fn unpacked(&self, name: &str) -> Option<Cow<'static, [u8]>> {
        let packed = self.read(&format!("{name}{}", encoding::Encoding::Gzip.suffix()))?;
        let mut body = Vec::new();
        GzDecoder::new(&*packed).read_to_end(&mut body).ok()?;
        Some(Cow::Owned(body))
    }

    fn read(&self, name: &str) -> Option<Cow<'static, [u8]>> {
        let Some(folder) = &self.folder else {
            let at = FILES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
            return FILES.get(at).map(|(_, body)| Cow::Borrowed(*body));
        };
        let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_below {
            return None;
        }
        fs::read(folder.join(name)).ok().map(Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(FILES.is_sorted_by(|(a, _), (b, _)| a < b));
    }

    #[test]
    fn a_folder_is_read_but_not_left() {
        let root = std::env::temp_dir().join(format!("mainspring-console-{}", std::process::id()));
        let folder = root.join("dist");
        fs::create_dir_all(folder.join("assets")).unwrap();
        fs::write(root.join("secret.js"), "secret").unwrap();
        fs::write(folder.join("assets/a.js"), "plain").unwrap();
        fs::write(folder.join("assets/a.js.br"), "brotli").unwrap();
        fs::write(folder.join("index.html"), "<base href=\"/\" /><meta nonce=\"\" />").unwrap();
        let console = Console::from_folder(&folder);

        let file = console.file("assets/a.js", "gzip, br;q=0.9").unwrap();
        assert_eq!((file.encoding, &*file.body), (Some("br"), &b"brotli"[..]));
        assert!(file.is_immutable && file.media_type.starts_with("text/javascript"));
        let file = console.file("assets/a.js", "br;q=0").unwrap();
        assert_eq!((file.encoding, &*file.body), (None, &b"plain"[..]));
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(b"only packed").unwrap();
        fs::write(folder.join("assets/c.js.gz"), packed.finish().unwrap()).unwrap();
        let file = console.file("assets/c.js", "br").unwrap();
        assert_eq!((file.encoding, &*file.body), (None, &b"only packed"[..]));
        for name in [
            "../secret.js",
            "assets/../../secret.js",
            "/etc/passwd",
            "assets/b.js",
            "index.html",
            "assets/a.js.br",
        ] {
            assert!(console.file(name, "").is_none(), "{name}");
        }
        let page = console.page("/ops", "n0nce").unwrap();
        assert_eq!(page, "<base href=\"/ops/\" /><meta nonce=\"n0nce\" />");
        fs::remove_dir_all(root).unwrap();
    }
}
