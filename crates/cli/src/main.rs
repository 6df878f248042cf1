//! `mainspring`: the one binary. A table of contents; each command is one file in `commands`.
//!
//! The sidecar is dispatched before anything else is set up: it lives beside every agent for as long as tasks do, so it
//! must not pay for a runtime, a TLS provider or an argument parser that it does not use. For the same reason there is no
//! allocator of our own: the system's gives an idle process's memory back.

mod answer;
mod arguments;
mod ask;
mod commands;
mod config;
mod context;
mod exit;
mod failure;
mod find;
mod flag;
mod follow;
mod glossary;
mod import;
mod job_file;
mod language;
mod literal;
mod machine_zone;
mod narrator;
mod nearest;
mod output;
mod parameter;
mod place;
mod reference;
mod roles;
mod target;
mod task_output;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    if let Some(code) = commands::sidecar::run_if_asked() {
        return code;
    }
    let arguments = Arguments::try_parse().unwrap_or_else(|error| usage::end(&error));
    let output = arguments.global.output();
    match commands::run(arguments, output) {
        Ok(code) => code,
        Err(failure) => {
            output.fail(&failure);
            failure.exit.into()
        }
    }
}
