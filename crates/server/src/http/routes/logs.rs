//! The output of a run: a part as JSON, all of it as text, or as it comes.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use mainspring_app::{Caller, LogQuery, LogSearch, Operation};
use mainspring_model::RunId;
use mainspring_wire::api::{LogIndex, LogMatches, LogPage, LogStream};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::http::answer::{Answer, ok};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::events::{last_event_id, stream};
use crate::http::failure::Failure;
use crate::http::follow::{Follow, Item};
use crate::http::params::{PathParts, Query};
use crate::http::route::Route;

pub(super) fn routes() -> Vec<Route> {
    let read = Route::get("/v1/runs/{run}/logs", Operation::RunLogs, read)
        .query::<LogsQuery>()
        .header("Accept", "`application/json`, `text/plain` or `text/event-stream`.")
        .header("Last-Event-ID", "Where a stream goes on.");
    let answers = read.note(|doc| {
        let (page, text) = (doc.knows::<LogPage>(), json!({"type": "string"}));
        let kinds = [("application/json", page), ("text/plain", text.clone()), ("text/event-stream", text)];
        doc.answers_as(200, "A part of the output; as text or as events when asked so.", &kinds);
    });
    let search = Route::get("/v1/runs/{run}/logs/search", Operation::RunLogSearch, search)
        .query::<SearchQuery>()
        .answers::<LogMatches>(200, "Lines of the output that match.");
    let index = Route::get("/v1/runs/{run}/logs/index", Operation::RunLogIndex, index)
        .query::<IndexQuery>()
        .answers::<LogIndex>(200, "Places in the output.");
    vec![answers, search, index]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct LogsQuery {
    /// Of this attempt; without it, of the current or last.
    attempt: Option<u32>,
    /// From this offset of the stored log.
    #[serde(default)]
    offset: u64,
    /// What begins in so many stored bytes.
    #[param(minimum = 1, maximum = 1048576)]
    limit: Option<usize>,
    /// Only of this stream.
    #[param(inline)]
    stream: Option<LogStream>,
    /// Go on as output comes, until the run is over.
    #[serde(default)]
    follow: bool,
    /// Where a stream goes on, for those who cannot send the header.
    last_event_id: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SearchQuery {
    /// In the output of this attempt; without it, of the current or last.
    attempt: Option<u32>,
    /// What is in the line.
    text: String,
    /// The text is a regular expression.
    #[serde(default)]
    regex: bool,
    /// Upper and lower case are not the same.
    #[serde(default)]
    case: bool,
    /// Only in this stream.
    #[param(inline)]
    stream: Option<LogStream>,
    /// In lines that begin at or after this offset of the stored log.
    #[serde(default)]
    offset: u64,
    /// Of the lines of the piece there, from this one on.
    #[serde(default)]
    index: u64,
    /// So many are listed; all are counted.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct IndexQuery {
    /// Of this attempt; without it, of the current or last.
    attempt: Option<u32>,
}

async fn search(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<SearchQuery>,
) -> Answer {
    check_offset(query.offset)?;
    let SearchQuery { attempt, text, regex, case, stream, offset, index, limit } = query;
    let wanted = LogSearch { attempt, text, regex, case, stream, offset, index, limit };
    ok(&edge.app.search_log(&caller, path.read("run")?, &wanted).await?)
}

async fn index(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<IndexQuery>,
) -> Answer {
    ok(&edge.app.log_index(&caller, path.read("run")?, query.attempt).await?)
}

fn check_offset(offset: u64) -> Result<(), Failure> {
    match i64::try_from(offset) {
        Ok(_) => Ok(()),
        Err(_) => Err(Failure::field("offset", "is beyond the end of any log")),
    }
}

async fn read(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<LogsQuery>,
    headers: HeaderMap,
) -> Answer {
    let run: RunId = path.read("run")?;
    check_offset(query.offset)?;
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let wanted =
        LogQuery { attempt: query.attempt, offset: query.offset, limit: query.limit, stream: query.stream };
    let position = last_event_id(&headers, query.last_event_id.as_deref());
    match (accept.contains("text/plain"), query.follow || accept.contains("text/event-stream")) {
        (true, true) => Ok(text_follow(Follow::open(edge, caller, run, wanted, position).await?)),
        (false, true) => Ok(stream(Follow::open(edge, caller, run, wanted, position).await?.events())),
        (true, false) => text(edge, &caller, run, wanted).await,
        (false, false) => ok(&edge.app.logs(&caller, run, wanted).await?),
    }
}

/// All that there is by now, as text, from the offset on.
async fn text(edge: Arc<Edge>, caller: &Caller, run: RunId, query: LogQuery) -> Answer {
    let target = edge.app.log_target(caller, run, query.attempt).await?;
    // The first part is read here, so that its errors are problems and not a cut-off text.
    let first = edge.app.read_log(&target, query).await?;
    let state = (edge, target, query, Some(Ok(first)));
    let parts = futures_util::stream::unfold(state, |(edge, target, mut query, page)| async move {
        let page = match page? {
            Ok(page) => page,
            Err(error) => return Some((Err(cut(error)), (edge, target, query, None))),
        };
        let text: Vec<u8> = page.lines.iter().flat_map(|line| line.content().into_owned()).collect();
        let more = page.next_offset > query.offset && page.next_offset < page.length;
        query.offset = page.next_offset;
        let next = if more { Some(edge.app.read_log(&target, query).await) } else { None };
        Some((Ok::<Bytes, io::Error>(text.into()), (edge, target, query, next)))
    });
    Ok(plain(Body::from_stream(parts)))
}

fn text_follow(follow: Follow) -> Response {
    let parts = futures_util::stream::unfold(Some(follow), |follow| async move {
        let mut follow = follow?;
        loop {
            match follow.next().await {
                Some(Item::Line(line, _)) => {
                    return Some((Ok::<Bytes, io::Error>(line.content().into_owned().into()), Some(follow)));
                }
                Some(Item::Attempt(_)) => {}
                Some(Item::End) => return None,
                None => return Some((Err(cut("it did not come to its end")), None)),
            }
        }
    });
    plain(Body::from_stream(parts))
}

/// The transfer breaks off: a text that just ended would look whole.
fn cut(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::other(why)
}

fn plain(body: Body) -> Response {
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}
