//! `ETag`, `If-Match` and `If-None-Match`: a tag is a revision in quotes.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use mainspring_app::Precondition;

use super::failure::Failure;

/// The tag of a revision.
pub(crate) fn of(revision: u64) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("\"{revision}\"")).ok()
}

/// Whether the caller says that it has this revision.
pub(crate) fn is_known(headers: &HeaderMap, revision: u64) -> bool {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    known.is_some_and(|tags| {
        tags.split(',').map(|tag| tag.trim().trim_start_matches("W/")).any(|tag| parse(tag) == Some(revision))
    })
}

/// What must hold before a change.
pub(crate) fn condition(headers: &HeaderMap) -> Result<Precondition, Failure> {
    let text = |name: HeaderName| match headers.get(&name) {
        Some(value) => match value.to_str() {
            Ok(text) => Ok(Some(text.trim())),
            Err(_) => Err(Failure::field(name.as_str(), "is not text")),
        },
        None => Ok(None),
    };
    match (text(header::IF_MATCH)?, text(header::IF_NONE_MATCH)?) {
        (None, None) => Ok(Precondition::None),
        (Some("*"), None) => Ok(Precondition::Exists),
        (None, Some("*")) => Ok(Precondition::Absent),
        (Some(tag), None) => parse(tag)
            .map(Precondition::Revision)
            .ok_or_else(|| Failure::field("if-match", "is not a tag such as `\"7\"`")),
        _ => Err(Failure::field(
            "if-none-match",
            "only `*` makes sense with a change, and not beside `If-Match`",
        )),
    }
}

fn parse(tag: &str) -> Option<u64> {
    tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: HeaderName, value: &'static str, expected: Option<Precondition>) {
        let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
        assert_eq!(condition(&headers).ok(), expected, "{value}");
    }

    #[test]
    fn tags_are_revisions_in_quotes() {
        check(header::IF_MATCH, "\"7\"", Some(Precondition::Revision(7)));
        check(header::IF_MATCH, "*", Some(Precondition::Exists));
        check(header::IF_MATCH, "7", None);
        check(header::IF_NONE_MATCH, "*", Some(Precondition::Absent));
        check(header::IF_NONE_MATCH, "\"7\"", None);
        assert_eq!(condition(&HeaderMap::new()).ok(), Some(Precondition::None));
        let known =
            HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static("\"3\", W/\"7\""))]);
        assert!(is_known(&known, 7) && is_known(&known, 3) && !is_known(&known, 4));
    }
}
