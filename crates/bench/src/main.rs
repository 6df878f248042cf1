//! Measurements beside their limits: `cargo run --release -p mainspring-bench -- engine`, or `-- store`.
//!
//! Each subcommand is a folder that fills a [`table::Table`]; printing, JSON and bars are the table's. A bar
//! that is missed makes the exit code non-zero, unless `--no-bars` says that nobody judges.

mod cpu_time;
mod engine;
mod live_bytes;
mod store;
mod table;

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
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let table = match &arguments.subject {
        Subject::Engine(options) => engine::run(options)?,
        Subject::Store(options) => store::run(options)?,
    };
    table.print();
    if let Some(path) = &arguments.json {
        table.write_json(path)?;
    }
    let good = arguments.no_bars || table.is_good();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
