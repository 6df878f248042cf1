//! Backfills of triggers.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::Operation;
use mainspring_model::Namespace;
use mainspring_wire::api::{self, BackfillPlanRequest, BackfillRequest, BackfillState};
use serde::Deserialize;
use utoipa::IntoParams;

use super::triggers::named;
use crate::http::answer::{Answer, json, ok};
use crate::http::body::Json;
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{InNamespace, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

const ALL: &str = "/v1/jobs/{job}/triggers/{trigger}/backfills";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/backfills", Operation::BackfillListAll, all)
            .query::<BackfillsQuery>()
            .answers::<api::Backfills>(200, "Backfills of all triggers, the newest first."),
        Route::get(ALL, Operation::BackfillList, list)
            .query::<InNamespace>()
            .answers_page::<api::Backfill>("Its backfills, the newest first."),
        Route::post(ALL, Operation::BackfillStart, start)
            .query::<InNamespace>()
            .conditional()
            .body::<BackfillRequest>()
            .answers::<api::Backfill>(201, "The backfill."),
        Route::get("/v1/jobs/{job}/triggers/{trigger}/backfills/plan", Operation::BackfillPlan, plan)
            .query::<BackfillPlanRequest>()
            .answers::<api::BackfillPlan>(200, "What it would do."),
        Route::post(
            "/v1/jobs/{job}/triggers/{trigger}/backfills/{backfill}/stop",
            Operation::BackfillStop,
            stop,
        )
        .query::<InNamespace>()
        .conditional()
        .answers::<api::Backfill>(200, "The backfill."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct BackfillsQuery {
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
    /// Only those in this state.
    #[param(inline)]
    state: Option<BackfillState>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

type Context = State<Arc<Edge>>;

async fn all(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(query): Query<BackfillsQuery>,
) -> Answer {
    let namespace = query.namespace.as_ref();
    ok(&edge.app.list_all_backfills(&caller, namespace, query.state, query.limit).await?)
}

async fn list(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
) -> Answer {
    let namespace = query.or_default();
    ok(&edge.app.list_backfills(&caller, named(&path, &namespace)).await?)
}

async fn start(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
    Json(request): Json<BackfillRequest>,
) -> Answer {
    let (namespace, condition) = (query.or_default(), condition(&headers)?);
    let backfill = edge.app.start_backfill(&caller, named(&path, &namespace), request, condition).await?;
    json(StatusCode::CREATED, &backfill)
}

async fn plan(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(request): Query<BackfillPlanRequest>,
) -> Answer {
    let namespace = request.namespace.clone().unwrap_or_default();
    ok(&edge.app.plan_backfill(&caller, named(&path, &namespace), request).await?)
}

async fn stop(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    let (namespace, condition) = (query.or_default(), condition(&headers)?);
    let id = path.read("backfill")?;
    ok(&edge.app.stop_backfill(&caller, named(&path, &namespace), id, condition).await?)
}
