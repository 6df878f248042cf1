//! How long it takes from the begin of a submission until the task itself looks at the clock: the task is `date`, whose own
//! way to `main` is included.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::ground::Ground;
use super::http::{Connection, Request};
use crate::table::{Bar, Table};

pub(super) const JOB: &str = "clock";
/// Connections that wait for the next submission; more than are ever in flight.
const CONNECTIONS: usize = 64;

/// Milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Latency {
    p50: f64,
    p99: f64,
    slowest: f64,
}

impl Latency {
    /// # Panics
    /// If nothing was measured.
    pub(super) fn of(mut millis: Vec<f64>) -> Self {
        millis.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| millis[((millis.len() as f64 * share) as usize).min(millis.len() - 1)];
        Self { p50: at(0.5), p99: at(0.99), slowest: at(1.0) }
    }

    pub(super) fn tell(&self, table: &mut Table, name: &str, p50: Bar, p99: Bar) {
        table.add(format!("{name}, p50"), self.p50, "ms", p50);
        table.add(format!("{name}, p99"), self.p99, "ms", p99);
        table.add(format!("{name}, the slowest"), self.slowest, "ms", Bar::None);
    }
}

pub(super) async fn prepare(ground: &Ground) -> Result<()> {
    ground.put_job(JOB, json!({ "process": { "command": "/bin/date", "args": ["+%s%N"] } })).await
}

/// One at a time, each when all is quiet again.
pub(super) async fn idle(ground: &Ground, count: usize) -> Result<Latency> {
    let request = ground.request("POST", "/v1/runs", Some(&json!({ "job": JOB })));
    let mut connection = ground.connect().await?;
    let done = ground.succeeded(&mut connection).await?;
    let mut submitted = Vec::with_capacity(count);
    for number in 1..=count as u64 {
        submitted.push(submit(&mut connection, &request).await?);
        sleep(Duration::from_millis(60)).await;
        ground.until_succeeded(&mut connection, done + number).await?;
        sleep(Duration::from_millis(20)).await;
    }
    read_clocks(ground, submitted).await
}

/// At a steady rate, whatever the answers do.
pub(super) async fn steady(ground: &Ground, per_second: u32, span: Duration) -> Result<Latency> {
    let request = ground.request("POST", "/v1/runs", Some(&json!({ "job": JOB })));
    let mut watching = ground.connect().await?;
    let done = ground.succeeded(&mut watching).await?;
    let (give_back, mut idle) = mpsc::channel(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        give_back.try_send(ground.connect().await?)?;
    }
    let count = (f64::from(per_second) * span.as_secs_f64()) as usize;
    let mut flying = JoinSet::new();
    let began = Instant::now();
    for number in 0..count {
        sleep_until(began + Duration::from_secs_f64(number as f64 / f64::from(per_second))).await;
        let due_at = SystemTime::now();
        let mut connection: Connection = idle.recv().await.context("no connection")?;
        let (request, give_back) = (request.clone(), give_back.clone());
        flying.spawn(async move {
            let run = submit(&mut connection, &request).await?;
            let _ = give_back.try_send(connection);
            anyhow::Ok(Submitted { begun_at: due_at, ..run })
        });
    }
    let submitted = flying.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    ground.until_succeeded(&mut watching, done + count as u64).await?;
    read_clocks(ground, submitted).await
}

/// A run, and when its submission began.
#[derive(Debug)]
struct Submitted {
    run: String,
    begun_at: SystemTime,
}

async fn submit(connection: &mut Connection, request: &Request) -> Result<Submitted> {
    let begun_at = SystemTime::now();
    let answer = connection.json(request).await?;
    let run = answer["id"].as_str().context("a submission without a run")?.to_owned();
    Ok(Submitted { run, begun_at })
}

/// What the tasks said.
async fn read_clocks(ground: &Ground, submitted: Vec<Submitted>) -> Result<Latency> {
    let mut connection = ground.connect().await?;
    let mut millis = Vec::with_capacity(submitted.len());
    for Submitted { run, begun_at } in submitted {
        let path = format!("/v1/runs/{run}/logs");
        let request = ground.request("GET", &path, None);
        let began = Instant::now();
        let nanos: u64 = loop {
            let page = connection.json(&request).await?;
            if let Some(text) = page["lines"][0]["text"].as_str() {
                break text.trim().parse()?;
            }
            ensure!(began.elapsed() < Duration::from_secs(10), "the output of {run} is not there: {page}");
            sleep(Duration::from_millis(10)).await;
        };
        let started_at = UNIX_EPOCH + Duration::from_nanos(nanos);
        millis.push(started_at.duration_since(begun_at).unwrap_or_default().as_secs_f64() * 1e3);
    }
    Ok(Latency::of(millis))
}
