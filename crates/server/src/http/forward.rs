//! Passing a request on to the server that owns its cell. Callers need not reach every server, and know of none but the one
//! they asked.
//!
//! It is passed on once. The owner checks it as if it had come there, and what it answers is the answer, streams included.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use mainspring_model::ErrorCode;
use mainspring_wire::sse::SILENCE_MAX;
use tokio::time::timeout;

use super::failure::Failure;

/// Says that a request was passed on already.
pub(super) const FORWARDED: HeaderName = HeaderName::from_static("x-mainspring-forwarded");
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A little longer than an owner waits for its store.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(35);
/// What belongs to one connection, or is told anew.
const LEFT_OUT: [HeaderName; 6] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::UPGRADE,
];

static CLIENT: LazyLock<Option<reqwest::Client>> =
    LazyLock::new(|| client(|builder| builder.read_timeout(SILENCE_MAX)));

tokio::task_local! {
    static UNDER_WAY: RefCell<UnderWay>;
}

/// What became known of the request under way while it was handled here.
#[derive(Default)]
pub(super) struct UnderWay {
    /// Its body, once somebody has read it.
    body: Bytes,
    /// A cell of this process could say how things stand.
    here: bool,
    /// Where it would have been known how things stand.
    elsewhere: BTreeSet<String>,
}

impl UnderWay {
    /// The server that knows all that nobody here does, if one does.
    fn who_knows(&self) -> Option<&str> {
        let mut owners = self.elsewhere.iter();
        owners.next().filter(|_| !self.here && owners.next().is_none()).map(String::as_str)
    }
}

/// A client for other servers of the cluster.
pub(super) fn client(
    limit: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
) -> Option<reqwest::Client> {
    // Only the first call counts; there is one provider in this program.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT);
    let client = limit(builder).build();
    client.inspect_err(|error| tracing::error!(%error, "other servers cannot be asked")).ok()
}

/// Whether another server of the cluster passes it on for somebody.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(FORWARDED)
}

/// Keeps the body of the request under way for another server.
pub(super) fn keep_body(body: &Bytes) {
    // Outside of a request that may be passed on, nobody wants it.
    let _ = UNDER_WAY.try_with(|under_way| under_way.borrow_mut().body = body.clone());
}

/// A cell of this process said how things stand, or the one at the address would have.
pub(crate) fn is_known(elsewhere: Option<&str>) {
    let _ = UNDER_WAY.try_with(|under_way| match elsewhere {
        Some(url) => drop(under_way.borrow_mut().elsewhere.insert(url.to_owned())),
        None => under_way.borrow_mut().here = true,
    });
}

/// A request that may have to be passed on.
pub(super) struct Passable {
    method: Method,
    target: String,
    headers: HeaderMap,
}

impl Passable {
    /// None if it was passed on before.
    pub(super) fn of(request: &Request) -> Option<Self> {
        if is_forwarded(request.headers()) {
            return None;
        }
        let mut headers = request.headers().clone();
        LEFT_OUT.iter().for_each(|name| drop(headers.remove(name)));
        headers.insert(FORWARDED, HeaderValue::from_static("1"));
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).to_owned();
        Some(Self { method: request.method().clone(), target, headers })
    }

    /// Adds the id under which it is written down.
    pub(super) fn with_id(mut self, name: HeaderName, id: &str) -> Self {
        self.headers.extend(HeaderValue::from_str(id).ok().map(|id| (name, id)));
        self
    }

    /// Has it handled here and, where only another server can answer, or knows more, there.
    pub(super) async fn handle(&self, here: impl Future<Output = Response>) -> Response {
        let handled = async {
            let response = here.await;
            (response, UNDER_WAY.with(RefCell::take))
        };
        let (mut response, under_way) = UNDER_WAY.scope(RefCell::default(), handled).await;
        if let Some(failure) = response.extensions().get::<Failure>() {
            let Some(owner) = failure.0.elsewhere.clone() else { return response };
            response.extensions_mut().remove::<Failure>();
            return self.to(&owner, under_way.body).await.unwrap_or_else(Failure::into_response);
        }
        match under_way.who_knows() {
            // What is known here is better than nothing.
            Some(owner) if self.method == Method::GET => match self.to(owner, Bytes::new()).await {
                Ok(answer) if !answer.status().is_server_error() => answer,
                _ => response,
            },
            _ => response,
        }
    }

    /// What the server at `url` answers.
    async fn to(&self, url: &str, body: Bytes) -> Result<Response, Failure> {
        let Some(client) = CLIENT.as_ref() else {
            return Err(Failure::new(ErrorCode::NotOwner, "this server has no HTTP client"));
        };
        let url = url.trim_end_matches('/');
        let mut headers = self.headers.clone();
        // Where the request came from was checked here; the owner compares it with its own name.
        if headers.contains_key(header::ORIGIN)
            && let Ok(origin) = HeaderValue::try_from(url)
        {
            headers.insert(header::ORIGIN, origin);
        }
        let request = client.request(self.method.clone(), format!("{url}{}", self.target));
        match timeout(ANSWER_TIMEOUT, request.headers(headers).body(body).send()).await {
            Ok(Ok(answer)) => Ok(passed_back(answer)),
            Ok(Err(error)) => {
                // The address may have the token of a webhook in it.
                let (error, unsent) =
                    (error.without_url(), "the scheduler that owns the cell is not reached");
                tracing::warn!(%url, error = &error as &dyn std::error::Error, "a request was not passed on");
                Err(if error.is_connect() { Failure::new(ErrorCode::NotOwner, unsent) } else { unknown() })
            }
            Err(_) => {
                tracing::warn!(%url, "a request that was passed on is not answered");
                Err(unknown())
            }
        }
    }
}

/// Nobody knows whether it was done: callers ask again with the same key.
fn unknown() -> Failure {
    Failure::new(ErrorCode::StoreUnavailable, "the scheduler that owns the cell does not answer")
}

fn passed_back(answer: reqwest::Response) -> Response {
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut headers = answer.headers().clone();
    [header::CONNECTION, header::TRANSFER_ENCODING].iter().for_each(|name| drop(headers.remove(name)));
    let mut response = Response::new(Body::from_stream(answer.bytes_stream()));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
