//! What is measured: a server, and an agent with its sidecar, as processes of the real binary, in a folder that goes with
//! them.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use super::http::{Connection, Request};
use super::usage::{self, Crew};
use crate::store::databases::Databases;

/// Longer than anything takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with processes in it. Whatever was told of the folder ends with it.
#[derive(Debug)]
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self(tempfile::tempdir()?))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Starts the binary with this folder as its home; what it says goes to a file beside its data.
    pub(crate) fn start(
        &self,
        binary: &Path,
        log: &str,
        command: impl FnOnce(&mut Command),
    ) -> Result<Child> {
        let log = File::create(self.path(log))?;
        let mut started = Command::new(binary);
        started.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        started.env("HOME", self.0.path()).current_dir(self.0.path());
        started.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        command(&mut started);
        started.spawn().with_context(|| format!("start {}", binary.display()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let began = Instant::now();
        while let Ok(left) = usage::told_of(self.0.path())
            && !left.is_empty()
            && began.elapsed() < Duration::from_secs(5)
        {
            for (pid, _) in left {
                if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A running cluster of one node.
pub(crate) struct Ground {
    server: Child,
    agent: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(super) crew: Crew,
    /// Last, so that the processes are reaped before it goes.
    pub(crate) folder: Folder,
}

impl Ground {
    pub(crate) async fn start(binary: &Path, databases: &Databases) -> Result<Self> {
        Self::start_for_many(binary, databases, 0).await
    }

    /// The same, for so many connections beyond the ordinary from this machine alone.
    pub(crate) async fn start_for_many(binary: &Path, databases: &Databases, more: usize) -> Result<Self> {
        let folder = Folder::new()?;
        let address = free_address()?;
        let server = folder.start(binary, "server.log", |command| {
            if more > 0 {
                for limit in ["CONNECTIONS_MAX", "CONNECTIONS_PER_ADDRESS_MAX"] {
                    command.env(format!("MAINSPRING_SERVER__{limit}"), (more + 10_000).to_string());
                }
            }
            command.args(["server", "--store", &databases.ours, "--listen", &address.to_string(), "--data"]);
            command.arg(folder.path("server"));
        })?;
        let token = token(&folder.path("server").join("token")).await?;
        let mut connection = until_open(address).await?;
        let join =
            connection.json(&Request::new("POST", "/v1/join-tokens", &token, Some(&json!({})))).await?;
        let join = join["token"].as_str().context("no join token")?.to_owned();
        let agent = folder.start(binary, "agent.log", |command| {
            command.args(["agent", "--name", "bench", "--server", &format!("http://{address}"), "--data"]);
            command.arg(folder.path("agent")).env("MAINSPRING_JOIN_TOKEN", join);
            if rustix::process::geteuid().is_root() {
                command.env("MAINSPRING_AGENT__TASK_USER", "root");
            }
        })?;
        let crew = Crew { server: server.id(), agent: agent.id(), sidecar: 0, database: databases.processes };
        let mut ground = Self { server, agent, address, token, crew, folder };
        ground.until_nodes(1).await?;
        let told = usage::told_of(&ground.folder.path("agent"))?;
        let sidecar = told.iter().find(|(_, command)| command.contains(" sidecar "));
        ground.crew.sidecar = sidecar.context("no sidecar runs")?.0;
        Ok(ground)
    }

    pub(crate) async fn connect(&self) -> Result<Connection> {
        Connection::open(self.address).await
    }

    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Request {
        Request::new(method, path, &self.token, body)
    }

    /// Waits until so many nodes take work.
    pub(crate) async fn until_nodes(&self, count: usize) -> Result<()> {
        let began = Instant::now();
        let mut connection = self.connect().await?;
        let request = self.request("GET", "/v1/nodes", None);
        loop {
            let nodes = connection.json(&request).await?;
            let up = |node: &&Value| node["state"] == "up" && node["connected"] == true;
            if nodes["items"].as_array().is_some_and(|nodes| nodes.iter().filter(up).count() >= count) {
                return Ok(());
            }
            ensure!(began.elapsed() < PATIENCE, "no node came up: {nodes}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Makes a job.
    pub(crate) async fn put_job(&self, name: &str, body: Value) -> Result<()> {
        let mut spec = body;
        spec["name"] = json!(name);
        let request = self.request("PUT", &format!("/v1/jobs/{name}"), Some(&spec));
        self.connect().await?.call(&request).await.map(drop)
    }

    /// How many runs have ended well so far; an error when one did not.
    pub(crate) async fn succeeded(&self, connection: &mut Connection) -> Result<u64> {
        let stats = connection.json(&self.request("GET", "/v1/stats", None)).await?;
        let total = &stats["total"];
        for ill in ["final_failed", "cancelled", "skipped"] {
            ensure!(total[ill] == 0, "not all runs ended well: {total}");
        }
        total["success"].as_u64().context("no sum of runs")
    }

    /// Waits until so many runs have ended well.
    pub(crate) async fn until_succeeded(&self, connection: &mut Connection, count: u64) -> Result<()> {
        let began = Instant::now();
        loop {
            let succeeded = self.succeeded(connection).await?;
            if succeeded >= count {
                return Ok(());
            }
            ensure!(began.elapsed() < PATIENCE, "only {succeeded} of {count} runs have ended");
            sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        for process in [&mut self.agent, &mut self.server] {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The token that a server writes when it starts for the first time.
pub(crate) async fn token(file: &Path) -> Result<String> {
    let began = Instant::now();
    loop {
        match std::fs::read_to_string(file) {
            Ok(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
            _ if began.elapsed() > PATIENCE => bail!("the server did not start"),
            _ => sleep(Duration::from_millis(1)).await,
        }
    }
}

/// A connection, as soon as somebody listens.
pub(crate) async fn until_open(address: SocketAddr) -> Result<Connection> {
    let began = Instant::now();
    loop {
        match Connection::open(address).await {
            Ok(connection) => return Ok(connection),
            Err(error) if began.elapsed() > PATIENCE => return Err(error),
            Err(_) => sleep(Duration::from_millis(1)).await,
        }
    }
}

/// An address that nobody has at the moment.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}
