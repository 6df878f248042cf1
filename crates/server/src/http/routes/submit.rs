//! Asking for runs: one, many, one again.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode};
use mainspring_app::Operation;
use mainspring_model::RunId;
use mainspring_wire::api::{BatchResult, BatchSubmit, RerunRequest, Submit, Submitted};

use crate::http::answer::{Answer, json, located, ok};
use crate::http::body::{BATCH_BYTES_MAX, Json, OptionalJson};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::failure::Failure;
use crate::http::params::{IdempotencyKey, InNamespace, NoQuery, PathParts, Query};
use crate::http::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/runs", Operation::RunSubmit, submit)
            .or(&[Operation::RunSubmitSpec])
            .query::<InNamespace>()
            .idempotent()
            .body::<Submit>()
            .answers::<Submitted>(200, "The earlier run of the same key.")
            .answers::<Submitted>(201, "The run is durable."),
        Route::post("/v1/runs/batch", Operation::RunBatch, batch)
            .query::<InNamespace>()
            .idempotent()
            .body::<BatchSubmit>()
            .answers::<BatchResult>(200, "What became of each."),
        Route::post("/v1/runs/{run}/rerun", Operation::RunRerun, rerun)
            .idempotent()
            .optional_body::<RerunRequest>()
            .answers::<Submitted>(200, "The earlier run of the same key.")
            .answers::<Submitted>(201, "The new run is durable."),
    ]
}

type Context = State<Arc<Edge>>;

async fn submit(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(query): Query<InNamespace>,
    IdempotencyKey(given): IdempotencyKey,
    Json(mut wish): Json<Submit>,
) -> Answer {
    wish.idempotency_key = key(given.as_ref(), wish.idempotency_key)?;
    let submitted = edge.app.submit(&caller, query.namespace, wish).await?;
    answer(&submitted)
}

async fn batch(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(query): Query<InNamespace>,
    IdempotencyKey(given): IdempotencyKey,
    Json(batch): Json<BatchSubmit, BATCH_BYTES_MAX>,
) -> Answer {
    let key = key(given.as_ref(), None)?;
    ok(&edge.app.submit_batch(&caller, query.namespace, batch, key.as_deref()).await?)
}

async fn rerun(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    IdempotencyKey(given): IdempotencyKey,
    OptionalJson(mut request): OptionalJson<RerunRequest>,
) -> Answer {
    let run: RunId = path.read("run")?;
    request.idempotency_key = key(given.as_ref(), request.idempotency_key)?;
    let submitted = edge.app.rerun(&caller, run, request).await?;
    answer(&submitted)
}

fn answer(submitted: &Submitted) -> Answer {
    let status = if submitted.duplicate { StatusCode::OK } else { StatusCode::CREATED };
    located(json(status, submitted), &format!("/v1/runs/{}", submitted.id))
}

/// The key in the header, or in the body; the same in both if it is in both.
fn key(given: Option<&HeaderValue>, body: Option<String>) -> Result<Option<String>, Failure> {
    let Some(given) = given else { return Ok(body) };
    let text = given.to_str().map_err(|_| Failure::field("idempotency-key", "is not text"))?;
    match body {
        Some(body) if body != text => {
            Err(Failure::field("idempotency_key", "differs from the header `Idempotency-Key`"))
        }
        _ => Ok(Some(text.to_owned())),
    }
}
