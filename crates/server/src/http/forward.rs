//! Passing a request on to the server that owns its cell, for callers who follow no redirection: those of webhooks.
//!
//! It is passed on once. The owner checks it as if it had come there, and what it answers is the answer.

use std::sync::LazyLock;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use mainspring_model::ErrorCode;

use super::answer::Answer;
use super::failure::Failure;

/// Says that a request was passed on already.
pub(super) const FORWARDED: HeaderName = HeaderName::from_static("x-mainspring-forwarded");
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A little longer than an owner waits for its store.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(35);
/// What belongs to one connection, or is told anew.
const LEFT_OUT: [HeaderName; 6] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::UPGRADE,
];
/// What of an answer is passed back.
const PASSED_BACK: [HeaderName; 3] = [header::CONTENT_TYPE, header::LOCATION, header::RETRY_AFTER];

static CLIENT: LazyLock<Option<reqwest::Client>> =
    LazyLock::new(|| client(|builder| builder.timeout(ANSWER_TIMEOUT)));

/// A client for other servers of the cluster.
pub(super) fn client(
    limit: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
) -> Option<reqwest::Client> {
    // Only the first call counts; there is one provider in this program.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT);
    let client = limit(builder).build();
    client.inspect_err(|error| tracing::error!(%error, "other servers cannot be asked")).ok()
}

/// Whether another server of the cluster passes it on for somebody.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(FORWARDED)
}

/// Posts the same to the owner, if that is why it failed and it was not passed on before.
pub(crate) async fn to_owner(failure: Failure, path: &str, headers: &HeaderMap, body: Bytes) -> Answer {
    let (Some(url), Some(client)) = (failure.0.elsewhere.as_deref(), CLIENT.as_ref()) else {
        return Err(failure);
    };
    if is_forwarded(headers) {
        return Err(failure);
    }
    let mut passed: HeaderMap = headers.clone();
    LEFT_OUT.iter().for_each(|name| drop(passed.remove(name)));
    passed.insert(FORWARDED, HeaderValue::from_static("1"));
    let request = client.post(format!("{}{path}", url.trim_end_matches('/'))).headers(passed).body(body);
    // The address has the token of a webhook in it.
    answer(request).await.map_err(reqwest::Error::without_url).map_err(|error| {
        tracing::warn!(%url, error = &error as &dyn std::error::Error, "a request was not passed on");
        Failure::new(ErrorCode::NotOwner, "the scheduler that owns the cell does not answer")
    })
}

async fn answer(request: reqwest::RequestBuilder) -> Result<Response<Body>, reqwest::Error> {
    let answer = request.send().await?;
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = answer.headers().clone();
    let mut response = Response::new(Body::from(answer.bytes().await?));
    *response.status_mut() = status;
    for name in PASSED_BACK {
        response.headers_mut().extend(headers.get(&name).map(|value| (name, value.clone())));
    }
    Ok(response)
}
