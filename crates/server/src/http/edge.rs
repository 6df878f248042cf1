//! The edge as a whole: what handlers share, and the router of all routes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use futures_util::future::BoxFuture;
use mainspring_app::App;
use mainspring_console::Console;
use mainspring_model::ErrorCode;
use mainspring_wire::api::Settings;
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::peers::Peers;
use super::{console, frame, routes};
use crate::listener::WrongCredentials;

/// Tells what the process still waits for; nothing when it is ready.
pub type Readiness = Arc<dyn Fn() -> BoxFuture<'static, Vec<String>> + Send + Sync>;

/// What handlers share.
#[derive(Clone)]
pub struct Edge {
    /// The use cases.
    pub app: Arc<App>,
    /// Whether anybody may ask; otherwise only other servers of the cluster, for somebody.
    pub is_public: bool,
    /// Whether the process is ready.
    pub readiness: Readiness,
    /// Whether cookies are only for encrypted connections: whether the server's own URL is `https`.
    pub secure_cookies: bool,
    /// The files of the web console.
    pub console: Console,
    /// How often an open stream makes sure that its caller may still listen.
    pub recheck_every: Duration,
    /// The settings in force.
    pub settings: Settings,
    /// Counts wrong credentials by address.
    pub wrong_credentials: Arc<WrongCredentials>,
    /// Asks the other servers of the cluster.
    pub peers: Arc<Peers>,
    /// Ends open streams when the process stops.
    pub stop: CancellationToken,
}

/// All routes. Whatever else is asked for is the console's, or answered with a problem, too.
pub fn router(edge: Edge) -> Router {
    let edge = Arc::new(edge);
    let mut paths: Vec<(&'static str, MethodRouter<Arc<Edge>>)> = Vec::new();
    for route in routes::all() {
        let (path, handler) = route.into_handler();
        match paths.iter_mut().find(|(known, _)| *known == path) {
            Some((_, methods)) => *methods = std::mem::take(methods).merge(handler),
            None => paths.push((path, handler)),
        }
    }
    let mut router = Router::new();
    for (path, methods) in paths {
        router = router.route(path, methods.fallback(not_allowed));
    }
    router
        .fallback(not_found)
        .layer(axum::middleware::from_fn_with_state(edge.clone(), frame::frame))
        .with_state(edge)
}

/// A caller of gRPC reads no problems: it is told in its own words (12 is "unimplemented").
async fn not_found(State(edge): State<Arc<Edge>>, request: Request) -> Response {
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/grpc") {
        return ([(header::CONTENT_TYPE, "application/grpc")], [("grpc-status", "12")]).into_response();
    }
    let page = console::other(&edge, &request);
    page.unwrap_or_else(|| Failure::new(ErrorCode::NotFound, "there is nothing at this path").into_response())
}

async fn not_allowed() -> Failure {
    Failure::new(ErrorCode::MethodNotAllowed, "the path exists, but not with this method")
}
