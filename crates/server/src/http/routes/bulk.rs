//! One action on many runs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use mainspring_app::{Operation, PageRequest};
use mainspring_model::{BulkId, Namespace};
use mainspring_wire::api::{BulkOperation, BulkPreview, BulkRequest};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, json, located, ok};
use crate::http::body::Json;
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{InNamespace, NoQuery, PathParts, Query};
use crate::http::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/runs/bulk", Operation::RunBulk, start)
            .query::<InNamespace>()
            .body::<BulkRequest>()
            .answers::<BulkPreview>(200, "What it would be done to.")
            .answers::<BulkOperation>(202, "It has begun, and goes on by itself."),
        Route::get("/v1/runs/bulk", Operation::BulkList, list)
            .query::<BulkQuery>()
            .answers_page::<BulkOperation>("Bulk operations, the last first."),
        Route::get("/v1/runs/bulk/{operation}", Operation::BulkGet, get)
            .answers::<BulkOperation>(200, "The operation, and how far it is."),
        Route::post("/v1/runs/bulk/{operation}/stop", Operation::BulkStop, stop)
            .answers::<BulkOperation>(202, "It acts on no more runs. What was done stays."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct BulkQuery {
    /// Here and in all below; without it, all that you may see.
    namespace: Option<Namespace>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Where the last page ended.
    cursor: Option<String>,
}

type Context = State<Arc<Edge>>;

async fn start(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(query): Query<InNamespace>,
    Json(request): Json<BulkRequest>,
) -> Answer {
    let namespace = query.namespace.as_ref();
    if request.preview {
        return ok(&edge.app.preview_bulk(&caller, namespace, &request).await?);
    }
    let operation = edge.app.start_bulk(&caller, namespace, request).await?;
    located(json(StatusCode::ACCEPTED, &operation), &format!("/v1/runs/bulk/{}", operation.id))
}

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<BulkQuery>) -> Answer {
    let page = PageRequest { limit: query.limit, cursor: query.cursor };
    ok(&edge.app.list_bulk(&caller, query.namespace.as_ref(), &page).await?)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    let operation: BulkId = path.read("operation")?;
    ok(&edge.app.bulk_operation(&caller, operation).await?)
}

async fn stop(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    let operation: BulkId = path.read("operation")?;
    json(StatusCode::ACCEPTED, &edge.app.stop_bulk(&caller, operation).await?)
}
