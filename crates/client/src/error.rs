//! What can go wrong between a caller and the API.

use mainspring_model::ErrorCode;
use mainspring_wire::api::Problem;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server answered with an error. The problem carries a stable code, what went wrong, and each wrong field.
    #[error("{}", .0.detail)]
    Api(Box<Problem>),
    /// No server answered.
    #[error("cannot reach {url}")]
    Unreachable {
        /// Where we tried.
        url: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The connection broke, or the answer took longer than the client's timeout.
    #[error("the connection to the server broke")]
    Broken(#[source] reqwest::Error),
    /// Nothing was heard for so long that the stream is given up.
    #[error("the event stream fell silent")]
    Silent,
    /// The server said something that this client does not understand.
    #[error("cannot read the server's answer: {0}")]
    Unreadable(String),
    /// The client was set up wrongly.
    #[error("{0}")]
    Setup(String),
    /// A local file could not be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl Error {
    /// The stable code, where the server gave one that this version knows.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Api(problem) => ErrorCode::parse(&problem.code),
            _ => None,
        }
    }

    /// Whether there is no such thing (or the caller may not see it).
    pub fn is_not_found(&self) -> bool {
        self.code() == Some(ErrorCode::NotFound)
    }

    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Api(problem) => problem.retry == "later",
            Self::Unreachable { .. } | Self::Broken(_) | Self::Silent => true,
            Self::Unreadable(_) | Self::Setup(_) | Self::Io(_) => false,
        }
    }

    /// An answer that is not 2xx, read as a problem whatever stands in front of the server.
    pub(crate) fn from_answer(status: reqwest::StatusCode, body: &[u8]) -> Self {
        match serde_json::from_slice::<Problem>(body) {
            Ok(problem) => Self::Api(Box::new(problem)),
            Err(_) => {
                let retry = matches!(status.as_u16(), 429 | 502 | 503 | 504);
                let words: String = String::from_utf8_lossy(body).chars().take(200).collect();
                Self::Api(Box::new(Problem {
                    kind: "about:blank".into(),
                    title: status.canonical_reason().unwrap_or("error").into(),
                    title_zh: String::new(),
                    status: status.as_u16(),
                    code: code_of(status).into(),
                    detail: format!("the server answered {status}: {}", words.trim()),
                    instance: None,
                    request_id: None,
                    retry: if retry { "later" } else { "never" }.into(),
                    errors: Vec::new(),
                }))
            }
        }
    }
}

/// The code that a bare status stands for, when something in front of the server answered.
fn code_of(status: reqwest::StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "unauthenticated",
        403 => "forbidden",
        404 => "not_found",
        409 => "conflict",
        412 => "precondition_failed",
        413 => "too_large",
        429 => "rate_limited",
        _ => "internal",
    }
}
