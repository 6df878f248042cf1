//! From nothing to the first finished job: `mainspring up` in an empty folder.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tokio::time::sleep;

use super::ground::{Folder, free_address, token, until_open};
use super::http::Request;
use super::usage;

const PATIENCE: Duration = Duration::from_secs(60);

/// How long it takes, and the CPU time of everything that was started.
pub(super) async fn start(binary: &Path) -> Result<(Duration, Duration)> {
    let folder = Folder::new()?;
    let address = free_address()?;
    let began = Instant::now();
    let mut up = folder.start(binary, "up.log", |command| {
        command.args(["up", "--listen", &address.to_string(), "--data"]).arg(folder.path("data"));
    })?;
    let finished = first_job(&folder, address, began).await;
    let cpu = usage::of_folder(&folder.path("data"));
    let _ = up.kill();
    let _ = up.wait();
    Ok((finished?, cpu?))
}

async fn first_job(folder: &Folder, address: std::net::SocketAddr, began: Instant) -> Result<Duration> {
    let token = token(&folder.path("data").join("token")).await?;
    let mut connection = until_open(address).await?;
    let spec = json!({ "spec": { "name": "first", "process": "/bin/true" } });
    let run = connection.json(&Request::new("POST", "/v1/runs", &token, Some(&spec))).await?;
    let run = run["id"].as_str().context("no run")?;
    let look = Request::new("GET", &format!("/v1/runs/{run}"), &token, None);
    loop {
        let run = connection.json(&look).await?;
        if run["state"] == "success" {
            return Ok(began.elapsed());
        }
        ensure!(began.elapsed() < PATIENCE, "the first run does not end: {run}");
        sleep(Duration::from_millis(1)).await;
    }
}
