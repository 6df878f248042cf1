//! Artifacts: files by the digest of their content.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use futures_util::TryStreamExt;
use mainspring_app::{Error, Operation, Upload, parse_range};
use mainspring_model::spec::Digest;
use mainspring_model::{ErrorCode, Namespace};
use mainspring_wire::api::Artifact;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::http::answer::{Answer, empty, located, ok, tagged, unless_known};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{InNamespace, ListQuery, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/artifacts", Operation::ArtifactList, list)
            .query::<ListQuery>()
            .answers_page::<Artifact>("Files, by digest."),
        Route::post("/v1/artifacts", Operation::ArtifactPut, upload)
            .query::<UploadQuery>()
            .note(|doc| {
                let bytes = json!({"type": "string", "format": "binary"});
                doc.raw_body(&["application/octet-stream"], &bytes, true);
            })
            .answers::<Artifact>(200, "The namespace had it already.")
            .answers::<Artifact>(201, "The file is kept."),
        Route::get("/v1/artifacts/{digest}", Operation::ArtifactGet, get)
            .query::<InNamespace>()
            .answers::<Artifact>(200, "What is known about it."),
        Route::get("/v1/artifacts/{digest}/content", Operation::ArtifactContent, content)
            .query::<InNamespace>()
            .header("Range", "A part, such as `bytes=0-1023`.")
            .answers_raw(200, "The file.", Some("application/octet-stream"))
            .answers_raw(206, "The part.", Some("application/octet-stream"))
            .answers_raw(416, "The file has no such part.", None),
        Route::delete("/v1/artifacts/{digest}", Operation::ArtifactDelete, delete)
            .query::<InNamespace>()
            .conditional()
            .answers_raw(204, "It is gone.", None),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct UploadQuery {
    /// Where it belongs; `default` when nothing is said.
    namespace: Option<Namespace>,
    /// What it is called, for people.
    #[serde(default)]
    #[param(max_length = 255)]
    name: String,
    /// How long it is kept, such as `30d`; for ever when nothing is said. What a job or a run names is kept for longer.
    ttl: Option<String>,
    /// What its content must be.
    digest: Option<Digest>,
}

type Context = State<Arc<Edge>>;

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<ListQuery>) -> Answer {
    ok(&edge.app.list_artifacts(&caller, query.namespace.as_ref(), &query.page()).await?)
}

async fn upload(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> Answer {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let upload = Upload {
        namespace: query.namespace.unwrap_or_default(),
        name: query.name,
        content_type: content_type.map(Into::into),
        ttl: query.ttl,
        digest: query.digest,
        content: Box::pin(request.into_body().into_data_stream().map_err(std::io::Error::other)),
    };
    let (artifact, is_new) = edge.app.put_artifact(&caller, upload).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let path = format!("/v1/artifacts/{}?namespace={}", artifact.digest, artifact.namespace);
    located(tagged(status, &artifact, artifact.revision), &path)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    let artifact = edge.app.artifact(&caller, &query.or_default(), path.read("digest")?).await?;
    unless_known(&headers, &artifact, artifact.revision)
}

async fn content(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    let digest: Digest = path.read("digest")?;
    let wanted = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    let mut part = None;
    let mut missing = None;
    let range = |length: u64| match wanted.map_or(Ok(None), |header| parse_range(header, length)) {
        Ok(range) => {
            part = range.clone().map(|range| (range, length));
            Ok(range)
        }
        Err(error) => {
            missing = Some(error.length);
            Err(Error::new(ErrorCode::InvalidRequest, error.to_string()))
        }
    };
    let found = edge.app.artifact_content(&caller, &query.or_default(), digest, range).await;
    if let Some(length) = missing {
        let range = format!("bytes */{length}");
        return Ok((StatusCode::RANGE_NOT_SATISFIABLE, [(header::CONTENT_RANGE, range)]).into_response());
    }
    let found = found?;
    let mut response = Body::from_stream(found.content).into_response();
    let headers = response.headers_mut();
    // Never as a page of ours: a file is data, whatever its uploader says it is.
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.extend(HeaderValue::try_from(format!("\"{digest}\"")).map(|tag| (header::ETAG, tag)));
    let length = part.as_ref().map_or(found.artifact.bytes, |(range, _)| range.end - range.start);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if let Some((range, length)) = part {
        let told = format!("bytes {}-{}/{length}", range.start, range.end.saturating_sub(1));
        headers.extend(HeaderValue::try_from(told).map(|told| (header::CONTENT_RANGE, told)));
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

async fn delete(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    let (namespace, condition) = (query.or_default(), condition(&headers)?);
    edge.app.delete_artifact(&caller, &namespace, path.read("digest")?, condition).await?;
    empty()
}
