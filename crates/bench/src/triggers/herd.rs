//! Very many triggers that are due in the same second: each makes one run, and all runs are durable soon.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use mainspring_model::Timestamp;
use tokio::time::sleep;

use super::counting::Counting;
use super::jobs::{self, Jobs, Rhythm, daily};
use super::ledger::{self, Balance};
use super::scheduler::{Scheduler, open_store};
use super::{DRAIN_SECONDS_MAX, Options};
use crate::store::databases::Databases;
use crate::table::{Bar, Table};

const PATIENCE: Duration = Duration::from_secs(300);
const SECOND_US: i64 = 1_000_000;
/// Jobs are put at least so fast.
const PUT_PER_SECOND_MIN: f64 = 2_000.0;
/// What a server takes to start and to load.
const START: Duration = Duration::from_secs(20);

pub(super) async fn measure(
    options: &Options,
    binary: &Path,
    databases: &Databases,
    table: &mut Table,
) -> Result<()> {
    let count = options.herd;
    let store = open_store(databases).await?;
    let put_at = jobs::now();
    let putting = Duration::from_secs_f64(count as f64 / PUT_PER_SECOND_MIN);
    let due = Timestamp::from_micros((put_at + putting + START).as_micros() / SECOND_US * SECOND_US);
    let rhythm = Rhythm { cron: daily(due), put_at, each_counts: false };
    Jobs::new()?.put(&*store, count, |_| rhythm.clone()).await?;
    ensure!(jobs::now() + START / 2 < due, "the jobs were put too slowly for this measurement");
    let scheduler = Scheduler::start(binary, databases)?;
    scheduler.until_open().await?;
    let counting = Counting::open(options.store, databases).await?;
    // What is read ahead of the moment is part of its price.
    sleep(due.since(jobs::now()).saturating_sub(START / 5)).await;
    let before = scheduler.cpu()?;
    sleep(due.since(jobs::now())).await;
    let drained = until_made(&counting, count, due).await?;
    let cpu = (scheduler.cpu()? - before).as_secs_f64();
    let name = |what: &str| format!("{count} due in one second, {what}");
    table.add(name("until all runs are durable"), drained, "s", Bar::AtMost(DRAIN_SECONDS_MAX));
    table.add(name("CPU of the server for each"), cpu / count as f64 * 1e6, "µs", Bar::None);
    // What is written after the runs comes by then, and so does what should not come.
    sleep(Duration::from_secs(5)).await;
    let (lines, runs) = (ledger::read(&*store).await?, ledger::runs(&*store).await?);
    let Balance { lost, doubled } = Balance::of(count, &lines, &runs);
    table.add(name("lost"), lost as f64, "", Bar::AtMost(0.0));
    table.add(name("doubled"), doubled as f64, "", Bar::AtMost(0.0));
    let last = lines.iter().map(|(_, line)| line.at.since(due)).max().unwrap_or_default();
    table.add(name("the last was decided after"), last.as_secs_f64(), "s", Bar::None);
    Ok(())
}

/// The seconds from the moment when they are due until so many runs are in the store.
async fn until_made(counting: &Counting, count: usize, due: Timestamp) -> Result<f64> {
    let began = Instant::now();
    loop {
        let made = counting.runs().await?;
        if made >= count {
            return Ok(jobs::now().since(due).as_secs_f64());
        }
        ensure!(began.elapsed() < PATIENCE, "only {made} of {count} runs were made");
        sleep(Duration::from_millis(250)).await;
    }
}
