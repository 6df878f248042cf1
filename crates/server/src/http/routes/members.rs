//! Members: who has which role where. Without a namespace in the query: everywhere.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::Operation;
use mainspring_model::Namespace;
use mainspring_wire::api::{Access, Member, PutMember};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, empty, ok, tagged, unless_known};
use crate::http::body::Json;
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{ListQuery, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

pub(super) fn routes() -> Vec<Route> {
    const ONE: &str = "/v1/members/{subject}";
    vec![
        Route::get("/v1/members", Operation::MemberList, list)
            .query::<ListQuery>()
            .answers_page::<Member>("Roles, by subject."),
        Route::get(ONE, Operation::MemberGet, get)
            .query::<Everywhere>()
            .answers::<Member>(200, "The role in this very place."),
        Route::put(ONE, Operation::MemberPut, put)
            .query::<Everywhere>()
            .conditional()
            .header("If-None-Match", "`*`: only if there is none.")
            .body::<PutMember>()
            .answers::<Member>(200, "The role as it is now.")
            .answers::<Member>(201, "The role that was given."),
        Route::delete(ONE, Operation::MemberDelete, delete).query::<Everywhere>().conditional().answers_raw(
            204,
            "It is gone.",
            None,
        ),
        Route::get("/v1/access", Operation::AccessGet, access)
            .query::<AccessQuery>()
            .answers::<Access>(200, "Whether they may, and by which grant."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Everywhere {
    /// Where the role holds; everywhere when nothing is said.
    namespace: Option<Namespace>,
}

type Context = State<Arc<Edge>>;

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<ListQuery>) -> Answer {
    ok(&edge.app.list_members(&caller, query.namespace.as_ref(), &query.page()).await?)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<Everywhere>,
    headers: HeaderMap,
) -> Answer {
    let member = edge.app.member(&caller, path.text("subject"), query.namespace.as_ref()).await?;
    unless_known(&headers, &member, member.revision)
}

async fn put(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<Everywhere>,
    headers: HeaderMap,
    Json(request): Json<PutMember>,
) -> Answer {
    let (subject, namespace) = (path.text("subject"), query.namespace.as_ref());
    let condition = condition(&headers)?;
    let (member, is_new) = edge.app.put_member(&caller, subject, namespace, request, condition).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    tagged(status, &member, member.revision)
}

async fn delete(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<Everywhere>,
    headers: HeaderMap,
) -> Answer {
    let (subject, namespace) = (path.text("subject"), query.namespace.as_ref());
    edge.app.delete_member(&caller, subject, namespace, condition(&headers)?).await?;
    empty()
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AccessQuery {
    /// Who.
    subject: String,
    /// The operation, such as `run.cancel`.
    operation: String,
    /// Where; without it, everywhere.
    namespace: Option<Namespace>,
}

async fn access(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<AccessQuery>,
) -> Answer {
    let AccessQuery { subject, operation, namespace } = query;
    ok(&edge.app.access(&caller, &subject, &operation, namespace.as_ref()).await?)
}
