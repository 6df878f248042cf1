//! Calls of webhooks. Nobody signs in: the token in the path is the credential.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::{HookRequest, Operation};
use mainspring_wire::api::Delivered;
use serde_json::json;

use crate::http::answer::{Answer, json, located};
use crate::http::body::{media_type, read};
use crate::http::caller::{Anonymous, Guess};
use crate::http::edge::Edge;
use crate::http::params::PathParts;
use crate::http::route::Route;

/// Bytes of a call: as many as parameters may have.
const CALL_BYTES_MAX: usize = mainspring_model::limits::PARAMS_BYTES_MAX;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/hooks/{token}", Operation::HookCall, call)
            .note(|doc| {
                doc.raw_body(&["application/json", "application/x-www-form-urlencoded"], &json!({}), false);
            })
            .answers::<Delivered>(200, "The run of an earlier call of the same delivery.")
            .answers::<Delivered>(201, "The run is durable."),
    ]
}

async fn call(
    State(edge): State<Arc<Edge>>,
    Anonymous(from): Anonymous,
    path: PathParts,
    request: Request,
) -> Answer {
    let headers = request.headers().clone();
    let media_type = media_type(&headers);
    let guess = Guess::of(request.extensions(), &edge);
    guess.check()?;
    let body = read(request, CALL_BYTES_MAX).await?;
    let request = HookRequest {
        token: path.text("token"),
        body: &body,
        media_type: media_type.as_deref(),
        headers: texts(&headers),
    };
    let delivered = guess.judge(edge.app.call_hook(request, &from).await)?;
    let status = if delivered.duplicate { StatusCode::OK } else { StatusCode::CREATED };
    located(json(status, &delivered), &format!("/v1/runs/{}", delivered.id))
}

/// The headers that are text. Those that come more than once are one, with commas, as is usual.
fn texts(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let Ok(value) = value.to_str() else { continue };
        texts
            .entry(name.as_str().to_owned())
            .and_modify(|text| *text = format!("{text}, {value}"))
            .or_insert_with(|| value.to_owned());
    }
    texts
}
