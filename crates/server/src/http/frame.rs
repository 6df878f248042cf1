//! What every request gets: an id that is answered, problems written out, an entry of the audit when a change failed before
//! anybody wrote one, and a sane answer to `OPTIONS`.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mainspring_app::{Origin, audit};
use mainspring_model::ErrorCode;

use super::caller::address;
use super::edge::Edge;
use super::failure::Failure;
use super::forward::{Passable, is_forwarded};

/// The header with the request's id, both ways.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Characters of an id that is taken over.
const REQUEST_ID_MAX: usize = 128;
/// What every server answers.
const WITHOUT_API: [&str; 2] = ["/healthz", "/readyz"];

/// The request's id.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) Arc<str>);

/// Goes around every handler.
pub(crate) async fn frame(State(edge): State<Arc<Edge>>, mut request: Request, next: Next) -> Response {
    let id = request_id(&edge, &request);
    request.extensions_mut().insert(RequestId(id.clone()));
    let is_options = request.method() == Method::OPTIONS;
    let target = request.uri().clone();
    let from = address(request.extensions());
    // Who owns every cell passes nothing on.
    let (passable, request) = match edge.app.owns_all() {
        true => (None, request),
        false => Passable::of(request, &id, &edge),
    };
    let (mut response, observed) = audit::observe(handle(&edge, passable, request, next)).await;
    if is_options && response.status() == StatusCode::METHOD_NOT_ALLOWED {
        let allow = response.headers().get(header::ALLOW).cloned();
        response = StatusCode::NO_CONTENT.into_response();
        response.headers_mut().extend(allow.map(|allow| (header::ALLOW, allow)));
    } else if let Some(failure) = response.extensions_mut().remove::<Failure>() {
        log(&failure, &id);
        let from = Origin { request_id: Some(id.clone()), address: from };
        edge.app.note_failed(observed, &failure.0, from).await;
        let path = target.path_and_query().map_or("/", |target| target.as_str());
        let plain = response;
        response = failure.render(path, &id);
        for (name, value) in plain.headers() {
            response.headers_mut().entry(name).or_insert_with(|| value.clone());
        }
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Answers here or, where only another server can, there: then it is written down there.
async fn handle(edge: &Edge, passable: Option<Arc<Passable>>, request: Request, next: Next) -> Response {
    let is_for_all = edge.is_public || WITHOUT_API.contains(&request.uri().path());
    if !is_for_all && !is_forwarded(request.headers()) {
        let message = "this server has the role `scheduler` alone; ask one with the role `api`";
        return Failure::new(ErrorCode::NotFound, message).into_response();
    }
    match passable {
        Some(passable) => passable.handle(request, next).await,
        None => next.run(request).await,
    }
}

/// The caller's id, if it is fit for a log; otherwise one of our own.
fn request_id(edge: &Edge, request: &Request) -> Arc<str> {
    let given = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let fits = |id: &&str| {
        (1..=REQUEST_ID_MAX).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte))
    };
    match given.filter(fits) {
        Some(id) => id.into(),
        None => {
            let mut id = String::with_capacity(20);
            // Writing to a string does not fail.
            let _ = write!(id, "req_{:016x}", edge.app.random().request_id());
            id.into()
        }
    }
}

/// Our own faults are for the log, with the id under which the caller asks about them.
fn log(failure: &Failure, id: &str) {
    match failure.0.code {
        ErrorCode::Internal => {
            tracing::error!(request_id = id, detail = failure.0.message, "a request failed")
        }
        code => tracing::debug!(request_id = id, %code, detail = failure.0.message, "a request was refused"),
    }
}
