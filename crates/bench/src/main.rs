//! Measurements beside their limits: `cargo run --release -p mainspring-bench -- engine`, `-- store`,
//! `-- triggers`, `-- e2e` or `-- console`.
//!
//! Each subcommand is a folder that fills a [`table::Table`]; printing, JSON and bars are the table's. A bar
//! that is missed makes the exit code non-zero, unless `--no-bars` says that nobody judges.

mod console;
mod cpu_time;
mod e2e;
mod engine;
mod live_bytes;
mod store;
mod table;
mod triggers;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: live_bytes::Counting = live_bytes::Counting;

/// Measures Mainspring beside the limits of the machine it runs on.
#[derive(Debug, Parser)]
#[command(name = "mainspring-bench")]
struct Arguments {
    #[command(subcommand)]
    subject: Subject,
    /// Writes the figures to this file as well.
    #[arg(long, global = true, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only prints: a missed bar is not a failure.
    #[arg(long, global = true)]
    no_bars: bool,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// Whole cycles through the scheduler's memory, and the memory of what waits.
    Engine(engine::Options),
    /// Runs written through the stores, beside the same statements issued raw.
    Store(store::Options),
    /// What fires by itself: memory, start, very many at once, lateness.
    Triggers(triggers::Options),
    /// Whole runs through the real processes, beside spawns, commits and an echo.
    E2e(e2e::Options),
    /// Requests of the console's pages on a long history, alone and at a rate.
    Console(console::Options),
    /// Sends JSON back: the limit of a server of the same kind.
    #[command(hide = true)]
    Echo,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let table = match &arguments.subject {
        Subject::Engine(options) => engine::run(options)?,
        Subject::Store(options) => store::run(options)?,
        Subject::Triggers(options) => triggers::run(options)?,
        Subject::E2e(options) => e2e::run(options)?,
        Subject::Console(options) => console::run(options)?,
        Subject::Echo => return e2e::serve_echo().map(|()| ExitCode::SUCCESS),
    };
    table.print();
    if let Some(path) = &arguments.json {
        table.write_json(path)?;
    }
    let good = arguments.no_bars || table.is_good();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
