//! Who asks: a token in `Authorization`, or the cookie of a session. Everything else is `401`.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};
use mainspring_app::{Caller, Origin, audit};
use mainspring_model::ErrorCode;

use super::edge::Edge;
use super::failure::Failure;
use super::forward::is_forwarded;
use super::frame::RequestId;
use super::origin;

/// The cookie of a session.
pub(crate) const COOKIE: &str = "mainspring_session";

/// A caller who is signed in.
pub(crate) struct SignedIn(pub(crate) Caller);

/// A caller of whom nothing is known.
pub(crate) struct Anonymous(pub(crate) Origin);

impl FromRequestParts<Arc<Edge>> for SignedIn {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, edge: &Arc<Edge>) -> Result<Self, Failure> {
        let secret = match bearer(&parts.headers)? {
            Some(secret) => secret,
            None => {
                let cookie = session(&parts.headers).ok_or_else(unknown)?;
                if !parts.method.is_safe() && !origin::is_same(&parts.headers, &parts.uri) {
                    let message = "the request came with a cookie, but not from this server's own pages";
                    return Err(Failure::new(ErrorCode::Forbidden, message));
                }
                cookie
            }
        };
        let reads_since = is_forwarded(&parts.headers).then(Instant::now);
        let principal = edge.app.authenticate_since(secret, reads_since).await?;
        let (request_id, from) = (request_id(parts), address(&parts.extensions));
        let caller = Caller { principal, request_id, from, reads_since };
        // What fails after this is written down under their name.
        audit::asked_by(&caller);
        Ok(Self(caller))
    }
}

impl FromRequestParts<Arc<Edge>> for Anonymous {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Edge>) -> Result<Self, Failure> {
        Ok(Self(Origin { request_id: request_id(parts), address: address(&parts.extensions) }))
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Failure> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let text = value.to_str().map_err(|_| unknown())?;
    match text.split_once(' ') {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(secret.trim())),
        _ => Err(unknown()),
    }
}

pub(super) fn session(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

fn request_id(parts: &Parts) -> Option<Arc<str>> {
    parts.extensions.get::<RequestId>().map(|id| id.0.clone())
}

/// From where a request comes.
pub(crate) fn address(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip())
}

fn unknown() -> Failure {
    Failure::new(ErrorCode::Unauthenticated, "send `Authorization: Bearer ms_…`, or sign in")
}
