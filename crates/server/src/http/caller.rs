//! Who asks: a token in `Authorization`, or the cookie of a session. Everything else is `401`.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};
use mainspring_app::{Caller, Error, Origin, audit};
use mainspring_model::ErrorCode;

use super::edge::Edge;
use super::failure::Failure;
use super::forward::is_forwarded;
use super::frame::RequestId;
use super::origin;
use crate::listener::Peer;

/// The cookie of a session.
const COOKIE: &str = "mainspring_session";
/// The same where the server has TLS: browsers take it from this very origin only, and send it there only.
const COOKIE_OF_HOST: &str = "__Host-mainspring_session";

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
                let cookie = session(&parts.headers, edge).ok_or_else(unknown)?;
                if !parts.method.is_safe() && !origin::is_same(&parts.headers, &parts.uri) {
                    let message = "the request came with a cookie, but not from this server's own pages";
                    return Err(Failure::new(ErrorCode::Forbidden, message));
                }
                cookie
            }
        };
        let reads_since = is_forwarded(&parts.headers).then(Instant::now);
        let guess = Guess::of(&parts.extensions, edge);
        if !edge.app.remembers(secret) {
            guess.check()?;
        }
        let principal = guess.judge(edge.app.authenticate_since(secret, reads_since).await)?;
        let (request_id, from) = (request_id(parts), address(&parts.extensions));
        let caller = Caller { principal, request_id, from, reads_since };
        // What fails after this is written down under their name.
        audit::asked_by(&caller);
        edge.app.note_use(&caller);
        Ok(Self(caller))
    }
}

/// A credential that is shown and may be wrong.
pub(crate) struct Guess {
    edge: Arc<Edge>,
    peer: Option<Peer>,
}

impl Guess {
    pub(crate) fn of(extensions: &Extensions, edge: &Arc<Edge>) -> Self {
        Self { edge: Arc::clone(edge), peer: Peer::of(extensions).cloned() }
    }

    /// Fails when the address has shown too many wrong ones. Who has shown a good one on this connection may go on.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.peer.as_ref().is_some_and(Peer::is_authenticated) {
            return Ok(());
        }
        self.edge.wrong_credentials.check(self.address()).map_err(too_many)
    }

    /// Notes whether it was right.
    pub(crate) fn judge<T>(&self, answer: Result<T, Error>) -> Result<T, Failure> {
        match (&answer, &self.peer) {
            (Ok(_), Some(peer)) => peer.authenticated(),
            (Err(error), _) if error.code == ErrorCode::Unauthenticated => {
                self.edge.wrong_credentials.count(self.address());
            }
            _ => {}
        }
        Ok(answer?)
    }

    fn address(&self) -> Option<IpAddr> {
        self.peer.as_ref().map(|peer| peer.address)
    }
}

fn too_many(wait: Duration) -> Failure {
    let message = "too many wrong credentials came from this address; wait, and look at the token";
    Failure(Error { retry_after: Some(wait), ..Error::new(ErrorCode::RateLimited, message) })
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

/// The name of the cookie.
pub(crate) fn cookie_name(is_secure: bool) -> &'static str {
    if is_secure { COOKIE_OF_HOST } else { COOKIE }
}

/// The secret of a session. Another server that passes a request on has the cookie under the name that its own URL asks for.
pub(super) fn session<'a>(headers: &'a HeaderMap, edge: &Edge) -> Option<&'a str> {
    let own = cookie_name(edge.secure_cookies);
    cookie(headers, own).or_else(|| {
        let other = cookie_name(!edge.secure_cookies);
        is_forwarded(headers).then(|| cookie(headers, other)).flatten()
    })
}

fn cookie<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

fn request_id(parts: &Parts) -> Option<Arc<str>> {
    parts.extensions.get::<RequestId>().map(|id| id.0.clone())
}

/// From where a request comes.
pub(crate) fn address(extensions: &Extensions) -> Option<IpAddr> {
    Peer::of(extensions).map(|peer| peer.address)
}

fn unknown() -> Failure {
    Failure::new(ErrorCode::Unauthenticated, "send `Authorization: Bearer ms_…`, or sign in")
}
