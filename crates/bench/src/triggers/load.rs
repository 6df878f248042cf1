//! Start-up with very many triggers, and what they cost when none is due.
//!
//! The first and the last row by key are due since before the start: what the ledger says about them tells when a trigger
//! could first fire, and when all were in memory.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use mainspring_model::Timestamp;
use tokio::time::sleep;

use super::jobs::{self, Jobs, Rhythm, daily};
use super::scheduler::{Scheduler, open_store};
use super::{Options, ledger};
use crate::store::databases::Databases;
use crate::table::{Bar, Table};

const PATIENCE: Duration = Duration::from_secs(600);
const QUIET: Duration = Duration::from_secs(5);
const WATCHED: Duration = Duration::from_secs(40);
const MINUTE: Duration = Duration::from_secs(60);
const MIB: f64 = 1024.0 * 1024.0;

pub(super) async fn measure(
    options: &Options,
    binary: &Path,
    databases: &Databases,
    table: &mut Table,
) -> Result<()> {
    let count = options.triggers;
    let store = open_store(databases).await?;
    let now = jobs::now();
    let at = |minutes: u64| now + MINUTE * u32::try_from(minutes).unwrap_or(0);
    let late = Rhythm { cron: daily(now - MINUTE * 2), put_at: now - MINUTE * 10, each_counts: true };
    let writing = std::time::Instant::now();
    Jobs::new()?
        .put(&*store, count, |n| match n {
            n if n == 0 || n == count - 1 => late.clone(),
            n => Rhythm { cron: daily(at(60 + (n as u64 * 7) % 1_200)), put_at: now, each_counts: false },
        })
        .await?;
    let name = |what: &str| format!("start with {count} triggers, {what}");
    table.add(name("jobs put in advance"), count as f64 / writing.elapsed().as_secs_f64(), "/s", Bar::None);
    let scheduler = Scheduler::start(binary, databases)?;
    scheduler.until_open().await?;
    let since = |at: Timestamp| at.since(scheduler.started_at).as_secs_f64();
    let first = ledger::until_line(&*store, &jobs::trigger(0), PATIENCE).await?;
    table.add(name("until the first could fire"), since(first.at), "s", Bar::None);
    let last = ledger::until_line(&*store, &jobs::trigger(count - 1), PATIENCE).await?;
    table.add(name("until all are loaded"), since(last.at), "s", Bar::None);
    table.add(name("CPU of the server until then"), scheduler.cpu()?.as_secs_f64(), "s", Bar::None);
    sleep(QUIET).await;
    let before = scheduler.cpu()?;
    sleep(WATCHED).await;
    let share = (scheduler.cpu()? - before).as_secs_f64() / WATCHED.as_secs_f64() * 100.0;
    table.add(name("CPU when none is due"), share, "% core", Bar::None);
    table.add(name("resident memory"), scheduler.memory()?.resident as f64 / MIB, "MiB", Bar::None);
    Ok(())
}
