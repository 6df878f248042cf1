//! Waiting for a store that is away when the server starts.
//!
//! A database may start later than its servers, or be failing over. Meanwhile the server listens and says what it waits for:
//! `/healthz` is good, `/readyz` and everything else is `503`. What waiting does not change (a wrong password, a database that
//! does not exist, a URL that cannot be read) ends it at once.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use mainspring_model::ErrorCode;
use mainspring_store::{Result, Store};
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::http::problem;
use crate::listener::Listener;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Opens the store, as soon as it is there.
pub(crate) async fn open(url: &str, listener: &Listener) -> Result<Arc<dyn Store>> {
    let error = match open_now(url).await {
        Err(error) if error.is_transient() => error,
        answer => return answer,
    };
    warn!(cause = error.source(), %error, "the store is away; the server waits for it");
    let there = CancellationToken::new();
    let (store, ()) = tokio::join!(
        async {
            let store = until_there(url).await;
            there.cancel();
            store
        },
        listener.serve(routes(), there.clone())
    );
    store
}

async fn until_there(url: &str) -> Result<Arc<dyn Store>> {
    let mut pause = FIRST_PAUSE;
    loop {
        sleep(pause).await;
        match open_now(url).await {
            Err(error) if error.is_transient() => {
                pause = (pause * 2).min(PAUSE_MAX);
                if pause == PAUSE_MAX {
                    warn!(cause = error.source(), %error, "the store is still away; the server waits for it");
                }
            }
            Ok(store) => {
                info!("the store is there");
                return Ok(store);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Opens the store once, and brings it up to date.
pub(crate) async fn open_now(url: &str) -> Result<Arc<dyn Store>> {
    let store = crate::server::stores().open(url).await?;
    for step in store.migrate().await? {
        info!(step = step.number, name = %step.name, "the store was brought up to date");
    }
    Ok(store)
}

/// What a server answers that waits.
fn routes() -> Router {
    Router::new()
        .route("/healthz", get(async || (StatusCode::OK, axum::Json(json!({ "status": "ok" })))))
        .route("/readyz", get(not_ready))
        .fallback(away)
}

async fn not_ready() -> Response {
    let body = axum::Json(json!({ "ready": false, "waits_for": ["store"] }));
    (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
}

/// A caller of gRPC reads no problems: it is told in its own words (14 is "unavailable").
async fn away(request: axum::extract::Request) -> Response {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if kind.is_some_and(|kind| kind.starts_with("application/grpc")) {
        return ([(header::CONTENT_TYPE, "application/grpc")], [("grpc-status", "14")]).into_response();
    }
    problem(ErrorCode::StoreUnavailable, "the server starts and waits for its store", request.uri().path())
}
