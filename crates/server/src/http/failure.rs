//! Errors on the wire: the one table from codes to status codes, and `application/problem+json`.
//!
//! A handler's error travels to `frame` inside an empty response, because only there the request's id and path are known.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mainspring_app::Error;
use mainspring_model::ErrorCode;
use mainspring_model::error::Retry;
use mainspring_wire::api::Problem;

/// When to ask again, if nothing better is known.
const RETRY_AFTER_LEAST: Duration = Duration::from_secs(1);
/// What follows in such a path is a credential.
const HOOKS: &str = "/v1/hooks/";

/// An error on its way to the caller.
#[derive(Debug, Clone)]
pub(crate) struct Failure(pub(crate) Error);

impl Failure {
    /// An error of the edge itself.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Error::new(code, message))
    }

    /// A field or parameter that is wrong.
    pub(crate) fn field(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self(Error::field(ErrorCode::InvalidRequest, path, message))
    }

    /// The status code.
    pub(crate) fn status(&self) -> StatusCode {
        let names_fields = !self.0.fields.is_empty();
        match self.0.code {
            ErrorCode::InvalidRequest if names_fields => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::InvalidRequest => StatusCode::BAD_REQUEST,
            ErrorCode::InvalidSpec
            | ErrorCode::InvalidParameter
            | ErrorCode::InvalidTemplate
            | ErrorCode::InvalidQuery
            | ErrorCode::IdempotencyMismatch => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::TooLarge if names_fields => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::Unauthenticated => StatusCode::UNAUTHORIZED,
            ErrorCode::Forbidden => StatusCode::FORBIDDEN,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::AlreadyExists
            | ErrorCode::Conflict
            | ErrorCode::IllegalState
            | ErrorCode::Inactive
            | ErrorCode::StaleToken => StatusCode::CONFLICT,
            ErrorCode::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            ErrorCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            ErrorCode::NotOwner | ErrorCode::QueueFull | ErrorCode::StoreUnavailable => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The whole answer. `target` is the path and query that were asked.
    pub(crate) fn render(&self, target: &str, request_id: &str) -> Response {
        let status = self.status();
        let Error { code, message, fields, .. } = &self.0;
        let path = match target.split('?').next().unwrap_or(target) {
            // A credential: it is not for the places where problems end up.
            path if path.starts_with(HOOKS) => HOOKS,
            path => path,
        };
        let problem = Problem {
            kind: format!("https://mainspring.dev/errors/{code}"),
            title: code.help().to_owned(),
            title_zh: code.help_zh().to_owned(),
            status: status.as_u16(),
            code: code.name().to_owned(),
            detail: message.clone(),
            instance: Some(path.to_owned()),
            request_id: Some(request_id.to_owned()),
            retry: match code.retry() {
                Retry::Never => "never",
                Retry::AfterRefresh => "after_refresh",
                Retry::Later => "later",
            }
            .to_owned(),
            errors: fields.clone(),
        };
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"mainspring\""));
        }
        if code.retry() == Retry::Later {
            let wait = self.0.retry_after.unwrap_or(RETRY_AFTER_LEAST).max(RETRY_AFTER_LEAST);
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The answer to a request that no handler sees.
pub(crate) fn problem(code: ErrorCode, message: &str, target: &str) -> Response {
    Failure::new(code, message).render(target, "none")
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}
