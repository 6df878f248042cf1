//! Jobs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mainspring_app::{Operation, PageRequest, PutJob, Sourced};
use mainspring_model::{JobSpec, Namespace};
use mainspring_wire::api::{self, JobOrder, JobWith, NoteRequest, PutOutcome, VersionOrigin};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, empty, located, ok, tagged, unless_known};
use crate::http::body::{OptionalJson, SpecText};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::{InNamespace, PathParts, Query};
use crate::http::route::Route;
use crate::http::tag::condition;

pub(super) fn routes() -> Vec<Route> {
    let put = Route::put("/v1/jobs/{job}", Operation::JobPut, put)
        .query::<PutQuery>()
        .conditional()
        .header("If-None-Match", "`*`: only if there is none.")
        .answers::<api::Job>(200, "The job as it is now.")
        .answers::<api::Job>(201, "The job that was made.")
        .note(|doc| {
            let spec = doc.knows::<JobSpec>();
            doc.raw_body(&["application/json", "application/yaml", "application/toml"], &spec, true);
        });
    let validate = Route::post("/v1/jobs/validate", Operation::JobValidate, validate)
        .query::<ValidateQuery>()
        .answers::<api::Validation>(200, "What is wrong with it; it may be nothing.")
        .note(|doc| {
            let spec = doc.knows::<JobSpec>();
            doc.raw_body(&["application/json", "application/yaml", "application/toml"], &spec, true);
        });
    vec![
        validate,
        Route::get("/v1/jobs", Operation::JobList, list)
            .query::<JobsQuery>()
            .answers_page::<api::Job>("Jobs."),
        Route::get("/v1/jobs/{job}", Operation::JobGet, get)
            .query::<InNamespace>()
            .answers::<api::Job>(200, "The job."),
        put,
        Route::delete("/v1/jobs/{job}", Operation::JobDelete, delete)
            .query::<InNamespace>()
            .conditional()
            .answers_raw(204, "It is gone.", None),
        Route::post("/v1/jobs/{job}/confirm", Operation::JobConfirm, confirm)
            .query::<InNamespace>()
            .answers_raw(204, "What is stored of it counts: no firing goes by an older version.", None),
        Route::get("/v1/jobs/{job}/versions", Operation::JobVersions, versions)
            .query::<VersionsQuery>()
            .answers_page::<api::JobVersion>("Versions, newest first."),
        Route::get("/v1/jobs/{job}/versions/{version}", Operation::JobVersion, version)
            .query::<InNamespace>()
            .answers::<api::JobVersion>(200, "The version."),
        Route::get("/v1/jobs/{job}/diff", Operation::JobDiff, diff)
            .query::<DiffQuery>()
            .answers::<api::JobDiff>(200, "What differs."),
        Route::get("/v1/jobs/{job}/dependents", Operation::JobDependents, dependents)
            .query::<InNamespace>()
            .answers::<api::Dependents>(200, "The triggers that follow or need it."),
        Route::post("/v1/jobs/{job}/pause", Operation::JobPause, pause)
            .query::<InNamespace>()
            .conditional()
            .optional_body::<NoteRequest>()
            .answers::<api::Job>(200, "The job."),
        Route::post("/v1/jobs/{job}/resume", Operation::JobResume, resume)
            .query::<InNamespace>()
            .conditional()
            .optional_body::<NoteRequest>()
            .answers::<api::Job>(200, "The job."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct JobsQuery {
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
    /// Words that are all part of `namespace/name`, in any case and order.
    #[param(max_length = 1024)]
    q: Option<String>,
    /// Labels of the current version, as a selector: `team=data,tier in (a, b),!legacy`.
    #[param(max_length = 4096)]
    label: Option<String>,
    /// The order; without it, as they were made. A cursor belongs to its order.
    #[param(inline)]
    order: Option<JobOrder>,
    /// `health`: how each fares, and its labels. Then a page has at most 100 jobs.
    #[param(inline)]
    with: Option<JobWith>,
    /// With what they say.
    #[serde(default)]
    spec: bool,
    /// At most so many items. With `q` or `label` a page may have fewer, or none, although more follow: at most 10,000 jobs
    /// are looked at for one answer, 2,000 with `label`.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Where the last page ended.
    cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PutQuery {
    /// Where it lives; `default` when nothing is said.
    namespace: Option<Namespace>,
    /// Only tell what would change.
    #[serde(default)]
    dry_run: bool,
    /// Why, for those who come after: it stands beside the version.
    #[serde(default)]
    #[param(max_length = 4096)]
    note: String,
    /// With what it is put; without it, `api`.
    #[serde(default)]
    #[param(inline)]
    origin: VersionOrigin,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ValidateQuery {
    /// Where it would live; `default` when nothing is said.
    namespace: Option<Namespace>,
    /// The job that it would be put as, by name or id; without it, the one that it names.
    job: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct VersionsQuery {
    /// Where it lives; `default` when nothing is said.
    namespace: Option<Namespace>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Where the last page ended.
    cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DiffQuery {
    /// Where it lives; `default` when nothing is said.
    namespace: Option<Namespace>,
    /// The one version; without it, the one before `to`.
    from: Option<u32>,
    /// The other; without it, the current one.
    to: Option<u32>,
}

type Context = State<Arc<Edge>>;

async fn list(State(edge): Context, SignedIn(caller): SignedIn, Query(query): Query<JobsQuery>) -> Answer {
    let query = mainspring_app::JobsQuery {
        page: PageRequest { limit: query.limit, cursor: query.cursor },
        namespace: query.namespace,
        q: query.q,
        label: query.label,
        order: query.order.unwrap_or_default(),
        with_spec: query.spec,
        with: query.with,
    };
    ok(&edge.app.list_jobs(&caller, &query).await?)
}

async fn get(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    let job = edge.app.job(&caller, &query.or_default(), path.text("job")).await?;
    unless_known(&headers, &job, job.revision)
}

async fn put(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<PutQuery>,
    headers: HeaderMap,
    SpecText { text, format }: SpecText,
) -> Answer {
    let request = PutJob {
        namespace: query.namespace.unwrap_or_default(),
        job: path.text("job"),
        source: Sourced { text: &text, format, note: &query.note, origin: query.origin },
        condition: condition(&headers)?,
        dry_run: query.dry_run,
    };
    let job = edge.app.put_job(&caller, request).await?;
    match job.outcome {
        Some(PutOutcome::Created) if !query.dry_run => {
            let path = format!("/v1/jobs/{}?namespace={}", job.name, job.namespace);
            located(tagged(StatusCode::CREATED, &job, job.revision), &path)
        }
        _ => tagged(StatusCode::OK, &job, job.revision),
    }
}

async fn validate(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    Query(query): Query<ValidateQuery>,
    SpecText { text, format }: SpecText,
) -> Answer {
    let namespace = query.namespace.unwrap_or_default();
    ok(&edge.app.validate_job(&caller, &namespace, query.job.as_deref(), (&text, format)).await?)
}

async fn delete(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
) -> Answer {
    edge.app.delete_job(&caller, &query.or_default(), path.text("job"), condition(&headers)?).await?;
    empty()
}

async fn confirm(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
) -> Answer {
    edge.app.confirm_job(&caller, &query.or_default(), path.text("job")).await?;
    empty()
}

async fn versions(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<VersionsQuery>,
) -> Answer {
    let page = PageRequest { limit: query.limit, cursor: query.cursor };
    let namespace = query.namespace.unwrap_or_default();
    ok(&edge.app.list_job_versions(&caller, &namespace, path.text("job"), &page).await?)
}

async fn version(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
) -> Answer {
    let number = path.read("version")?;
    ok(&edge.app.job_version(&caller, &query.or_default(), path.text("job"), number).await?)
}

async fn diff(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<DiffQuery>,
) -> Answer {
    let namespace = query.namespace.unwrap_or_default();
    ok(&edge.app.diff_job(&caller, &namespace, path.text("job"), (query.from, query.to)).await?)
}

async fn dependents(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
) -> Answer {
    ok(&edge.app.job_dependents(&caller, &query.or_default(), path.text("job")).await?)
}

async fn pause(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<NoteRequest>,
) -> Answer {
    let namespace = query.or_default();
    let condition = condition(&headers)?;
    let job = edge.app.pause_job(&caller, &namespace, path.text("job"), request.note, condition).await?;
    tagged(StatusCode::OK, &job, job.revision)
}

async fn resume(
    State(edge): Context,
    SignedIn(caller): SignedIn,
    path: PathParts,
    Query(query): Query<InNamespace>,
    headers: HeaderMap,
    OptionalJson(request): OptionalJson<NoteRequest>,
) -> Answer {
    let namespace = query.or_default();
    let condition = condition(&headers)?;
    let job = edge.app.resume_job(&caller, &namespace, path.text("job"), request.note, condition).await?;
    tagged(StatusCode::OK, &job, job.revision)
}
