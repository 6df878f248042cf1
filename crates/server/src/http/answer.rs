//! Answers: JSON, with a tag where the thing changes.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{BufMut, BytesMut};
use mainspring_model::ErrorCode;
use serde::Serialize;
use serde_json::Value;

use super::failure::Failure;
use super::tag;

/// What handlers answer.
pub(crate) type Answer = Result<Response, Failure>;

/// The value.
pub(crate) fn ok<T: Serialize>(value: &T) -> Answer {
    json(StatusCode::OK, value)
}

/// The value with a status code.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> Answer {
    let mut body = BytesMut::with_capacity(256).writer();
    serde_json::to_writer(&mut body, value).map_err(|error| {
        tracing::error!(%error, "an answer cannot be written");
        Failure::new(ErrorCode::Internal, "the answer cannot be written")
    })?;
    let mut response = (status, body.into_inner().freeze()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// The value with its revision as a tag.
pub(crate) fn tagged<T: Serialize>(status: StatusCode, value: &T, revision: u64) -> Answer {
    let mut response = json(status, value)?;
    response.headers_mut().extend(tag::of(revision).map(|tag| (header::ETAG, tag)));
    Ok(response)
}

/// The value with its tag, unless the caller has it already.
pub(crate) fn unless_known<T: Serialize>(headers: &HeaderMap, value: &T, revision: u64) -> Answer {
    if tag::is_known(headers, revision) {
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        response.headers_mut().extend(tag::of(revision).map(|tag| (header::ETAG, tag)));
        return Ok(response);
    }
    tagged(StatusCode::OK, value, revision)
}

/// The same with the address of what was made.
pub(crate) fn located(answer: Answer, path: &str) -> Answer {
    let mut response = answer?;
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    Ok(response)
}

/// An answer apart from its JSON; one that has none comes back as an error.
pub(crate) async fn split_json(response: Response, bytes_max: usize) -> Result<(HeaderMap, Value), Response> {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if response.status() != StatusCode::OK || kind.is_none_or(|kind| kind != "application/json") {
        return Err(response);
    }
    let (parts, body) = response.into_parts();
    let broken = || Failure::new(ErrorCode::Internal, "an answer cannot be read").into_response();
    let bytes = axum::body::to_bytes(body, bytes_max).await.map_err(|_| broken())?;
    let value = serde_json::from_slice(&bytes).map_err(|_| broken())?;
    Ok((parts.headers, value))
}

/// Both together again.
pub(crate) fn join_json(mut headers: HeaderMap, value: &Value) -> Response {
    headers.remove(header::CONTENT_LENGTH);
    let mut response = json(StatusCode::OK, value).unwrap_or_else(Failure::into_response);
    headers.remove(header::CONTENT_TYPE);
    response.headers_mut().extend(headers);
    response
}

/// Nothing to say.
pub(crate) fn empty() -> Answer {
    Ok(StatusCode::NO_CONTENT.into_response())
}
