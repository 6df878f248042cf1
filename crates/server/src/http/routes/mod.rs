//! The table of routes, one file for each noun. A route that is not here does not exist.

mod artifacts;
mod audit;
mod backfills;
mod bulk;
mod calendars;
mod cluster;
mod hooks;
mod jobs;
mod logs;
mod manual;
mod members;
mod namespaces;
mod nodes;
mod queue;
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
        bulk::routes(),
        runs::routes(),
        queue::routes(),
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
    use std::collections::BTreeSet;

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
                // A wait for the owner: it changes nothing that is audited, and a proxy must neither cache nor repeat it. And a
                // look at a text, which is too long for a query.
                let only_looks = matches!(operation, Operation::JobConfirm | Operation::JobValidate);
                assert_eq!(operation.changes(), route.method != "GET" && !only_looks, "{operation:?}");
            }
        }
    }

    /// A path with every name in braces left out: the manual may have other names.
    fn shape(path: &str) -> String {
        let parts = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
        parts.collect::<Vec<_>>().join("/")
    }

    /// The routes that the first column of the manual's table names: `GET /v1/a?b=`, then `…/c` for a sibling, `/d` for
    /// another path by the same method, and methods alone for the path that follows.
    fn in_manual(manual: &str) -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for row in manual.lines().filter(|line| line.starts_with("| `")) {
            let cell = row.split('|').nth(1).unwrap_or_default();
            let (mut methods, mut path) = (Vec::<String>::new(), String::new());
            for word in cell.split('`').skip(1).step_by(2) {
                let (method, rest) = word.split_once(' ').unwrap_or(("", word));
                match (method, rest) {
                    ("", method) if method.chars().all(|c| c.is_ascii_uppercase()) => {
                        methods.push(method.to_owned());
                        continue;
                    }
                    ("", sibling) if sibling.starts_with("…/") => {
                        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
                        path = format!("{parent}/{}", sibling.trim_start_matches("…/"));
                    }
                    ("", other) => path = shape(other),
                    (method, rest) => {
                        if !path.is_empty() {
                            methods.clear();
                        }
                        methods.push(method.to_owned());
                        path = shape(rest.split('?').next().unwrap_or_default());
                    }
                }
                found.extend(methods.iter().map(|method| (method.clone(), path.clone())));
            }
        }
        found
    }

    #[test]
    fn the_manual_has_every_route() {
        let manual = in_manual(include_str!("../../../../../docs/api.md"));
        let routes: BTreeSet<(String, String)> =
            described().into_iter().map(|route| (route.method, shape(route.path))).collect();
        let missing: Vec<_> = routes.difference(&manual).collect();
        assert!(missing.is_empty(), "docs/api.md lacks {missing:?}");
        let is_api = |route: &&(String, String)| route.1.starts_with("/v1/");
        let unknown: Vec<_> = manual.difference(&routes).filter(is_api).collect();
        assert!(unknown.is_empty(), "docs/api.md has {unknown:?}, which there is not");
    }

    #[test]
    fn a_row_of_the_manual_names_its_routes() {
        let check = |row: &str, expected: &[(&str, &str)]| {
            let expected = expected.iter().map(|(method, path)| (String::from(*method), String::from(*path)));
            assert_eq!(in_manual(row), expected.collect(), "{row}");
        };
        check("| `GET /v1/a/{b}?c=1` | x |", &[("GET", "/v1/a/{}")]);
        check(
            "| `POST /v1/a/{b}/pause`, `…/resume` | x |",
            &[("POST", "/v1/a/{}/pause"), ("POST", "/v1/a/{}/resume")],
        );
        check("| `GET`, `PUT /v1/a/{b}` | x |", &[("GET", "/v1/a/{}"), ("PUT", "/v1/a/{}")]);
        check("| `GET /v1/a`, `PUT /v1/b` | x |", &[("GET", "/v1/a"), ("PUT", "/v1/b")]);
        check("| `GET /`, `/healthz` | x |", &[("GET", "/"), ("GET", "/healthz")]);
        check("| what | `GET /v1/a` |", &[]);
    }
}
