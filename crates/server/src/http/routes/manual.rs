//! The schema, a page to read it, and the page where login links lead.

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use bytes::Bytes;
use mainspring_app::Operation;
use serde_json::json;

use crate::http::route::Route;
use crate::http::{console, docs, openapi};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/openapi.json", Operation::Schema, schema).note(|doc| {
            doc.answers_as(200, "The schema.", &[("application/json", json!({"type": "object"}))])
        }),
        Route::get("/docs", Operation::Manual, page).answers_raw(200, "The page.", Some("text/html")),
        Route::get("/", Operation::Front, console::page).answers_raw(200, "The page.", Some("text/html")),
    ]
}

/// Made once: it never changes while the process lives.
static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| serde_json::to_vec(&openapi()).unwrap_or_default().into());

async fn schema() -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], DOCUMENT.clone()).into_response()
}

async fn page() -> Response {
    let policy = HeaderValue::from_static(docs::POLICY);
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(docs::PAGE)).into_response()
}
