//! News as they happen.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use mainspring_app::{Error, Listener, Operation, WatchFilter};
use mainspring_model::{ErrorCode, JobId, Namespace, RunId};
use mainspring_wire::api::WatchKind;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::Answer;
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::elsewhere;
use crate::http::events::{last_event_id, news, stream};
use crate::http::forward::is_forwarded;
use crate::http::params::Query;
use crate::http::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/watch", Operation::Watch, watch)
            .query::<WatchQuery>()
            .header("Last-Event-ID", "Where the stream goes on.")
            .answers_raw(
                200,
                "Events `hello`, `reset` and those of the kinds that are asked for, of all cells, whoever owns them.",
                Some("text/event-stream"),
            ),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WatchQuery {
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
    /// Only runs of this job.
    job: Option<JobId>,
    /// Only this run.
    run: Option<RunId>,
    /// Only these kinds, with commas between: `run`, `node`, `trigger_paused`, `job`, `trigger`, `occurrence`, `backfill`,
    /// `progress` and `reason`; without it, the first three. `hello` and `reset` are told to everybody.
    #[param(pattern = "^[a-z_]+(,[a-z_]+)*$")]
    kinds: Option<String>,
    /// Where the stream goes on, for those who cannot send the header.
    last_event_id: Option<String>,
}

async fn watch(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<WatchQuery>,
    headers: HeaderMap,
) -> Answer {
    let kinds = query.kinds.as_deref().map(kinds_of).transpose()?.unwrap_or_default();
    let filter = WatchFilter { namespace: query.namespace, job: query.job, run: query.run, kinds };
    let mark = last_event_id(&headers, query.last_event_id.as_deref());
    let listener = if is_forwarded(&headers) { Listener::Process } else { Listener::Caller };
    let watch = edge.app.watch(&caller, listener, filter.clone(), mark).await?;
    // After our own: what is wrong with the request is said once, and only here.
    let watch = match listener {
        Listener::Caller => watch.with(elsewhere::listen(&edge, &filter, &headers, mark).await),
        Listener::Process => watch,
    };
    Ok(stream(news(edge, caller, watch, listener)))
}

fn kinds_of(words: &str) -> Result<Vec<WatchKind>, Error> {
    let kind = |word: &str| {
        WatchKind::ALL.into_iter().find(|kind| kind.name() == word).ok_or_else(|| {
            let known = WatchKind::ALL.map(WatchKind::name).join(", ");
            let message = format!("`{word}` is no kind of news; use {known}");
            Error::field(ErrorCode::InvalidRequest, "kinds", message)
        })
    };
    words.split(',').map(kind).collect()
}
