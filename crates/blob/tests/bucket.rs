//! A small S3: signed requests only, objects in memory, on a real socket.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use mainspring_blob::Credentials;
use tokio::net::TcpListener;

type Objects = Arc<Mutex<BTreeMap<String, Bytes>>>;

/// The server, and what is in it.
pub(crate) struct Bucket {
    pub(crate) objects: Objects,
    address: String,
}

/// What its requests must be signed with.
pub(crate) fn credentials() -> Credentials {
    Credentials { access_key_id: "test-key".into(), secret_access_key: "test-secret".into() }
}

impl Bucket {
    pub(crate) async fn start() -> Self {
        let objects = Objects::default();
        let router = Router::new().fallback(serve).with_state(Arc::clone(&objects));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { objects, address }
    }

    /// The URL of something in the bucket.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("s3://things/{path}?endpoint=http://{}&region=eu-test-1", self.address)
    }
}

async fn serve(
    State(objects): State<Objects>,
    method: Method,
    uri: axum::http::Uri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let signed = headers.get("authorization").and_then(|value| value.to_str().ok());
    if !signed.is_some_and(|value| {
        value.starts_with("AWS4-HMAC-SHA256 Credential=test-key/")
            && value.contains("/eu-test-1/s3/aws4_request")
    }) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let Some(key) = uri.path().strip_prefix("/things").map(|key| key.trim_start_matches('/').to_owned())
    else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let query = query.unwrap_or_default();
    let mut objects = objects.lock().unwrap();
    match method {
        Method::GET if query.contains("list-type=2") => list(&objects, &query),
        Method::PUT => {
            let content = match headers.get("x-amz-copy-source") {
                Some(source) => {
                    let source =
                        source.to_str().unwrap().trim_start_matches('/').trim_start_matches("things/");
                    objects[source].clone()
                }
                None => body,
            };
            let copied = headers.contains_key("x-amz-copy-source");
            objects.insert(key, content);
            let answer = if copied { "<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>" } else { "" };
            ([("etag", "\"1\"")], answer).into_response()
        }
        Method::DELETE => {
            objects.remove(&key);
            StatusCode::NO_CONTENT.into_response()
        }
        Method::GET | Method::HEAD => match objects.get(&key) {
            None => StatusCode::NOT_FOUND.into_response(),
            Some(content) => read(content, &headers),
        },
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

fn read(content: &Bytes, headers: &HeaderMap) -> Response {
    let range =
        headers.get("range").and_then(|value| value.to_str().ok()?.strip_prefix("bytes=")?.split_once('-'));
    let etag = ("etag", "\"1\"".to_owned());
    match range {
        Some((from, to)) => {
            let from: usize = from.parse().unwrap();
            let to = to.parse::<usize>().map_or(content.len(), |to| content.len().min(to + 1));
            let said = format!("bytes {from}-{}/{}", to - 1, content.len());
            (StatusCode::PARTIAL_CONTENT, [("content-range", said), etag], content.slice(from..to))
                .into_response()
        }
        None => ([etag], content.clone()).into_response(),
    }
}

fn list(objects: &BTreeMap<String, Bytes>, query: &str) -> Response {
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default();
    let prefix = prefix.replace("%2F", "/");
    let contents: String = objects
        .iter()
        .filter(|(key, _)| key.starts_with(&prefix))
        .map(|(key, content)| {
            format!(
                "<Contents><Key>{key}</Key><Size>{}</Size><ETag>\"1\"</ETag>\
                 <LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>",
                content.len()
            )
        })
        .collect();
    format!("<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>").into_response()
}
