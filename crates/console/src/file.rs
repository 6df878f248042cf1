//! A static file with what its answer says about it.

use std::borrow::Cow;

/// A file of the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// `Content-Type`.
    pub media_type: &'static str,
    /// `Content-Encoding`.
    pub encoding: Option<&'static str>,
    /// Its bytes.
    pub body: Cow<'static, [u8]>,
    /// Whether its name changes whenever its content does.
    pub is_immutable: bool,
}

const MEDIA_TYPES: &[(&str, &str)] = &[
    ("css", "text/css; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
];

impl File {
    pub(crate) fn new(name: &str, encoding: Option<&'static str>, body: Cow<'static, [u8]>) -> Self {
        let media_type = media_type(name).unwrap_or("application/octet-stream");
        Self { media_type, encoding, body, is_immutable: name.starts_with("assets/") }
    }
}

/// Whether a file of this name is for browsers: neither the page nor a prepared encoding is, under its own name.
pub(crate) fn is_servable(name: &str) -> bool {
    media_type(name).is_some()
}

fn media_type(name: &str) -> Option<&'static str> {
    let (_, end) = name.rsplit_once('.')?;
    MEDIA_TYPES.iter().find(|(known, _)| *known == end).map(|(_, media_type)| *media_type)
}
