//! A server whose answers the test decides, on a real socket.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use mainspring_client::Client;

type Answer = Arc<dyn Fn(&Asked) -> Response + Send + Sync>;

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// How many came before it.
    pub(crate) number: usize,
    pub(crate) line: String,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

#[derive(Clone)]
struct Shared {
    answer: Answer,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// A server and what it was asked.
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Api {
    pub(crate) async fn start(answer: impl Fn(&Asked) -> Response + Send + Sync + 'static) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let shared = Shared { answer: Arc::new(answer), asked: Arc::clone(&asked) };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().fallback(serve).with_state(shared);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, asked }
    }

    pub(crate) fn client(&self) -> Client {
        Client::builder(format!("http://{}", self.address)).token("ms_test").build().unwrap()
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(State(shared): State<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let asked = {
        let mut all = shared.asked.lock().unwrap();
        let asked = Asked {
            number: all.len(),
            line: format!("{} {}", parts.method, parts.uri),
            headers: parts.headers,
            body: String::from_utf8_lossy(&body).into_owned(),
        };
        all.push(asked.clone());
        asked
    };
    (shared.answer)(&asked)
}

pub(crate) fn json(status: u16, body: serde_json::Value) -> Response {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(body.to_string())).unwrap()
}

pub(crate) fn problem(status: u16, code: &str, retry: &str) -> Response {
    let body = serde_json::json!({
        "type": "about:blank", "title": "a title", "status": status, "code": code, "detail": format!("it is {code}"),
        "retry": retry,
    });
    json(status, body)
}

/// An event stream that says this and hangs up.
pub(crate) fn events(text: &str) -> Response {
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(Body::from(text.to_owned())).unwrap()
}
