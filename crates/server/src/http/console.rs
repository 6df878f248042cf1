//! The web console as static files: one page for all of its URLs, and the hashed files that the page loads.
//!
//! What is absent: an API of its own. The console uses the public one. Invariant: a path of the API is never answered with the
//! page, and scripts come from this server alone.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::{Html, IntoResponse, Response};
use mainspring_console::File;

use super::edge::Edge;
use super::front;

/// A proxy that serves us below a path, which it takes off, says so here.
const PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");
const PREFIX_CHARS_MAX: usize = 128;
/// What is kept of paths that are not the console's.
const API: [&str; 6] = ["v1", "openapi.json", "docs", "healthz", "readyz", "mainspring.v1.AgentService"];

/// The page at `/`: the console, or the page of login links in a binary without it.
pub(crate) async fn page(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response {
    match open(&edge, &headers) {
        Some(response) => response,
        None => front::page(State(edge), headers).await,
    }
}

/// Whatever no route knows: a file of the console, or its page when a browser navigates. Nothing for all else.
pub(crate) fn other(edge: &Edge, request: &Request) -> Option<Response> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let path = request.uri().path().trim_start_matches('/');
    if API.contains(&path.split('/').next().unwrap_or_default()) {
        return None;
    }
    let headers = request.headers();
    if let Some(file) = edge.console.file(path, text(headers, &header::ACCEPT_ENCODING)) {
        return Some(send(file));
    }
    let is_navigation = text(headers, &header::ACCEPT).contains("text/html");
    // A script of an older build must not be answered with a page.
    (is_navigation && !path.starts_with("assets/")).then(|| open(edge, headers)).flatten()
}

fn open(edge: &Edge, headers: &HeaderMap) -> Option<Response> {
    let mut nonce = String::with_capacity(32);
    for _ in 0..2 {
        // Writing to a string does not fail.
        let _ = write!(nonce, "{:016x}", edge.app.random().request_id());
    }
    let page = edge.console.page(prefix(text(headers, &PREFIX)), &nonce)?;
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; img-src 'self' data:; \
         font-src 'self'; worker-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = Html(page).into_response();
    let headers = response.headers_mut();
    headers
        .extend(HeaderValue::try_from(policy).ok().map(|policy| (header::CONTENT_SECURITY_POLICY, policy)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Some(response)
}

fn send(file: File) -> Response {
    let cache = if file.is_immutable { "public, max-age=31536000, immutable" } else { "public, max-age=300" };
    let mut response = file.body.into_owned().into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.extend(file.encoding.map(|name| (header::CONTENT_ENCODING, HeaderValue::from_static(name))));
    response
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The prefix without a slash at its end; none when it could be anything but a plain path of this host.
fn prefix(said: &str) -> &str {
    let path = said.trim_end_matches('/');
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
    };
    let is_path = path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_plain));
    if is_path && path.len() <= PREFIX_CHARS_MAX { path } else { "" }
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn only_a_plain_path_is_a_prefix() {
        for (said, expected) in [
            ("", ""),
            ("/", ""),
            ("/ops", "/ops"),
            ("/ops/mainspring/", "/ops/mainspring"),
            ("//evil.example", ""),
            ("ops", ""),
            ("/a\"><script>", ""),
            ("https://evil.example", ""),
        ] {
            assert_eq!(prefix(said), expected, "{said}");
        }
    }
}
