//! Whether a request that came with a cookie comes from our own pages. Browsers send cookies along with requests that other
//! sites make; `SameSite=Strict` keeps most of those away, this check the rest.

use axum::http::{HeaderMap, Uri, header};

/// Whether the browser says that the page that asks is of the origin that is asked. Without a word of it: no. HTTP/2 names
/// the host in the request's target.
pub(crate) fn is_same(headers: &HeaderMap, target: &Uri) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(origin) = text(header::ORIGIN.as_str()) {
        let host = text(header::HOST.as_str()).or_else(|| target.authority().map(|host| host.as_str()));
        let asked = origin.split_once("://").map(|(_, authority)| authority);
        return asked.is_some() && asked == host;
    }
    text("sec-fetch-site") == Some("same-origin")
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn check(headers: &[(&'static str, &'static str)], same: bool) {
        let map = headers.iter().map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)));
        assert_eq!(is_same(&map.collect(), &Uri::from_static("/v1/runs")), same, "{headers:?}");
    }

    #[test]
    fn a_host_in_the_target_is_as_good() {
        let origin = |origin| HeaderMap::from_iter([(header::ORIGIN, HeaderValue::from_static(origin))]);
        let target = Uri::from_static("https://a:1/v1/runs");
        assert!(is_same(&origin("https://a:1"), &target));
        assert!(!is_same(&origin("https://b:1"), &target));
    }

    #[test]
    fn only_our_own_pages() {
        check(&[("host", "a:1"), ("origin", "http://a:1")], true);
        check(&[("host", "a:1"), ("origin", "https://a:2")], false);
        check(&[("host", "a:1"), ("origin", "null")], false);
        check(&[("host", "a:1"), ("origin", "http://evil.example")], false);
        check(&[("host", "a:1"), ("sec-fetch-site", "same-origin")], true);
        check(&[("host", "a:1"), ("sec-fetch-site", "cross-site")], false);
        check(&[("host", "a:1")], false);
    }
}
