//! The roles, and how thoroughly the API is called with each.

/// A role, by the word that the API knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) name: &'static str,
    /// Phases of schemathesis.
    pub(super) phases: &'static str,
    /// Random requests to each operation, at most.
    pub(super) examples: u32,
    /// Which paths.
    pub(super) paths: Paths,
}

/// Which paths are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paths {
    /// All.
    All,
    /// Only this.
    Only(&'static str),
    /// All but these.
    Without(&'static [&'static str]),
}

/// Where a job's specification is sent: half of all edge cases that the schema implies are in it.
const RUNS: &str = "/v1/runs";
/// The same again, many at once: its edge cases are those of one.
const BATCH: &str = "/v1/runs/batch";

/// Admins may do everything, so the long list of edge cases that the schema implies is gone through with their token; with
/// the others it would mostly be denied again and again.
pub(super) const ROLES: &[Role] = &[
    Role { name: "viewer", phases: "fuzzing", examples: 8, paths: Paths::All },
    Role { name: "operator", phases: "fuzzing", examples: 8, paths: Paths::All },
    Role { name: "editor", phases: "fuzzing", examples: 8, paths: Paths::All },
    Role { name: "admin", phases: "fuzzing", examples: 8, paths: Paths::All },
    Role { name: "admin", phases: "coverage", examples: 1, paths: Paths::Only(RUNS) },
    Role { name: "admin", phases: "coverage", examples: 1, paths: Paths::Without(&[RUNS, BATCH]) },
];

impl Paths {
    /// What schemathesis is told.
    pub(super) fn arguments(self) -> Vec<&'static str> {
        match self {
            Self::All => Vec::new(),
            Self::Only(path) => vec!["--include-path", path],
            Self::Without(paths) => paths.iter().flat_map(|path| ["--exclude-path", *path]).collect(),
        }
    }
}

impl Role {
    /// Who speaks with the role's token. The hooks know the beginning of the name and let nobody change the role.
    pub(super) fn subject(self) -> String {
        format!("contract-{}", self.name)
    }
}
