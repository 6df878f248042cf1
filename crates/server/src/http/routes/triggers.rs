//! Triggers of jobs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::{Moments, NamedTrigger, Operation, PageRequest};
use mainspring_model::Namespace;
use mainspring_wire::api::{
    self, CursorRequest, HookToken, HookTokenRequest, LoadRequest, NoteRequest, OccurrenceOutcome,
    PreviewRequest, Time,
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, empty, json, located, ok, tagged, unless_known};
use crate::http::body::{Json, OptionalJson};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{InNamespace, ListQuery, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

const ONE: &str = "/v1/jobs/{job}/triggers/{trigger}";
const TOKEN: &str = "/v1/jobs/{job}/triggers/{trigger}/token";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/triggers", Operation::TriggerList, list)
            .query::<ListQuery>()
            .answers_page::<api::Trigger>("Triggers, by job."),
        Route::get("/v1/occurrences", Operation::OccurrenceList, occurrences)
            .query::<OccurrencesQuery>()
            .answers::<api::Occurrences>(200, "What became of planned moments, the newest first."),
        Route::get("/v1/occurrences/counts", Operation::OccurrenceCount, occurrence_counts)
            .query::<OccurrenceCountsQuery>()
            .answers::<api::OccurrenceCounts>(200, "How many planned moments became what."),
        Route::get("/v1/triggers/preview", Operation::TriggerPreview, preview)
            .query::<PreviewRequest>()
            .answers::<api::Preview>(200, "When it would fire."),
        Route::get("/v1/triggers/load", Operation::TriggerLoad, load)
            .query::<LoadRequest>()
            .answers::<api::LoadReport>(200, "What is planned, by hour and pool."),
        Route::get("/v1/jobs/{job}/triggers", Operation::JobTriggers, of_job)
            .query::<InNamespace>()
            .answers_page::<api::Trigger>("The triggers of the job."),
        Route::get(ONE, Operation::TriggerGet, get)
            .query::<InNamespace>()
            .answers::<api::Trigger>(200, "The trigger."),
        Route::get("/v1/jobs/{job}/triggers/{trigger}/history", Operation::TriggerHistory, history)
            .query::<HistoryQuery>()
            .answers_page::<api::Occurrence>("What became of its planned moments, the newest first."),
        Route::post("/v1/jobs/{job}/triggers/{trigger}/pause", Operation::TriggerPause, pause)
            .query::<InNamespace>()
            .conditional()
            .optional_body::<NoteRequest>()
            .answers::<api::Trigger>(200, "The trigger."),
        Route::post("/v1/jobs/{job}/triggers/{trigger}/resume", Operation::TriggerResume, resume)
            .query::<InNamespace>()
            .conditional()
            .optional_body::<NoteRequest>()
            .answers::<api::Trigger>(200, "The trigger."),
        Route::put("/v1/jobs/{job}/triggers/{trigger}/cursor", Operation::TriggerCursor, cursor)
            .query::<InNamespace>()
            .conditional()
            .body::<CursorRequest>()
            .answers::<api::Trigger>(200, "The trigger."),
        Route::post("/v1/jobs/{job}/triggers/{trigger}/fire", Operation::TriggerFire, fire)
            .query::<InNamespace>()
            .answers::<api::Submitted>(201, "The run that was made."),
        Route::post(TOKEN, Operation::TriggerToken, make_token)
            .query::<InNamespace>()
            .conditional()
            .optional_body::<HookTokenRequest>()
            .answers::<HookToken>(201, "The token; it is shown once."),
        Route::delete(TOKEN, Operation::TriggerRevoke, revoke_token)
            .query::<InNamespace>()
            .conditional()
            .answers_raw(204, "The token is void.", None),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct HistoryQuery {
    /// Where the job lives; `default` when nothing is said.
    namespace: Option<Namespace>,
    /// Moments planned at or after.
    #[param(value_type = Option<String>, format = "date-time")]
    from: Option<Time>,
    /// Moments planned before.
    #[param(value_type = Option<String>, format = "date-time")]
    until: Option<Time>,
    /// What became of them. Then a page may have fewer items, or none, although more follow.
    #[param(inline)]
    outcome: Option<OccurrenceOutcome>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Where the last page ended.
    cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OccurrencesQuery {
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
    /// Moments planned at or after.
    #[param(value_type = Option<String>, format = "date-time")]
    from: Option<Time>,
    /// Moments planned before.
    #[param(value_type = Option<String>, format = "date-time")]
    until: Option<Time>,
    /// What became of them. Then a page may have fewer items, or none, although more follow.
    #[param(inline)]
    outcome: Option<OccurrenceOutcome>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Where the last page ended.
    cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OccurrenceCountsQuery {
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
    /// Moments planned at or after.
    #[param(value_type = Option<String>, format = "date-time")]
    from: Option<Time>,
    /// Moments planned before.
    #[param(value_type = Option<String>, format = "date-time")]
    until: Option<Time>,
    /// Fired more than so many milliseconds after its moment is late; without it, a minute.
    late_ms: Option<u32>,
}

type Context = State<Arc<Edge>>;

pub(super) fn named<'a>(path: &'a PathParts, namespace: &'a Namespace) -> NamedTrigger<'a> {
    NamedTrigger { namespace, job: path.text("job"), trigger: path.text("trigger") }
}

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<ListQuery>) -> Answer {
    ok(&edge.app.list_triggers(&caller, query.namespace.as_ref(), &query.page()).await?)
}

async fn preview(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(request): Query<PreviewRequest>,
) -> Answer {
    ok(&edge.app.preview_trigger(&caller, request).await?)
}

async fn load(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(request): Query<LoadRequest>,
) -> Answer {
    ok(&edge.app.trigger_load(&caller, request).await?)
}

async fn of_job(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
) -> Answer {
    ok(&edge.app.list_job_triggers(&caller, &query.or_default(), path.text("job")).await?)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    let namespace = query.or_default();
    let trigger = edge.app.trigger(&caller, &namespace, path.text("job"), path.text("trigger")).await?;
    unless_known(&headers, &trigger, trigger.revision)
}

async fn history(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<HistoryQuery>,
) -> Answer {
    let page = PageRequest { limit: query.limit, cursor: query.cursor };
    let namespace = query.namespace.unwrap_or_default();
    let named = (path.text("job"), path.text("trigger"));
    let moments = moments(query.from, query.until, query.outcome);
    ok(&edge.app.trigger_history(&caller, &namespace, named, &moments, &page).await?)
}

fn moments(from: Option<Time>, until: Option<Time>, outcome: Option<OccurrenceOutcome>) -> Moments {
    Moments { from: from.map(|at| at.0), until: until.map(|at| at.0), outcome }
}

async fn occurrences(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(query): Query<OccurrencesQuery>,
) -> Answer {
    let page = PageRequest { limit: query.limit, cursor: query.cursor };
    let moments = moments(query.from, query.until, query.outcome);
    ok(&edge.app.list_occurrences(&caller, query.namespace.as_ref(), &moments, &page).await?)
}

async fn occurrence_counts(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(query): Query<OccurrenceCountsQuery>,
) -> Answer {
    let moments = moments(query.from, query.until, None);
    ok(&edge
        .app
        .count_occurrences(&caller, query.namespace.as_ref(), &moments, query.late_ms.map(u64::from))
        .await?)
}

async fn pause(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<NoteRequest>,
) -> Answer {
    let namespace = query.or_default();
    let named = named(&path, &namespace);
    let trigger = edge.app.pause_trigger(&caller, named, request.note, condition(&headers)?).await?;
    tagged(StatusCode::OK, &trigger, trigger.revision)
}

async fn resume(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<NoteRequest>,
) -> Answer {
    let namespace = query.or_default();
    let named = named(&path, &namespace);
    let trigger = edge.app.resume_trigger(&caller, named, request.note, condition(&headers)?).await?;
    tagged(StatusCode::OK, &trigger, trigger.revision)
}

async fn cursor(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
    Json(request): Json<CursorRequest>,
) -> Answer {
    let namespace = query.or_default();
    let named = named(&path, &namespace);
    let trigger = edge.app.move_trigger(&caller, named, request, condition(&headers)?).await?;
    tagged(StatusCode::OK, &trigger, trigger.revision)
}

async fn fire(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
) -> Answer {
    let namespace = query.or_default();
    let submitted = edge.app.fire_trigger(&caller, named(&path, &namespace)).await?;
    located(json(StatusCode::CREATED, &submitted), &format!("/v1/runs/{}", submitted.id))
}

async fn make_token(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<HookTokenRequest>,
) -> Answer {
    let (namespace, condition) = (query.or_default(), condition(&headers)?);
    let (made, revision) =
        edge.app.create_hook_token(&caller, named(&path, &namespace), request, condition).await?;
    tagged(StatusCode::CREATED, &made, revision)
}

async fn revoke_token(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    let (namespace, condition) = (query.or_default(), condition(&headers)?);
    edge.app.revoke_hook_token(&caller, named(&path, &namespace), condition).await?;
    empty()
}
