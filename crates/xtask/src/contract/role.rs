//! The roles, and how thoroughly the API is called with each.

/// A role, by the word that the API knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) name: &'static str,
    /// Phases of schemathesis.
    pub(super) phases: &'static str,
    /// Random requests to each operation, at most.
    pub(super) examples: u32,
}

/// Admins may do everything, so the long list of edge cases that the schema implies is gone through with their token; with
/// the others it would mostly be denied again and again.
pub(super) const ROLES: &[Role] = &[
    Role { name: "viewer", phases: "fuzzing", examples: 8 },
    Role { name: "operator", phases: "fuzzing", examples: 8 },
    Role { name: "editor", phases: "fuzzing", examples: 12 },
    Role { name: "admin", phases: "coverage,fuzzing", examples: 12 },
];

impl Role {
    /// Who speaks with the role's token. The hooks know the beginning of the name and let nobody change the role.
    pub(super) fn subject(self) -> String {
        format!("contract-{}", self.name)
    }
}
