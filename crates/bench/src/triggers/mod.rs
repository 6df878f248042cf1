//! What fires by itself: the memory of very many triggers, a start with them, very many that are due at once, and how late
//! a steady stream of them is.
//!
//! The first part is a cell alone in memory. The others are the real binary as a server on a real store, into which jobs
//! were put as the API puts them; no node is there, so the runs wait. Each has a database of its own.

mod counting;
mod heard;
mod herd;
mod jobs;
mod ledger;
mod load;
mod memory;
mod scheduler;
mod steady;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use crate::e2e;
use crate::store::databases::{self, Databases, Kind};
use crate::table::Table;

const BYTES_PER_TRIGGER_MAX: f64 = 300.0;
const DRAIN_SECONDS_MAX: f64 = 30.0;
const LATENESS_P99_MS_MAX: f64 = 50.0;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The store of the server.
    #[arg(long, default_value = "sqlite")]
    store: Kind,
    /// The `mainspring` binary; without one, the one beside this program, built first.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Triggers in memory, and at a start.
    #[arg(long, default_value_t = 1_000_000)]
    triggers: usize,
    /// Triggers that are due in the same second.
    #[arg(long, default_value_t = 100_000)]
    herd: usize,
    /// Triggers that are due in each minute of the steady part.
    #[arg(long, default_value_t = 10_000)]
    per_minute: usize,
    /// Minutes of the steady part.
    #[arg(long, default_value_t = 1)]
    minutes: u32,
    /// Measures this part alone; may be given several times.
    #[arg(long, value_name = "PART")]
    only: Vec<Part>,
}

/// A part of the measurement, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Memory,
    Load,
    Herd,
    Steady,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

pub(crate) fn run(options: &Options) -> Result<Table> {
    ensure!(options.store != Kind::Mysql, "choose sqlite or postgres");
    ensure!(options.triggers >= 2, "at least two triggers are needed");
    let mut table = Table::new(match options.store {
        Kind::Sqlite => "triggers on SQLite (FULL)",
        Kind::Postgres | Kind::Mysql => "triggers on PostgreSQL",
    });
    let parts = [Part::Load, Part::Herd, Part::Steady];
    let parts: Vec<Part> = parts.into_iter().filter(|part| options.wants(*part)).collect();
    let binary = if parts.is_empty() { None } else { Some(prepare(options)?) };
    if options.wants(Part::Memory) {
        memory::measure(options, &mut table)?;
    }
    if let Some(binary) = binary {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        for part in parts {
            runtime.block_on(measure(options, part, &binary, &mut table))?;
        }
    }
    Ok(table)
}

/// The servers that are needed, and the binary.
fn prepare(options: &Options) -> Result<PathBuf> {
    databases::ensure_servers(&[options.store])?;
    match &options.binary {
        Some(binary) => Ok(binary.canonicalize()?),
        None => e2e::build(),
    }
}

async fn measure(options: &Options, part: Part, binary: &Path, table: &mut Table) -> Result<()> {
    let databases = Databases::create(options.store).await?;
    let measured = match part {
        Part::Memory => Ok(()),
        Part::Load => load::measure(options, binary, &databases, table).await,
        Part::Herd => herd::measure(options, binary, &databases, table).await,
        Part::Steady => steady::measure(options, binary, &databases, table).await,
    };
    let removed = databases.remove().await;
    measured.and(removed)
}
