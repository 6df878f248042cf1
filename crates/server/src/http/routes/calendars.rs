//! Calendars.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::Operation;
use mainspring_model::CalendarSpec;
use mainspring_wire::api;

use crate::http::answer::{Answer, empty, ok, tagged, unless_known};
use crate::http::body::Json;
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{InNamespace, ListQuery, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

pub(super) fn routes() -> Vec<Route> {
    const ONE: &str = "/v1/calendars/{calendar}";
    vec![
        Route::get("/v1/calendars", Operation::CalendarList, list)
            .query::<ListQuery>()
            .answers_page::<api::Calendar>("Calendars, by namespace and name."),
        Route::get(ONE, Operation::CalendarGet, get)
            .query::<InNamespace>()
            .answers::<api::Calendar>(200, "The calendar."),
        Route::put(ONE, Operation::CalendarPut, put)
            .query::<InNamespace>()
            .conditional()
            .header("If-None-Match", "`*`: only if there is none.")
            .body::<CalendarSpec>()
            .answers::<api::Calendar>(200, "The calendar as it is now.")
            .answers::<api::Calendar>(201, "The calendar that was made."),
        Route::delete(ONE, Operation::CalendarDelete, delete)
            .query::<InNamespace>()
            .conditional()
            .answers_raw(204, "It is gone.", None),
    ]
}

type Context = State<Arc<Edge>>;

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<ListQuery>) -> Answer {
    ok(&edge.app.list_calendars(&caller, query.namespace.as_ref(), &query.page()).await?)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    let calendar = edge.app.calendar(&caller, &query.or_default(), path.text("calendar")).await?;
    unless_known(&headers, &calendar, calendar.revision)
}

async fn put(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
    Json(spec): Json<CalendarSpec>,
) -> Answer {
    let (namespace, condition) = (query.or_default(), condition(&headers)?);
    let name = path.text("calendar");
    let (calendar, is_new) = edge.app.put_calendar(&caller, &namespace, name, spec, condition).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    tagged(status, &calendar, calendar.revision)
}

async fn delete(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    let (namespace, condition) = (query.or_default(), condition(&headers)?);
    edge.app.delete_calendar(&caller, &namespace, path.text("calendar"), condition).await?;
    empty()
}
