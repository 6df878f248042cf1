//! Runs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::{Operation, PageRequest};
use mainspring_model::{JobSpec, Namespace, RunId};
use mainspring_wire::api::{self, CancelRequest, Page, PriorityRequest, RunCounts, RunOrder, RunPage};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, ok, tagged, unless_known};
use crate::http::body::{Json, OptionalJson};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{NoQuery, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/runs", Operation::RunList, list)
            .query::<RunsQuery>()
            .answers::<RunPage>(200, "Runs, newest first unless asked for the other way."),
        Route::get("/v1/runs/counts", Operation::RunCounts, counts)
            .query::<CountsQuery>()
            .answers::<RunCounts>(200, "How many runs the query finds, by state and namespace."),
        Route::get("/v1/runs/{run}", Operation::RunGet, get).answers::<api::Run>(200, "The run."),
        Route::get("/v1/runs/{run}/spec", Operation::RunSpec, spec)
            .answers::<JobSpec>(200, "The specification that it pins."),
        Route::get("/v1/runs/{run}/attempts", Operation::RunAttempts, attempts)
            .answers_page::<api::Attempt>("Its attempts, the first first."),
        Route::get("/v1/runs/{run}/timeline", Operation::RunTimeline, timeline)
            .answers_page::<api::TimelineEntry>("What happened to it, in order."),
        Route::get("/v1/runs/{run}/why", Operation::RunWhy, why)
            .answers::<api::Why>(200, "Why it is where it is."),
        Route::post("/v1/runs/{run}/cancel", Operation::RunCancel, cancel)
            .conditional()
            .optional_body::<CancelRequest>()
            .answers::<api::Run>(202, "It ends, or has ended."),
        Route::post("/v1/runs/{run}/retry", Operation::RunRetry, retry)
            .conditional()
            .answers::<api::Run>(202, "It is queued again."),
        Route::post("/v1/runs/{run}/priority", Operation::RunPrioritise, prioritise)
            .conditional()
            .body::<PriorityRequest>()
            .answers::<api::Run>(202, "It has the priority, and if it waits a new turn."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RunsQuery {
    /// Which runs: `state:failed job:etl label:team=data cause:exit created>-24h`.
    #[serde(default)]
    q: String,
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
    /// `-created`, the newest first, or `created`.
    #[serde(default)]
    #[param(inline)]
    order: RunOrder,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Where the last page ended, or `prev_cursor` for what comes before it.
    cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CountsQuery {
    /// Which runs; the language of `GET /v1/runs?q=`.
    #[serde(default)]
    q: String,
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
}

type Context = State<Arc<Edge>>;

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<RunsQuery>) -> Answer {
    let page = PageRequest { limit: query.limit, cursor: query.cursor };
    let namespace = query.namespace.as_ref();
    ok(&edge.app.list_runs(&caller, namespace, &query.q, query.order, &page).await?)
}

async fn counts(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(query): Query<CountsQuery>,
) -> Answer {
    ok(&edge.app.count_runs(&caller, query.namespace.as_ref(), &query.q).await?)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
) -> Answer {
    let run = edge.app.run(&caller, path.read("run")?).await?;
    match run.state.is_terminal() {
        true => unless_known(&headers, &run, run.version),
        // Its progress and why it waits change without the row.
        false => tagged(StatusCode::OK, &run, run.version),
    }
}

async fn spec(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    ok(&edge.app.run_spec(&caller, path.read("run")?).await?)
}

async fn attempts(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    ok(&Page::whole(edge.app.attempts(&caller, path.read("run")?).await?))
}

async fn timeline(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    ok(&Page::whole(edge.app.timeline(&caller, path.read("run")?).await?))
}

async fn why(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    ok(&edge.app.why(&caller, path.read("run")?).await?)
}

async fn cancel(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<CancelRequest>,
) -> Answer {
    let run: RunId = path.read("run")?;
    let run = edge.app.cancel(&caller, run, request.kill, condition(&headers)?).await?;
    tagged(StatusCode::ACCEPTED, &run, run.version)
}

async fn prioritise(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
    Json(request): Json<PriorityRequest>,
) -> Answer {
    let run: RunId = path.read("run")?;
    let run = edge.app.prioritise(&caller, run, &request, condition(&headers)?).await?;
    tagged(StatusCode::ACCEPTED, &run, run.version)
}

async fn retry(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
) -> Answer {
    let run = edge.app.retry(&caller, path.read("run")?, condition(&headers)?).await?;
    tagged(StatusCode::ACCEPTED, &run, run.version)
}
