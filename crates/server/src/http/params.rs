//! What stands in the path and the query of a request, read strictly: what nobody knows is refused, errors name the parameter.

use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::HeaderValue;
use axum::http::request::Parts;
use mainspring_app::PageRequest;
use mainspring_model::{ErrorCode, Namespace};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::edge::Edge;
use super::failure::Failure;

/// The query.
pub(crate) struct Query<T>(pub(crate) T);

/// The one or two parts of the path that vary, in their order, decoded.
pub(crate) struct PathParts(Vec<(String, String)>);

/// The header of this name, if there is one.
pub(crate) struct IdempotencyKey(pub(crate) Option<HeaderValue>);

/// Where something lives.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct InNamespace {
    /// Where it lives; `default` when nothing is said.
    pub(crate) namespace: Option<Namespace>,
}

/// A page of a list in a namespace.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Here and in all below; without it, everywhere that you may look.
    pub(crate) namespace: Option<Namespace>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<usize>,
    /// Where the last page ended.
    pub(crate) cursor: Option<String>,
}

/// No query at all.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoQuery {}

impl InNamespace {
    pub(crate) fn or_default(self) -> Namespace {
        self.namespace.unwrap_or_default()
    }
}

impl ListQuery {
    pub(crate) fn page(&self) -> PageRequest {
        PageRequest { limit: self.limit, cursor: self.cursor.clone() }
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Edge>> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Edge>) -> Result<Self, Failure> {
        axum::extract::Query::<T>::try_from_uri(&parts.uri).map(|query| Self(query.0)).map_err(|error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            let words = source.unwrap_or_else(|| error.to_string());
            match words.split_once(": ").filter(|(name, _)| !name.contains(' ')) {
                Some((name, message)) => Failure::field(name, in_our_words(message)),
                None => Failure::field("", words),
            }
        })
    }
}

/// What a parameter takes, where the language's own message tells what it stumbled over.
fn in_our_words(message: &str) -> &str {
    match message {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "takes a whole number that is not negative"
        }
        "number too large to fit in target type" => "is too large",
        "provided string was not `true` or `false`" => "takes `true` or `false`",
        ours => ours,
    }
}

impl PathParts {
    /// The part of this name as it is.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The part of this name, read. What cannot be read does not exist.
    pub(crate) fn read<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<T, Failure> {
        self.text(name).parse().map_err(|error| Failure::new(ErrorCode::NotFound, format!("{name}: {error}")))
    }
}

impl FromRequestParts<Arc<Edge>> for PathParts {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, edge: &Arc<Edge>) -> Result<Self, Failure> {
        let params = RawPathParams::from_request_parts(parts, edge)
            .await
            .map_err(|_| Failure::new(ErrorCode::NotFound, "the path is not UTF-8"))?;
        Ok(Self(params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
    }
}

impl FromRequestParts<Arc<Edge>> for IdempotencyKey {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Edge>) -> Result<Self, Infallible> {
        Ok(Self(parts.headers.get("idempotency-key").cloned()))
    }
}
