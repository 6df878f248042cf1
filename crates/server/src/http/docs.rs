//! The page at `/docs`: one file without anything from elsewhere, which reads `/openapi.json` and shows it.

/// The page.
pub(crate) const PAGE: &str = include_str!("docs.html");
/// Nothing is loaded but from here.
pub(crate) const POLICY: &str =
    "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
