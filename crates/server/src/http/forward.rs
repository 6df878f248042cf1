//! Passing a request on to the server that owns its cell. Callers need not reach every server, and know of none but the one
//! they asked.
//!
//! It is passed on once. The owner checks it as if it had come there, and what it answers is the answer, streams included.
//! What several owners know is asked of each of them, and put together (`merge.rs`).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use mainspring_app::Error;
use mainspring_model::ErrorCode;
use mainspring_wire::api::Problem;
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::edge::Edge;
use super::failure::Failure;
use super::frame::REQUEST_ID;
use super::peers::Peers;
use super::under_way::{self, Subjects, UnderWay};
use super::{answer, merge};

/// Says that a request was passed on already.
pub(super) const FORWARDED: HeaderName = HeaderName::from_static("x-mainspring-forwarded");
/// A little longer than an owner waits for its store, and less than callers wait.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(25);
/// How long an answer waits for what others would add to it.
const MORE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest answer that is put together.
const MERGED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What belongs to one connection, or is told anew.
const LEFT_OUT: [HeaderName; 6] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::UPGRADE,
];

/// Whether another server of the cluster passes it on for somebody. Anybody can say so: it is answered here and from the
/// rows as they are now, which is slower and nothing else.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(FORWARDED)
}

/// Has the server at `url` do something for whoever sent the request under way.
pub(crate) async fn errand(url: &str, path: &str, body: &Value) -> Result<(), Error> {
    let Some(request) = under_way::request() else {
        return Err(Error::new(ErrorCode::NotOwner, "another scheduler owns the cell"));
    };
    let mut headers = request.headers_for(url);
    headers.retain_credentials();
    headers.0.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let sent = Sent { method: Method::POST, target: path, headers: headers.0, body: body.to_string().into() };
    let answer = send(&request.peers.prompt, url, sent).await.map_err(|error| Failure::from(error).0)?;
    if answer.status().is_success() {
        return Ok(());
    }
    let told = answer.bytes().await.unwrap_or_default();
    let problem: Option<Problem> = serde_json::from_slice(&told).ok();
    let known = problem.and_then(|problem| Some((ErrorCode::parse(&problem.code)?, problem.detail)));
    Err(known.map_or_else(|| unknown().0, |(code, detail)| Error::new(code, detail)))
}

/// A request that may have to be passed on.
pub(super) struct Passable {
    parts: Parts,
    /// The id under which it is written down.
    id: HeaderValue,
    peers: Arc<Peers>,
    /// Ends open streams when the process stops.
    stop: CancellationToken,
}

/// The headers of a request to another server.
struct Headers(HeaderMap);

/// Why it was not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotPassed {
    /// It did not get there.
    Unreached,
    /// Nobody knows whether it was done: callers ask again with the same key.
    Unknown,
}

struct Sent<'a> {
    method: Method,
    target: &'a str,
    headers: HeaderMap,
    body: Bytes,
}

impl Passable {
    /// A request that is written down under this id; none if it was passed on before.
    pub(super) fn of(request: Request, id: &str, edge: &Edge) -> (Option<Arc<Self>>, Request) {
        let id = HeaderValue::from_str(id).ok().filter(|_| !is_forwarded(request.headers()));
        let Some(id) = id else { return (None, request) };
        let (parts, body) = request.into_parts();
        let (peers, stop) = (Arc::clone(&edge.peers), edge.stop.clone());
        let passable = Self { parts: parts.clone(), id, peers, stop };
        (Some(Arc::new(passable)), Request::from_parts(parts, body))
    }

    /// Has it handled here and, where only another server can answer, or others know more, there.
    pub(super) async fn handle(self: Arc<Self>, request: Request, next: Next) -> Response {
        let here = next.clone().run(request);
        let (response, under_way) = under_way::observed(Arc::clone(&self), None, here).await;
        if let Some(failure) = response.extensions().get::<Failure>() {
            let Some(owner) = failure.0.elsewhere.clone() else { return response };
            return match self.to(&owner, under_way.body.clone()).await {
                Ok(answer) => answer,
                Err(NotPassed::Unreached) if under_way.may_deposit => {
                    let again = Request::from_parts(self.parts.clone(), Body::from(under_way.body));
                    under_way::observed(self, Some(owner), next.run(again)).await.0
                }
                Err(error) => Failure::from(error).into_response(),
            };
        }
        if self.parts.method == Method::GET { self.with_more(response, under_way).await } else { response }
    }

    /// The answer with what others know better. What is known here is better than nothing.
    async fn with_more(&self, response: Response, UnderWay { here, elsewhere, .. }: UnderWay) -> Response {
        let mut owners = elsewhere.iter();
        match (here, owners.next(), owners.next()) {
            (_, None, _) => response,
            // It knows all that nobody here does.
            (false, Some((owner, _)), None) => {
                match timeout(MORE_TIMEOUT, self.to(owner, Bytes::new())).await {
                    Ok(Ok(answer)) if !answer.status().is_server_error() => answer,
                    _ => response,
                }
            }
            _ => {
                let ask = async |(owner, subjects): (&String, &Subjects)| {
                    let answer = self.to(owner, Bytes::new()).await.ok()?;
                    let (_, theirs) = answer::split_json(answer, MERGED_BYTES_MAX).await.ok()?;
                    Some((subjects.clone(), theirs))
                };
                let asked = elsewhere
                    .iter()
                    .map(|owner| async move { timeout(MORE_TIMEOUT, ask(owner)).await.ok()? });
                let (more, ours) =
                    tokio::join!(join_all(asked), answer::split_json(response, MERGED_BYTES_MAX));
                let (head, ours) = match ours {
                    Ok(ours) => ours,
                    Err(response) => return response,
                };
                let more: Vec<_> = more.into_iter().flatten().collect();
                answer::join_json(head, &merge::merge(self.parts.uri.path(), ours, &more))
            }
        }
    }

    /// What the server at `url` answers.
    async fn to(&self, url: &str, body: Bytes) -> Result<Response, NotPassed> {
        let follows = self.follows();
        let client = if follows { &self.peers.patient } else { &self.peers.prompt };
        let target = self.parts.uri.path_and_query().map_or("/", |target| target.as_str());
        let headers = self.headers_for(url).0;
        let sent = Sent { method: self.parts.method.clone(), target, headers, body };
        Ok(passed_back(send(client, url, sent).await?, follows, &self.stop))
    }

    /// Whether it asks for output as text, as it comes.
    fn follows(&self) -> bool {
        let accept = self.parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        accept.is_some_and(|accept| accept.contains("text/plain"))
            && self.parts.uri.query().is_some_and(|query| query.contains("follow"))
    }

    fn headers_for(&self, url: &str) -> Headers {
        let mut headers = self.parts.headers.clone();
        LEFT_OUT.iter().for_each(|name| drop(headers.remove(name)));
        headers.insert(FORWARDED, HeaderValue::from_static("1"));
        // Not another one beside that of the caller, which may be unfit.
        headers.insert(REQUEST_ID, self.id.clone());
        // Where the request came from was checked here; the owner compares it with its own name.
        let origin = reqwest::Url::parse(url).map(|url| url.origin().ascii_serialization());
        if headers.contains_key(header::ORIGIN)
            && let Some(origin) = origin.ok().and_then(|origin| HeaderValue::try_from(origin).ok())
        {
            headers.insert(header::ORIGIN, origin);
        }
        Headers(headers)
    }
}

impl Headers {
    /// Leaves who asks, and under which id.
    fn retain_credentials(&mut self) {
        let kept = [header::AUTHORIZATION, header::COOKIE, header::ORIGIN, FORWARDED, REQUEST_ID];
        let names: Vec<HeaderName> = self.0.keys().filter(|name| !kept.contains(name)).cloned().collect();
        names.iter().for_each(|name| drop(self.0.remove(name)));
    }
}

async fn send(
    client: &reqwest::Client,
    url: &str,
    Sent { method, target, headers, body }: Sent<'_>,
) -> Result<reqwest::Response, NotPassed> {
    let request = client.request(method, format!("{}{target}", url.trim_end_matches('/')));
    match timeout(ANSWER_TIMEOUT, request.headers(headers).body(body).send()).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => {
            // The address may have the token of a webhook in it.
            let error = error.without_url();
            tracing::warn!(%url, error = &error as &dyn std::error::Error, "a request was not passed on");
            Err(if error.is_connect() { NotPassed::Unreached } else { NotPassed::Unknown })
        }
        Err(_) => {
            tracing::warn!(%url, "a request that was passed on is not answered");
            Err(NotPassed::Unknown)
        }
    }
}

impl From<NotPassed> for Failure {
    fn from(error: NotPassed) -> Self {
        match error {
            NotPassed::Unreached => {
                Self::new(ErrorCode::NotOwner, "the scheduler that owns the cell is not reached")
            }
            NotPassed::Unknown => unknown(),
        }
    }
}

fn unknown() -> Failure {
    Failure::new(ErrorCode::StoreUnavailable, "the scheduler that owns the cell does not answer")
}

fn passed_back(answer: reqwest::Response, follows: bool, stop: &CancellationToken) -> Response {
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut headers = answer.headers().clone();
    [header::CONNECTION, header::TRANSFER_ENCODING].iter().for_each(|name| drop(headers.remove(name)));
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_events = kind.starts_with("text/event-stream");
    let bytes = answer.bytes_stream().map_err(io::Error::other);
    let body = match is_events || follows {
        true => {
            let until_stop = bytes.take_until(stop.clone().cancelled_owned());
            // Who reads events goes on elsewhere; text that just ended would look whole.
            let stop = stop.clone();
            let cut = stream::once(async move {
                let is_cut = follows && !is_events && stop.is_cancelled();
                is_cut.then(|| Err(io::Error::other("the server stops")))
            });
            Body::from_stream(until_stop.chain(cut.filter_map(std::future::ready)))
        }
        false => Body::from_stream(bytes),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
