//! What the pages of the console ask, on a store with a long history: each request beside the read of one run, through the same
//! server in the same minutes; then all of them at a rate, with submissions beside them and many who watch.

mod history;
mod load;
mod pages;
mod watchers;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use serde_json::json;

use crate::e2e::ground::Ground;
use crate::e2e::http::Request;
use crate::store::databases::{self, Databases, Kind};
use crate::table::{Bar, Table};

use self::load::Paced;
use self::pages::Asked;

/// A list or a page of details beside the read of one run.
const READS_TO_SINGLE_MAX: f64 = 15.0;
/// Submissions beside readers, beside those without.
const SUBMITS_TO_ALONE_MAX: f64 = 2.0;
const PAGES_PER_SECOND: u32 = 500;
const SUBMITS_PER_SECOND: u32 = 50;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The store of the server.
    #[arg(long, default_value = "sqlite")]
    store: Kind,
    /// The `mainspring` binary; without one, the one beside this program, built first.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Finished runs in the store.
    #[arg(long, default_value_t = 1_000_000)]
    runs: usize,
    /// Times that each request is asked alone.
    #[arg(long, default_value_t = 200)]
    samples: usize,
    /// Seconds of each load.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Watchers beside the load.
    #[arg(long, default_value_t = 1_000)]
    watchers: usize,
}

pub(crate) fn run(options: &Options) -> Result<Table> {
    ensure!(options.store != Kind::Mysql, "choose sqlite or postgres");
    databases::ensure_servers(&[options.store])?;
    let binary = match &options.binary {
        Some(binary) => binary.canonicalize()?,
        None => crate::e2e::build()?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let databases = Databases::create(options.store).await?;
        let measured = measure(options, &binary, &databases).await;
        let removed = databases.remove().await;
        measured.and_then(|table| removed.map(|()| table))
    })
}

async fn measure(options: &Options, binary: &Path, databases: &Databases) -> Result<Table> {
    let mut table = Table::new(match options.store {
        Kind::Sqlite => "the console's requests on SQLite",
        Kind::Postgres | Kind::Mysql => "the console's requests on PostgreSQL",
    });
    let began = Instant::now();
    let written = history::write(&databases.ours, options.runs).await?;
    let rate = options.runs as f64 / began.elapsed().as_secs_f64();
    table.add(format!("{} finished runs, written", options.runs), rate, "/s", Bar::None);
    let ground = Ground::start_for_many(binary, databases, options.watchers).await?;
    ground.put_job("now", json!({ "process": "/bin/true" })).await?;
    let asked = pages::all(&written, &ground.token);
    each(&ground, &asked, options.samples, &mut table).await?;
    together(&ground, &asked, options, &mut table).await?;
    Ok(table)
}

/// Every request alone, taking turns with the read of one run.
async fn each(ground: &Ground, asked: &[Asked], samples: usize, table: &mut Table) -> Result<()> {
    let mut connection = ground.connect().await?;
    let single = &asked[0];
    for other in asked {
        let (mut singles, mut others) = (Vec::new(), Vec::new());
        // The first finds what is read cold.
        connection.call(&other.request).await?;
        for _ in 0..samples {
            singles.push(load::timed(&mut connection, &single.request).await?);
            others.push(load::timed(&mut connection, &other.request).await?);
        }
        let (single, other_ms) = (load::percentile(singles, 0.95), load::percentile(others, 0.95));
        table.add(format!("{}, p95", other.name), other_ms, "ms", Bar::None);
        let bar = if other.is_bound { Bar::AtMost(READS_TO_SINGLE_MAX) } else { Bar::None };
        table.add(format!("{}, p95 to that of one run", other.name), other_ms / single, "x", bar);
    }
    Ok(())
}

/// Submissions alone, then beside readers, then beside readers and watchers.
async fn together(ground: &Ground, asked: &[Asked], options: &Options, table: &mut Table) -> Result<()> {
    let span = Duration::from_secs(options.seconds);
    let submit = [ground.request("POST", "/v1/runs", Some(&json!({ "job": "now" })))];
    let reads: Vec<Request> = asked.iter().map(|asked| asked.request.clone()).collect();
    let submits = Paced { per_second: SUBMITS_PER_SECOND, span };
    let pages = Paced { per_second: PAGES_PER_SECOND, span };
    let alone = submits.run(ground.address, &submit).await?.p99();
    table.add(format!("{SUBMITS_PER_SECOND}/s submissions alone, p99"), alone, "ms", Bar::None);
    let beside = format!("beside {PAGES_PER_SECOND}/s page requests");
    let (written, read) =
        tokio::try_join!(submits.run(ground.address, &submit), pages.run(ground.address, &reads))?;
    table.add(format!("{SUBMITS_PER_SECOND}/s submissions {beside}, p99"), written.p99(), "ms", Bar::None);
    let times = written.p99() / alone;
    table.add(format!("submissions {beside}, p99 to alone"), times, "x", Bar::AtMost(SUBMITS_TO_ALONE_MAX));
    table.add("page requests under load, answered", read.rate(), "/s", Bar::None);
    table.add("page requests under load, p95", read.p95(), "ms", Bar::None);
    let watching = watchers::open(ground.address, &ground.token, options.watchers).await?;
    let (written, read) =
        tokio::try_join!(submits.run(ground.address, &submit), pages.run(ground.address, &reads))?;
    let and = format!("{beside} and {} watchers", options.watchers);
    table.add(format!("{SUBMITS_PER_SECOND}/s submissions {and}, p99"), written.p99(), "ms", Bar::None);
    table.add("page requests beside watchers, p95", read.p95(), "ms", Bar::None);
    table.add(
        "watchers that are still connected",
        watching.alive() as f64,
        "",
        Bar::AtLeast(options.watchers as f64),
    );
    Ok(())
}
