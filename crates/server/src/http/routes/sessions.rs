//! Sessions of the console: a cookie for a login code or a token.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use mainspring_app::Operation;
use mainspring_model::ErrorCode;
use mainspring_wire::api::{LoginCode, LoginCodeRequest, Session, SessionRequest};

use crate::http::answer::{Answer, empty, json};
use crate::http::body::{Json, OptionalJson};
use crate::http::caller::{Anonymous, Guess, SignedIn, cookie_name};
use crate::http::edge::Edge;
use crate::http::failure::Failure;
use crate::http::origin;
use crate::http::params::{NoQuery, Query};
use crate::http::route::Route;

/// Bytes of a request that comes before anybody has authenticated.
const SESSION_BYTES_MAX: usize = 16 << 10;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/sessions", Operation::SessionCreate, create)
            .body::<SessionRequest>()
            .answers::<Session>(201, "The session; its secret is in the cookie."),
        Route::delete("/v1/sessions", Operation::SessionDelete, delete).answers_raw(
            204,
            "The session is over.",
            None,
        ),
        Route::post("/v1/login-codes", Operation::LoginCodeCreate, code)
            .optional_body::<LoginCodeRequest>()
            .answers::<LoginCode>(201, "The code."),
    ]
}

type Context = State<Arc<Edge>>;

async fn create(
    State(edge): Context,
    Anonymous(from): Anonymous,
    Query(NoQuery {}): Query<NoQuery>,
    (headers, target, extensions): (HeaderMap, Uri, Extensions),
    Json(request): Json<SessionRequest, SESSION_BYTES_MAX>,
) -> Answer {
    // Another site must not sign its visitors in here as somebody else.
    if headers.contains_key(header::ORIGIN) && !origin::is_same(&headers, &target) {
        let message = "sessions are opened from this server's own pages";
        return Err(Failure::new(ErrorCode::Forbidden, message));
    }
    let guess = Guess::of(&extensions, &edge);
    guess.check()?;
    let opened = guess.judge(edge.app.open_session(request, &from).await)?;
    let seconds = opened.session.expires_at.0.since(edge.app.now()).as_secs();
    let response = json(StatusCode::CREATED, &opened.session)?;
    Ok(with_cookie(response, &edge, &opened.secret, seconds))
}

async fn delete(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(NoQuery {}): Query<NoQuery>,
) -> Answer {
    edge.app.end_session(&caller).await?;
    Ok(with_cookie(empty()?, &edge, "", 0))
}

async fn code(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(NoQuery {}): Query<NoQuery>,
    OptionalJson(request): OptionalJson<LoginCodeRequest>,
) -> Answer {
    json(StatusCode::CREATED, &edge.app.create_login_code(&caller, request).await?)
}

/// Scripts cannot read the cookie, and other sites cannot send it.
fn with_cookie(mut response: Response, edge: &Edge, secret: &str, seconds: u64) -> Response {
    let secure = if edge.secure_cookies { "; Secure" } else { "" };
    let name = cookie_name(edge.secure_cookies);
    let cookie = format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    if let Ok(mut cookie) = HeaderValue::try_from(cookie) {
        cookie.set_sensitive(true);
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
