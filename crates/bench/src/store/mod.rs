//! Rows per second and CPU time per run through `Store::commit`, beside the same statements issued raw.
//!
//! On SQLite (FULL), PostgreSQL and MariaDB, at batches of 1, 100 and 1000: real run writes under a real fence,
//! ours and raw in alternating rounds on databases of their own; the median of the rounds is told, because whatever
//! else the machine does comes and goes. CPU time is that of all processes involved, server included: for a
//! written row, and for a whole short run with its history and its roll-ups.

pub(crate) mod databases;
pub(crate) mod processes;
mod raw;
mod sample;
mod sides;
mod statements;
mod workload;

use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::table::{Bar, Table};
use databases::{Databases, Kind};
use raw::{Mysql, Postgres, Raw, Sqlite};
use sides::{Asked, Round, Sides, Spent};

const RATE_TO_RAW_MIN: f64 = 0.8;
const RUN_CPU_US_MAX_POSTGRES: f64 = 25.0;
const RUN_CPU_US_MAX_SQLITE: f64 = 15.0;

/// Many short rounds, because the disk's pace changes from one second to the next.
const RATES: [Round; 3] = [
    Round { batch: 1, runs: 3, rounds: 40, counted: false },
    Round { batch: 100, runs: 500, rounds: 40, counted: false },
    Round { batch: 1_000, runs: 3_000, rounds: 25, counted: false },
];
const WHOLE_RUN: Round = Round { batch: 100, runs: 5_000, rounds: 10, counted: true };

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only this store.
    #[arg(long)]
    store: Option<Kind>,
    /// Does every round so many times as often.
    #[arg(long, default_value_t = 1)]
    patience: usize,
}

pub(crate) fn run(options: &Options) -> Result<Table> {
    let kinds: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| options.store.is_none_or(|only| only == *kind)).collect();
    databases::ensure_servers(&kinds)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let patience = options.patience.max(1);
    // In a task, as a server's callers are, so that an answer does not have to wake another thread.
    runtime.block_on(async move {
        let measured = tokio::spawn(async move {
            let mut table = Table::new("store");
            for kind in kinds {
                measure(kind, patience, &mut table).await?;
            }
            Ok(table)
        });
        measured.await?
    })
}

async fn measure(kind: Kind, patience: usize, table: &mut Table) -> Result<()> {
    let databases = Databases::create(kind).await?;
    let measured = match kind {
        Kind::Sqlite => compare::<Sqlite>(kind, &databases, patience, table).await,
        Kind::Postgres => compare::<Postgres>(kind, &databases, patience, table).await,
        Kind::Mysql => compare::<Mysql>(kind, &databases, patience, table).await,
    };
    let removed = databases.remove().await;
    measured.and(removed)
}

async fn compare<R: Raw>(
    kind: Kind,
    databases: &Databases,
    patience: usize,
    table: &mut Table,
) -> Result<()> {
    let mut sides = Sides::<R>::open(databases).await?;
    for round in RATES {
        let rows = (2 * round.runs) as f64;
        let (ours, raw) = repeat(&mut sides, round, patience).await?;
        let name = |what: &str| format!("{}, batch {}, {what}", kind.name(), round.batch);
        table.add(name("rows through commit"), rows / ours.wall, "/s", Bar::None);
        table.add(name("rows raw"), rows / raw.wall, "/s", Bar::None);
        let bar = if round.batch > 1 { Bar::AtLeast(RATE_TO_RAW_MIN) } else { Bar::None };
        table.add(name("commit beside raw"), raw.wall / ours.wall, "×", bar);
        table.add(name("CPU of a row through commit"), ours.cpu_mean / rows * 1e6, "µs", Bar::None);
        table.add(name("CPU of a row raw"), raw.cpu_mean / rows * 1e6, "µs", Bar::None);
    }
    sides.asked = Asked::default();
    let (ours, raw) = repeat(&mut sides, WHOLE_RUN, patience).await?;
    let runs = WHOLE_RUN.runs as f64;
    let name = |what: &str| format!("{}, whole run at batch {}, {what}", kind.name(), WHOLE_RUN.batch);
    let bar = match kind {
        Kind::Sqlite => Bar::AtMost(RUN_CPU_US_MAX_SQLITE),
        Kind::Postgres => Bar::AtMost(RUN_CPU_US_MAX_POSTGRES),
        Kind::Mysql => Bar::None,
    };
    table.add(name("CPU through commit"), ours.cpu / runs * 1e6, "µs", bar);
    table.add(name("CPU raw"), raw.cpu / runs * 1e6, "µs", Bar::None);
    let Asked { runs, run_rows, counter_rows } = sides.asked;
    table.add(name("row writes"), run_rows as f64 / runs as f64, "rows", Bar::None);
    table.add(name("roll-up writes"), counter_rows as f64 / runs as f64, "rows", Bar::None);
    Ok(())
}

/// Seconds of one round. The CPU time of a server is not known finely enough for the median of short rounds.
#[derive(Debug)]
struct Seconds {
    wall: f64,
    cpu: f64,
    cpu_mean: f64,
}

impl Seconds {
    fn of(rounds: &[Spent]) -> Self {
        let median = |part: fn(&Spent) -> Duration| {
            let mut parts: Vec<Duration> = rounds.iter().map(part).collect();
            parts.sort_unstable();
            parts[parts.len() / 2].as_secs_f64()
        };
        let cpu: Duration = rounds.iter().map(|spent| spent.cpu).sum();
        Self {
            wall: median(|spent| spent.wall),
            cpu: median(|spent| spent.cpu),
            cpu_mean: cpu.as_secs_f64() / rounds.len() as f64,
        }
    }
}

/// Both sides in turn, after one round that warms up.
async fn repeat<R: Raw>(sides: &mut Sides<R>, round: Round, patience: usize) -> Result<(Seconds, Seconds)> {
    sides.round(round, false).await?;
    let mut spent = Vec::new();
    for number in 0..round.rounds * patience {
        spent.push(sides.round(round, number % 2 == 0).await?);
    }
    let (ours, raw): (Vec<Spent>, Vec<Spent>) = spent.into_iter().unzip();
    Ok((Seconds::of(&ours), Seconds::of(&raw)))
}
