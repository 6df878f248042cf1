//! Whole runs: submitted in batches, durable, executed on the node, ended, kept.

use std::time::Instant;

use anyhow::{Result, ensure};
use mainspring_client::worker::{Context, TaskError, Worker};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::Measured;
use super::ground::Ground;
use super::usage::Cpu;

const BATCH: usize = 500;

/// Submits so many runs of a job in batches, and waits until all of them have ended well.
pub(super) async fn run(ground: &Ground, job: &str, count: usize) -> Result<Measured> {
    let mut connection = ground.connect().await?;
    let done = ground.succeeded(&mut connection).await?;
    let request = |runs: usize| {
        let batch = json!({ "runs": vec![json!({ "job": job }); runs] });
        ground.request("POST", "/v1/runs/batch", Some(&batch))
    };
    let whole = request(BATCH);
    let before = Cpu::of(&ground.crew)?;
    let began = Instant::now();
    let mut left = count;
    while left > 0 {
        let runs = left.min(BATCH);
        let answer = if runs == BATCH {
            connection.json(&whole).await?
        } else {
            connection.json(&request(runs)).await?
        };
        ensure!(answer["submitted"] == runs, "not all runs were taken: {}", answer["items"][0]);
        left -= runs;
    }
    ground.until_succeeded(&mut connection, done + count as u64).await?;
    let wall = began.elapsed();
    Ok(Measured { jobs: count as u64, wall, cpu: Cpu::of(&ground.crew)?.since(before) })
}

/// Runs of a function that does nothing, in a worker of this process.
pub(super) async fn run_functions(ground: &Ground, count: usize) -> Result<Measured> {
    let mut connection = ground.connect().await?;
    let join = connection.json(&ground.request("POST", "/v1/join-tokens", Some(&json!({})))).await?;
    let nothing = |_: Context, _: Map<String, Value>| async { Ok::<(), TaskError>(()) };
    let worker = Worker::new(format!("http://{}", ground.address), ground.folder.path("worker"))
        .join_token(join["token"].as_str().map(str::to_owned))
        .slots(256)
        .handler("nothing", nothing);
    let (stop, stopped) = oneshot::channel::<()>();
    let working = tokio::spawn(worker.run(async move {
        let _ = stopped.await;
    }));
    ground.put_job("nothing", json!({ "handler": "nothing" })).await?;
    ground.until_nodes(2).await?;
    run(ground, "nothing", BATCH).await?;
    let measured = run(ground, "nothing", count).await;
    let _ = stop.send(());
    working.await??;
    measured
}
