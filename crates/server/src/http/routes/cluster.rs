//! Schedulers and cells, what is wrong with them, and whether this process lives and is ready.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::Operation;
use mainspring_wire::api::{Cell, Cluster, Doctor, Health, PauseCell, Readiness, Settings};

use crate::http::answer::{Answer, json, ok, tagged};
use crate::http::body::OptionalJson;
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{NoQuery, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/cluster", Operation::ClusterGet, cluster).answers::<Cluster>(200, "The cluster."),
        Route::get("/v1/settings", Operation::SettingsGet, settings)
            .answers::<Settings>(200, "The settings in force of the server that answers."),
        Route::post("/v1/cells/{cell}/pause", Operation::CellPause, pause)
            .conditional()
            .optional_body::<PauseCell>()
            .answers::<Cell>(200, "The cell."),
        Route::post("/v1/cells/{cell}/resume", Operation::CellResume, resume)
            .conditional()
            .optional_body::<PauseCell>()
            .answers::<Cell>(200, "The cell."),
        Route::get("/v1/doctor", Operation::Doctor, doctor).answers::<Doctor>(200, "What was found."),
        Route::get("/healthz", Operation::Health, health).answers::<Health>(200, "It lives."),
        Route::get("/readyz", Operation::Ready, ready)
            .answers::<Readiness>(200, "It takes requests.")
            .answers::<Readiness>(503, "It does not yet."),
    ]
}

type Context = State<Arc<Edge>>;

async fn cluster(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    ok(&edge.app.cluster(&caller).await?)
}

async fn pause(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<PauseCell>,
) -> Answer {
    let (cell, condition) = (path.read("cell")?, condition(&headers)?);
    let cell = edge.app.pause_cell(&caller, cell, request.note, true, condition).await?;
    tagged(StatusCode::OK, &cell, cell.revision)
}

async fn resume(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<PauseCell>,
) -> Answer {
    let (cell, condition) = (path.read("cell")?, condition(&headers)?);
    let cell = edge.app.pause_cell(&caller, cell, request.note, false, condition).await?;
    tagged(StatusCode::OK, &cell, cell.revision)
}

async fn doctor(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    ok(&edge.app.doctor(&caller).await?)
}

async fn health() -> Answer {
    ok(&Health { status: "ok".into() })
}

async fn ready(State(edge): Context) -> Answer {
    let waits_for = (edge.readiness)().await;
    let ready = waits_for.is_empty();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json(status, &Readiness { ready, waits_for })
}

async fn settings(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    edge.app.may_read_settings(&caller).await?;
    ok(&edge.settings)
}
