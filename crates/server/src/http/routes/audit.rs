//! The audit.

use std::sync::Arc;

use axum::extract::State;
use mainspring_app::audit::AuditFilter;
use mainspring_app::{Operation, PageRequest};
use mainspring_model::Namespace;
use mainspring_wire::api::{AuditCheck, AuditEntry, Time};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::answer::{Answer, ok};
use crate::http::caller::SignedIn;
use crate::http::edge::Edge;
use crate::http::params::Query;
use crate::http::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/audit", Operation::AuditList, list)
            .query::<AuditQuery>()
            .answers_page::<AuditEntry>("Calls, newest first."),
        Route::get("/v1/audit/verify", Operation::AuditVerify, verify)
            .query::<VerifyQuery>()
            .answers::<AuditCheck>(200, "What was looked at, and where a chain is broken."),
    ]
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AuditQuery {
    /// Here and in all below; without it, all, for which one must be admin everywhere.
    namespace: Option<Namespace>,
    /// Of this actor.
    actor: Option<String>,
    /// Of this operation, such as `job.put`.
    operation: Option<String>,
    /// To this target.
    target: Option<String>,
    /// At or after.
    #[param(value_type = Option<String>, format = "date-time")]
    from: Option<Time>,
    /// Before.
    #[param(value_type = Option<String>, format = "date-time")]
    until: Option<Time>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Where the last page ended.
    cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct VerifyQuery {
    /// Where the last part ended; without it, from the newest record on.
    cursor: Option<String>,
}

async fn verify(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<VerifyQuery>,
) -> Answer {
    ok(&edge.app.check_audit_chain(&caller, query.cursor.as_deref()).await?)
}

async fn list(
    State(edge): State<Arc<Edge>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<AuditQuery>,
) -> Answer {
    let filter = AuditFilter {
        namespace: query.namespace,
        actor: query.actor,
        operation: query.operation,
        target: query.target,
        from: query.from.map(|at| at.0),
        until: query.until.map(|at| at.0),
    };
    let page = PageRequest { limit: query.limit, cursor: query.cursor };
    ok(&edge.app.list_audit(&caller, &filter, &page).await?)
}
