//! Namespaces.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::Operation;
use mainspring_wire::api::{self, PutNamespace};

use crate::http::answer::{Answer, empty, ok, tagged, unless_known};
use crate::http::body::OptionalJson;
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{ListQuery, NoQuery, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

pub(super) fn routes() -> Vec<Route> {
    const ONE: &str = "/v1/namespaces/{namespace}";
    vec![
        Route::get("/v1/namespaces", Operation::NamespaceList, list)
            .query::<ListQuery>()
            .answers_page::<api::Namespace>("Namespaces, by path."),
        Route::get(ONE, Operation::NamespaceGet, get).answers::<api::Namespace>(200, "The namespace."),
        Route::put(ONE, Operation::NamespacePut, put)
            .conditional()
            .header("If-None-Match", "`*`: only if there is none.")
            .optional_body::<PutNamespace>()
            .answers::<api::Namespace>(200, "The namespace as it is now.")
            .answers::<api::Namespace>(201, "The namespace that was made."),
        Route::delete(ONE, Operation::NamespaceDelete, delete).conditional().answers_raw(
            204,
            "It is gone.",
            None,
        ),
    ]
}

type Context = State<Arc<Edge>>;

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<ListQuery>) -> Answer {
    ok(&edge.app.list_namespaces(&caller, query.namespace.as_ref(), &query.page()).await?)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
) -> Answer {
    let namespace = edge.app.namespace(&caller, &path.read("namespace")?).await?;
    unless_known(&headers, &namespace, namespace.revision)
}

async fn put(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<PutNamespace>,
) -> Answer {
    let path = path.read("namespace")?;
    let (namespace, is_new) = edge.app.put_namespace(&caller, &path, request, condition(&headers)?).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    tagged(status, &namespace, namespace.revision)
}

async fn delete(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
) -> Answer {
    edge.app.delete_namespace(&caller, &path.read("namespace")?, condition(&headers)?).await?;
    empty()
}
