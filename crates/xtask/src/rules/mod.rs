//! The house rules: what a reader may rely on anywhere in this repository, one small file each.
//!
//! A rule looks and reports, it never changes a file. Every rule's tests show it failing on bad input.

mod banned_crates;
mod crate_edges;
mod deny_list;
mod file_names;
mod file_sizes;
mod generated_files;
mod lexer;
mod licences;
mod module_docs;
mod open_flags;
mod pure_core;
mod rule;
mod sql_place;

pub(crate) use rule::{Findings, Rule, Subject};

/// Rules that read the checkout and build nothing, cheapest first.
pub(crate) const OF_SOURCES: &[Rule] = &[
    file_sizes::RULE,
    file_names::RULE,
    module_docs::RULE,
    pure_core::RULE,
    sql_place::RULE,
    open_flags::RULE,
    crate_edges::RULE,
    banned_crates::RULE,
    licences::RULE,
];

/// Rules that run programs of the workspace, which are built first.
pub(crate) const OF_PROGRAMS: &[Rule] = &[generated_files::RULE];
