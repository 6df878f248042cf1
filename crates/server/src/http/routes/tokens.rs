//! Tokens, and who one is.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::{Operation, PageRequest};
use mainspring_wire::api::{CreateToken, CreatedToken, Identity, Token};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, empty, located, ok, tagged, unless_known};
use crate::http::body::OptionalJson;
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{NoQuery, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/tokens", Operation::TokenList, list)
            .or(&[Operation::TokenListAll])
            .query::<TokensQuery>()
            .answers_page::<Token>("Tokens."),
        Route::post("/v1/tokens", Operation::TokenCreate, create)
            .or(&[Operation::TokenCreateOther])
            .optional_body::<CreateToken>()
            .answers::<CreatedToken>(201, "The token and, this once, its secret."),
        Route::get("/v1/tokens/{token}", Operation::TokenGet, get)
            .or(&[Operation::TokenGetOther])
            .answers::<Token>(200, "The token."),
        Route::delete("/v1/tokens/{token}", Operation::TokenDelete, delete)
            .or(&[Operation::TokenDeleteOther])
            .conditional()
            .answers_raw(204, "It is good for nothing any more.", None),
        Route::get("/v1/me", Operation::Me, me).answers::<Identity>(200, "Who asks."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TokensQuery {
    /// Everybody's and not only one's own.
    #[serde(default)]
    all: bool,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Where the last page ended.
    cursor: Option<String>,
}

type Context = State<Arc<Edge>>;

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<TokensQuery>) -> Answer {
    let page = PageRequest { limit: query.limit, cursor: query.cursor };
    ok(&edge.app.list_tokens(&caller, query.all, &page).await?)
}

async fn create(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(NoQuery {}): Query<NoQuery>,
    OptionalJson(request): OptionalJson<CreateToken>,
) -> Answer {
    let created = edge.app.create_token(&caller, request).await?;
    let path = format!("/v1/tokens/{}", created.token.id);
    located(tagged(StatusCode::CREATED, &created, created.token.revision), &path)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
) -> Answer {
    let token = edge.app.token(&caller, path.text("token")).await?;
    unless_known(&headers, &token, token.revision)
}

async fn delete(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(NoQuery {}): Query<NoQuery>,
    headers: HeaderMap,
) -> Answer {
    edge.app.delete_token(&caller, path.text("token"), condition(&headers)?).await?;
    empty()
}

async fn me(State(edge): Context, SignedIn(caller): SignedIn, Query(NoQuery {}): Query<NoQuery>) -> Answer {
    ok(&edge.app.me(&caller).await?)
}
