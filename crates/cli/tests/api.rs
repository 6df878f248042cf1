//! A server that answers as the API does, on a real socket, in a thread of its own.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::{Value, json};

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

type Answer = Arc<dyn Fn(&str) -> Response + Send + Sync>;
type Shared = (Answer, Arc<Mutex<Vec<Asked>>>);

/// A server and what it was asked.
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    _runtime: tokio::runtime::Runtime,
}

impl Api {
    /// Answers by the request's line, `GET /v1/runs`.
    pub(crate) fn start(answer: impl Fn(&str) -> Response + Send + Sync + 'static) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let shared: Shared = (Arc::new(answer), Arc::clone(&asked));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().fallback(serve).with_state(shared);
        runtime.spawn(async move { axum::serve(listener, routes).await });
        Self { address, asked, _runtime: runtime }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(State((answer, all)): State<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let line = format!("{} {}", parts.method, parts.uri);
    // A job file goes as it is.
    let text = || Value::from(String::from_utf8_lossy(&body).into_owned());
    let body = serde_json::from_slice(&body).unwrap_or_else(|_| text());
    all.lock().unwrap().push(Asked { line: line.clone(), headers: parts.headers, body });
    answer(&line)
}

pub(crate) fn answer(status: u16, body: &Value) -> Response {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(body.to_string())).unwrap()
}

pub(crate) fn problem(status: u16, code: &str, errors: &Value) -> Response {
    let body = json!({
        "type": "about:blank", "title": "a title", "status": status, "code": code, "detail": format!("it is {code}"),
        "retry": "never", "request_id": "req-7", "errors": errors,
    });
    answer(status, &body)
}

pub(crate) fn events(text: &str) -> Response {
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(Body::from(text.to_owned())).unwrap()
}

/// A problem that goes away by itself.
pub(crate) fn problem_later(status: u16, code: &str) -> Response {
    let body = json!({
        "type": "about:blank", "title": "a title", "status": status, "code": code, "detail": format!("it is {code}"),
        "retry": "later",
    });
    answer(status, &body)
}
