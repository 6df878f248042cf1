//! Event streams: server-sent events with a comment now and then, ended when the process stops or the token is no longer good.

use std::convert::Infallible;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt as _};
use mainspring_app::{Caller, Listener, Watch};
use mainspring_wire::api::{ServerNow, WatchEvent, WatchWhat};
use mainspring_wire::sse::KEEP_ALIVE;
use tokio::time::Instant;

use super::edge::Edge;

/// The answer of a stream of events.
pub(crate) fn stream(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let events = events.map(Ok::<Event, Infallible>);
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Where a stream goes on: the header that browsers send by themselves, or the parameter for others.
pub(crate) fn last_event_id<'a>(headers: &'a HeaderMap, parameter: Option<&'a str>) -> Option<&'a str> {
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    header.or(parameter).filter(|id| !id.is_empty())
}

/// The news of a watch.
pub(crate) fn news(
    edge: Arc<Edge>,
    caller: Caller,
    watch: Watch,
    listener: Listener,
) -> impl Stream<Item = Event> + Send {
    let recheck_at = Instant::now() + edge.recheck_every;
    let begin = futures_util::stream::iter(beginning(&edge, &watch, listener));
    let state = (edge, caller, watch, recheck_at);
    let events =
        futures_util::stream::unfold(state, |(edge, mut caller, mut watch, mut recheck_at)| async move {
            loop {
                tokio::select! {
                    biased;
                    () = edge.stop.cancelled() => return None,
                    // Before the news: there may be no end of them.
                    () = tokio::time::sleep_until(recheck_at) => {
                        caller = edge.app.refresh(&caller).await.ok()?;
                        watch.replace(&caller);
                        recheck_at = Instant::now() + edge.recheck_every;
                    }
                    event = watch.next() => {
                        let event = event?;
                        let data = serde_json::to_string(&event).unwrap_or_default();
                        let sent = Event::default().event(event.what.name()).data(data);
                        let sent = if event.mark.is_empty() { sent } else { sent.id(event.mark) };
                        return Some((sent, (edge, caller, watch, recheck_at)));
                    }
                }
            }
        });
    begin.chain(events)
}

/// The first event: where the stream stands, and to callers the server's time and version.
fn beginning(edge: &Edge, watch: &Watch, listener: Listener) -> Option<Event> {
    let mark = watch.begin();
    let begin = match listener {
        // Other processes only want to know where it is.
        Listener::Process => return mark.map(|mark| Event::default().id(mark)),
        Listener::Caller => {
            let ServerNow { now, software } = edge.app.server_now();
            let what = WatchWhat::Hello { now, software };
            let event = WatchEvent { mark: mark.clone().unwrap_or_default(), what };
            let data = serde_json::to_string(&event).unwrap_or_default();
            Event::default().event(event.what.name()).data(data)
        }
    };
    Some(match mark {
        Some(mark) => begin.id(mark),
        None => begin,
    })
}
