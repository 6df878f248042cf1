//! Statistics from roll-ups.

use std::sync::Arc;

use axum::extract::State;
use mainspring_app::{Operation, SeriesQuery};
use mainspring_model::Namespace;
use mainspring_wire::api::{SeriesBy, StatsReport, StatsSeries, Time};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, ok};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::Query;
use crate::http::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/stats", Operation::Stats, stats)
            .query::<StatsQuery>()
            .answers::<StatsReport>(200, "How runs ended, by hour and job."),
        Route::get("/v1/stats/series", Operation::StatsSeries, series)
            .query::<SeriesRequest>()
            .answers::<StatsSeries>(200, "How runs ended, step by step."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StatsQuery {
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
    /// Of this job of the namespace, by name or id.
    job: Option<String>,
    /// Hours that begin at or after; without it, a day before `until`.
    #[param(value_type = Option<String>, format = "date-time")]
    from: Option<Time>,
    /// Hours that begin before; without it, now.
    #[param(value_type = Option<String>, format = "date-time")]
    until: Option<Time>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SeriesRequest {
    /// Here and in all below; without it, everywhere that you may look.
    namespace: Option<Namespace>,
    /// Of this job of the namespace, by name or id.
    job: Option<String>,
    /// Hours that begin at or after; without it, a day before `until`.
    #[param(value_type = Option<String>, format = "date-time")]
    from: Option<Time>,
    /// Hours that begin before; without it, now.
    #[param(value_type = Option<String>, format = "date-time")]
    until: Option<Time>,
    /// How long a step is, in whole hours: `1h`, `6h`, `1d`; without it, `1h`. A span has at most 1,000 steps.
    #[param(max_length = 64)]
    step: Option<String>,
    /// A group for each job or namespace, at most 50; without it, one for everything.
    #[param(inline)]
    by: Option<SeriesBy>,
}

async fn series(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<SeriesRequest>,
) -> Answer {
    let SeriesRequest { namespace, job, from, until, step, by } = query;
    let (from, until) = (from.map(|at| at.0), until.map(|at| at.0));
    ok(&edge.app.stats_series(&caller, &SeriesQuery { namespace, job, from, until, step, by }).await?)
}

async fn stats(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<StatsQuery>,
) -> Answer {
    let span = (query.from.map(|at| at.0), query.until.map(|at| at.0));
    ok(&edge.app.stats(&caller, query.namespace.as_ref(), query.job.as_deref(), span).await?)
}
