//! What an agent is told when it starts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;

/// Options of [`crate::run`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory of the agent and of its sidecar. Made if it is missing.
    pub data: PathBuf,
    /// Where schedulers listen, `http://…` or `https://…`; any of them will do.
    pub servers: Vec<String>,
    /// A single-use token, for a node that has no credential yet.
    pub join_token: Option<String>,
    /// Certificates to trust, in PEM, instead of the public ones.
    pub ca_file: Option<PathBuf>,
    /// The node's name; its host name if absent.
    pub name: Option<String>,
    /// Its pool.
    pub pool: String,
    /// Labels beside those that every node has: `os`, `arch`, `hostname`.
    pub labels: BTreeMap<String, String>,
    /// CPU that may be reserved; all of it if absent.
    pub cpu_milli: Option<u64>,
    /// Memory that may be reserved; all of it if absent.
    pub memory_bytes: Option<u64>,
    /// Anything else that is counted, in thousandths.
    pub named_milli: BTreeMap<String, u64>,
    /// How many attempts it takes at once; by the number of its cores if absent.
    pub slots: Option<u32>,
    /// Its share under the `weighted` balancer.
    pub weight: u32,
    /// How the sidecar is started.
    pub sidecar: SidecarCommand,
    /// How long the sidecar may stay without an answer before it is replaced; its tasks go on.
    pub sidecar_patience: Duration,
    /// The most bytes of fetched artifacts that are kept for later attempts.
    pub cache_bytes_max: u64,
    /// How long the log of an attempt is kept here when no scheduler takes it.
    pub retain: Duration,
    /// Addresses (`10.0.0.0/8`, `192.168.1.7`) that artifacts, inputs and outputs may reach although they are private.
    pub allowed_networks: Vec<String>,
    /// Directories that `file:` locations of artifacts, inputs and outputs may use; none if empty. The agent reads and writes
    /// there as its own user.
    pub allowed_paths: Vec<PathBuf>,
    /// Directories that they may never use, beside the agent's own.
    pub forbidden_paths: Vec<PathBuf>,
    /// Buckets, whole (`BUCKET`) or in part (`BUCKET/PREFIX`), or with where they are (`s3://BUCKET/PREFIX?endpoint=…&region=…`),
    /// that `s3:` locations may use; none if empty. The agent uses its own credentials there.
    pub allowed_buckets: Vec<String>,
    /// The user that tasks run as when their job names none, a name or a number; the agent's own if absent, unless that is
    /// root: [`Options::check`]. Only root can be another.
    pub task_user: Option<String>,
    /// The users that jobs may name beside that one; another than the agent's own needs an agent that runs as root.
    pub allowed_users: Vec<String>,
    /// The most processes and threads of a task; a job's own limit counts within it.
    pub task_processes: u32,
    /// Whether the end of the agent waits until nothing is held, taking nothing new, instead of leaving tasks to the sidecar.
    pub drain_on_shutdown: bool,
}

/// How the sidecar is started. The directory follows as the last argument.
#[derive(Debug, Clone)]
pub struct SidecarCommand {
    /// The program; this one if absent.
    pub program: Option<PathBuf>,
    /// Its arguments before the directory.
    pub args: Vec<OsString>,
}

impl Options {
    /// What keeps an agent from running with these options. An agent of root must be told as whom tasks run: whoever may edit a
    /// job would be root here otherwise, without anybody having decided that.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |name, why: &str| Err(Error::Option { name, why: why.to_owned() });
        if self.servers.is_empty() {
            return wrong("servers", "at least one scheduler is needed");
        }
        if self.lacks_task_user() {
            return wrong(
                "task_user",
                "this agent runs as root and was not told as whom tasks run; set `task_user = \"NAME\"` under `[agent]` in \
                 mainspring.toml (or MAINSPRING_AGENT__TASK_USER); `root` makes everybody who may edit a job root on this machine",
            );
        }
        Ok(())
    }

    /// Whether this agent is one of root that was not told as whom tasks run.
    pub fn lacks_task_user(&self) -> bool {
        self.task_user.is_none() && rustix::process::geteuid().is_root()
    }

    /// The defaults for a directory and the schedulers.
    pub fn new(data: impl Into<PathBuf>, servers: Vec<String>) -> Self {
        Self {
            data: data.into(),
            servers,
            join_token: None,
            ca_file: None,
            name: None,
            pool: "default".to_owned(),
            labels: BTreeMap::new(),
            cpu_milli: None,
            memory_bytes: None,
            named_milli: BTreeMap::new(),
            slots: None,
            weight: 1,
            sidecar: SidecarCommand { program: None, args: vec!["sidecar".into(), "--data".into()] },
            sidecar_patience: Duration::from_secs(60),
            cache_bytes_max: 4 << 30,
            retain: Duration::from_secs(7 * 24 * 3600),
            allowed_networks: Vec::new(),
            allowed_paths: Vec::new(),
            forbidden_paths: Vec::new(),
            allowed_buckets: Vec::new(),
            task_user: None,
            allowed_users: Vec::new(),
            task_processes: 4096,
            drain_on_shutdown: false,
        }
    }
}
