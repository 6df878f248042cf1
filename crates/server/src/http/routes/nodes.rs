//! Nodes, pools, and how a node joins.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::{Error, NodesQuery, Operation, PageRequest};
use mainspring_model::{ErrorCode, Namespace};
use mainspring_wire::api::{
    self, DrainRequest, JoinToken, JoinTokenRequest, NodeLabels, NodeState, Page, Pool,
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, empty, json, ok, tagged};
use crate::http::body::{Json, OptionalJson};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{NoQuery, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/nodes", Operation::NodeList, list)
            .or(&[Operation::NodeGlance])
            .query::<ListQuery>()
            .answers_page::<api::Node>("Nodes, in the order in which they joined."),
        Route::get("/v1/nodes/{node}", Operation::NodeGet, get).answers::<api::Node>(200, "The node."),
        Route::post("/v1/nodes/{node}/drain", Operation::NodeDrain, drain)
            .conditional()
            .optional_body::<DrainRequest>()
            .answers::<api::Node>(200, "The node."),
        Route::post("/v1/nodes/{node}/resume", Operation::NodeResume, resume)
            .conditional()
            .answers::<api::Node>(200, "The node."),
        Route::post("/v1/nodes/{node}/lose", Operation::NodeLose, lose)
            .conditional()
            .answers::<api::Node>(200, "The node."),
        Route::put("/v1/nodes/{node}/labels", Operation::NodeLabel, label)
            .conditional()
            .body::<NodeLabels>()
            .answers::<api::Node>(200, "The node."),
        Route::delete("/v1/nodes/{node}", Operation::NodeRemove, remove).conditional().answers_raw(
            204,
            "It is not let in any more; one that is lost or has left is listed no more.",
            None,
        ),
        Route::get("/v1/pools", Operation::PoolList, pools)
            .query::<PoolsQuery>()
            .answers_page::<Pool>("Pools, by name."),
        Route::post("/v1/join-tokens", Operation::NodeInvite, invite)
            .optional_body::<JoinTokenRequest>()
            .answers::<JoinToken>(201, "The token."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Only of this pool.
    pool: Option<String>,
    /// Only in this state: `up`, `draining`, `lost` or `left`.
    #[param(pattern = "^(up|draining|lost|left)$")]
    state: Option<String>,
    /// As viewers of this namespace may see them: without labels, handlers, versions and load.
    namespace: Option<Namespace>,
    /// `load`: with what they used in the last hour; then a page has at most 200 items.
    #[param(pattern = "^load$")]
    with: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Where the last page ended.
    cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PoolsQuery {
    /// As viewers of this namespace may see them.
    namespace: Option<Namespace>,
}

type Context = State<Arc<Edge>>;

fn state_of(word: &str) -> Result<NodeState, Error> {
    let states = [NodeState::Up, NodeState::Draining, NodeState::Lost, NodeState::Left];
    states.into_iter().find(|state| state.name() == word).ok_or_else(|| {
        let known = states.map(NodeState::name).join(", ");
        let message = format!("`{word}` is not a state of nodes; use {known}");
        Error::field(ErrorCode::InvalidRequest, "state", message)
    })
}

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<ListQuery>) -> Answer {
    let page = PageRequest { limit: query.limit, cursor: query.cursor };
    let state = query.state.as_deref().map(state_of).transpose()?;
    let load = match query.with.as_deref() {
        None => false,
        Some("load") => true,
        Some(other) => {
            let message = format!("`{other}` is nothing that nodes are listed with; use load");
            return Err(Error::field(ErrorCode::InvalidRequest, "with", message).into());
        }
    };
    let query = NodesQuery { pool: query.pool, state, namespace: query.namespace, load };
    ok(&edge.app.list_nodes(&caller, &query, &page).await?)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    let node = edge.app.node(&caller, path.read("node")?).await?;
    // What it does and when it was heard of change without the row.
    tagged(StatusCode::OK, &node, node.revision)
}

async fn drain(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<DrainRequest>,
) -> Answer {
    let node = edge.app.drain_node(&caller, path.read("node")?, request, condition(&headers)?).await?;
    tagged(StatusCode::OK, &node, node.revision)
}

async fn resume(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
) -> Answer {
    let node = edge.app.resume_node(&caller, path.read("node")?, condition(&headers)?).await?;
    tagged(StatusCode::OK, &node, node.revision)
}

async fn lose(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
) -> Answer {
    let node = edge.app.lose_node(&caller, path.read("node")?, condition(&headers)?).await?;
    tagged(StatusCode::OK, &node, node.revision)
}

async fn label(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
    Json(request): Json<NodeLabels>,
) -> Answer {
    let node = edge.app.label_node(&caller, path.read("node")?, request, condition(&headers)?).await?;
    tagged(StatusCode::OK, &node, node.revision)
}

async fn remove(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
) -> Answer {
    edge.app.remove_node(&caller, path.read("node")?, condition(&headers)?).await?;
    empty()
}

async fn pools(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<PoolsQuery>) -> Answer {
    ok(&Page::whole(edge.app.list_pools(&caller, query.namespace.as_ref()).await?))
}

async fn invite(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(NoQuery {}): Query<NoQuery>,
    OptionalJson(request): OptionalJson<JoinTokenRequest>,
) -> Answer {
    json(StatusCode::CREATED, &edge.app.create_join_token(&caller, request).await?)
}
