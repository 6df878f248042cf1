//! The queue.

use std::sync::Arc;

use axum::extract::State;
use mainspring_app::Operation;
use mainspring_model::Namespace;
use mainspring_wire::api::Queue;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, ok};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::Query;
use crate::http::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/queue", Operation::Queue, queue)
            .query::<QueueQuery>()
            .answers::<Queue>(200, "What waits, by job, pool and reason."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct QueueQuery {
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
}

async fn queue(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<QueueQuery>,
) -> Answer {
    ok(&edge.app.queue(&caller, query.namespace.as_ref()).await?)
}
