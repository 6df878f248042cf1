//! The running API against its committed schema: schemathesis calls a real server with made-up requests, with a token of
//! each role, and holds every answer against `docs/openapi.json`.
//!
//! Everything that is started here is gone at the end, however it ends, and with it the folder it lived in; the Python
//! programs stay in the target directory, so that only the first run fetches them.

mod check;
mod ground;
mod leftover;
mod role;

pub(crate) use check::check;

use crate::python::Wanted;

/// What schemathesis needs.
pub(crate) const PYTHON: Wanted = Wanted {
    name: "contract-python",
    purpose: "the check of the API",
    requirements: include_str!("requirements.txt"),
    list: "crates/xtask/src/contract/requirements.txt",
};
