//! A steady stream of triggers, beside what the store takes: how long after its moment each run is durable, and a watcher
//! hears of it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use mainspring_engine::Occurrence;
use mainspring_model::{JobId, Timestamp};
use tokio::time::{Instant, interval_at, sleep, timeout_at};

use super::heard::Heard;
use super::jobs::{self, Jobs, Rhythm};
use super::ledger::{self, Balance};
use super::scheduler::{Scheduler, open_store};
use super::{LATENESS_P99_MS_MAX, Options};
use crate::e2e::limits;
use crate::store::databases::Databases;
use crate::table::{Bar, Table};

const START: Duration = Duration::from_secs(10);
const SECOND: Duration = Duration::from_secs(1);
const SECOND_US: i64 = 1_000_000;
const MINUTE_US: i64 = 60 * SECOND_US;

/// Every job fires once a minute, each second the same number of them.
pub(super) async fn measure(
    options: &Options,
    binary: &Path,
    databases: &Databases,
    table: &mut Table,
) -> Result<()> {
    let count = options.per_minute;
    let store = open_store(databases).await?;
    let put_at = jobs::now();
    let rhythm = |n: usize| Rhythm { cron: format!("{} * * * * *", n % 60), put_at, each_counts: true };
    Jobs::new()?.put(&*store, count, rhythm).await?;
    let scheduler = Scheduler::start(binary, databases)?;
    scheduler.until_open().await?;
    let heard = Heard::listen(&scheduler.client().await?).await?;
    sleep(START).await;
    let from = jobs::now();
    let minutes = i64::from(options.minutes);
    let until = Timestamp::from_micros(from.as_micros() + minutes * MINUTE_US);
    let before = scheduler.cpu()?;
    let raw = raw_commits(options, databases, until).await?;
    let share = (scheduler.cpu()? - before).as_secs_f64() / until.since(from).as_secs_f64() * 100.0;
    // What is planned in these minutes is written by then, and nothing more comes while it is read.
    sleep(Duration::from_secs(3)).await;
    drop(scheduler);
    let is_within = |planned: Timestamp| planned > from && planned <= until;
    let (mut lines, mut runs) = (ledger::read(&*store).await?, ledger::runs(&*store).await?);
    lines.retain(|(_, line)| is_within(line.planned));
    runs.retain(|(_, planned)| is_within(*planned));
    let Balance { lost, doubled } = Balance::of(count * options.minutes as usize, &lines, &runs);
    let late = |(_, line): &(JobId, Occurrence)| {
        let at = line.run.and_then(|run| heard.at(run))?;
        Some(at.since(line.planned).as_secs_f64() * 1e3)
    };
    let mut late: Vec<f64> = lines.iter().filter_map(late).collect();
    ensure!(!late.is_empty(), "nothing fired");
    ensure!(late.len() == lines.len(), "{} of {} runs were told of", late.len(), lines.len());
    late.sort_unstable_by(f64::total_cmp);
    let decided = |(_, line): &(JobId, Occurrence)| line.at.since(line.planned).as_secs_f64() * 1e3;
    let mut decided: Vec<f64> = lines.iter().map(decided).collect();
    decided.sort_unstable_by(f64::total_cmp);
    let name = |what: &str| format!("{count} a minute, {what}");
    table.add(name("late by the ledger, p50"), at(&decided, 0.5), "ms", Bar::None);
    table.add(name("late by the ledger, p99"), at(&decided, 0.99), "ms", Bar::AtMost(LATENESS_P99_MS_MAX));
    table.add(name("durable and told of after, p50"), at(&late, 0.5), "ms", Bar::None);
    table.add(
        name("durable and told of after, p99"),
        at(&late, 0.99),
        "ms",
        Bar::AtMost(LATENESS_P99_MS_MAX),
    );
    table.add(name("durable and told of after, the last"), at(&late, 1.0), "ms", Bar::None);
    table.add(name("lost"), lost as f64, "", Bar::AtMost(0.0));
    table.add(name("doubled"), doubled as f64, "", Bar::AtMost(0.0));
    table.add(name("CPU of the server"), share, "% core", Bar::None);
    table.add("limit: a durable commit of one row meanwhile, p50", at(&raw, 0.5), "ms", Bar::None);
    table.add("limit: a durable commit of one row meanwhile, the slowest", at(&raw, 1.0), "ms", Bar::None);
    let raw = limits::commits(options.store, databases, limits::GROUP, Duration::from_secs(2)).await?;
    table.add("limit: durable commits of 100 rows, rows", raw.rate(), "/s", Bar::None);
    let fired = lines.len() as f64 / until.since(from).as_secs_f64();
    table.add(name("fired"), fired, "/s", Bar::None);
    Ok(())
}

/// The value below which this part of the sorted ones lies.
fn at(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() as f64 * part) as usize).min(sorted.len() - 1)]
}

/// How long a commit takes that has nothing to do with us, tried in the middle of each second until then: what the disk
/// does in these minutes befalls both.
async fn raw_commits(options: &Options, databases: &Databases, until: Timestamp) -> Result<Vec<f64>> {
    let (now, began) = (jobs::now(), Instant::now());
    let end = began + until.since(now);
    let to_middle = SECOND_US + SECOND_US / 2 - now.as_micros().rem_euclid(SECOND_US);
    let mut middles = interval_at(began + Duration::from_micros(to_middle.unsigned_abs()), SECOND);
    let mut took = Vec::new();
    while timeout_at(end, middles.tick()).await.is_ok() {
        let raw = limits::commits(options.store, databases, 1, Duration::from_micros(1)).await?;
        took.push(1e3 / raw.rate());
    }
    ensure!(!took.is_empty(), "measure for a minute at least");
    took.sort_unstable_by(f64::total_cmp);
    Ok(took)
}
