//! Waiting for a store that is away when the server starts.
//!
//! A database may start later than its servers, or be failing over. Meanwhile the server listens and says what it waits for:
//! `/healthz` is good, `/readyz` and everything else is `503`. What waiting does not change (a wrong password, a database that
//! does not exist, a URL that cannot be read) ends it at once.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use mainspring_app::{App, Bootstrap, cell_count, residents};
use mainspring_model::{ErrorCode, NodeId};
use mainspring_store::{Result, Store};
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::clock::Clock;
use crate::http::problem;
use crate::listener::Listener;
use crate::options::Options;
use crate::server::is_shared;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// A store that was there, and what a server reads of it before it serves.
pub(crate) struct OpenedStore {
    pub(crate) store: Arc<dyn Store>,
    /// The number of cells that it was made with.
    pub(crate) cells: u16,
    pub(crate) clock: Clock,
    /// Nodes that are waited for longer than others.
    pub(crate) patience: BTreeMap<NodeId, Duration>,
}

impl OpenedStore {
    /// Opens the store of these options, and brings it up to date.
    pub(crate) async fn open(options: &Options) -> Result<Self> {
        Self::read(options, open_now(&options.store).await?).await
    }

    /// The same of a store that is open.
    pub(crate) async fn read(options: &Options, store: Arc<dyn Store>) -> Result<Self> {
        let cells = cell_count(&*store, options.cells).await?;
        let clock = Clock::of_store(&*store).await?;
        let patience = match is_shared(&options.store) {
            true => BTreeMap::new(),
            false => residents(&*store, options.resident).await?,
        };
        Ok(Self { store, cells, clock, patience })
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

/// Does what needs the store, as soon as that is there. It may go away on the way: then all of it is done again.
pub(crate) async fn until_done<T>(listener: &Listener, attempt: impl AsyncFn() -> Result<T>) -> Result<T> {
    let error = match attempt().await {
        Err(error) if error.is_transient() => error,
        answer => return answer,
    };
    warn!(cause = error.source(), %error, "the store is away; the server waits for it");
    let there = CancellationToken::new();
    let (done, ()) = tokio::join!(
        async {
            let done = again_and_again(attempt).await;
            there.cancel();
            done
        },
        listener.serve(routes(), there.clone())
    );
    done
}

async fn again_and_again<T>(attempt: impl AsyncFn() -> Result<T>) -> Result<T> {
    let mut pause = FIRST_PAUSE;
    loop {
        sleep(pause).await;
        match attempt().await {
            Err(error) if error.is_transient() => {
                pause = (pause * 2).min(PAUSE_MAX);
                if pause == PAUSE_MAX {
                    warn!(cause = error.source(), %error, "the store is still away; the server waits for it");
                }
            }
            Ok(done) => {
                info!("the store is there");
                return Ok(done);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Makes the first admin, if nobody is admin everywhere, as soon as the store is there.
pub(crate) async fn bootstrap(app: &App) -> mainspring_app::Result<Option<Bootstrap>> {
    let mut pause = FIRST_PAUSE;
    loop {
        match app.bootstrap().await {
            Err(error) if error.code == ErrorCode::StoreUnavailable => {
                warn!(%error, "the store is away; the server waits for it");
                sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
            answer => return answer,
        }
    }
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
