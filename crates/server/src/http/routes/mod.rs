//! The table of routes, one file for each noun. A route that is not here does not exist.

mod artifacts;
mod audit;
mod backfills;
mod calendars;
mod cluster;
mod hooks;
mod jobs;
mod logs;
mod manual;
mod members;
mod namespaces;
mod nodes;
mod runs;
mod sessions;
mod stats;
mod submit;
mod tokens;
mod triggers;
mod watch;

use mainspring_app::Operation;

use super::route::Route;

/// Every route.
pub(crate) fn all() -> Vec<Route> {
    [
        jobs::routes(),
        backfills::routes(),
        calendars::routes(),
        triggers::routes(),
        hooks::routes(),
        submit::routes(),
        runs::routes(),
        logs::routes(),
        nodes::routes(),
        artifacts::routes(),
        namespaces::routes(),
        members::routes(),
        tokens::routes(),
        sessions::routes(),
        audit::routes(),
        watch::routes(),
        stats::routes(),
        cluster::routes(),
        manual::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A route, for whoever checks that none is forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// The method.
    pub method: String,
    /// The path, with names in braces.
    pub path: &'static str,
    /// What it is, and what else it may be.
    pub operations: Vec<Operation>,
}

/// Every route with the operations that it stands for.
pub fn described() -> Vec<Described> {
    let describe = |route: Route| Described {
        method: route.method.to_string(),
        path: route.path,
        operations: std::iter::once(route.operation).chain(route.or.iter().copied()).collect(),
    };
    all().into_iter().map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_route() {
        let routes = described();
        for operation in Operation::ALL {
            let count = routes.iter().filter(|route| route.operations.contains(operation)).count();
            assert_eq!(count, 1, "{operation:?}");
        }
    }

    #[test]
    fn what_changes_is_not_read() {
        for route in described() {
            for operation in route.operations {
                assert_eq!(operation.changes(), route.method != "GET", "{operation:?}");
            }
        }
    }

    #[test]
    fn the_manual_has_every_route() {
        let manual = include_str!("../../../../../docs/api.md");
        for route in described() {
            let last = route.path.rsplit('/').find(|part| !part.starts_with('{')).unwrap_or_default();
            assert!(manual.contains(last), "{} {}", route.method, route.path);
        }
    }
}
