//! What a server is told at its start. Every value has a default but the store and the folder.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use mainspring_model::{NodeId, limits};

use crate::listener::{ListenLimits, TlsFiles};
use crate::retention::Keeping;

/// How a server runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The store's URL: `sqlite:path`, `postgres://…` or `mysql://…`.
    pub store: String,
    /// Where the process keeps its identity, and logs and artifacts unless they are kept elsewhere.
    pub data: PathBuf,
    /// Where artifacts are kept: `file:///folder` or `s3://bucket/prefix?endpoint=…&region=…`; by default in `data`.
    pub artifacts: Option<String>,
    /// Where the output of runs is kept: as for artifacts; by default in `data`.
    pub logs: Option<String>,
    /// Where it listens, for HTTP and for nodes.
    pub listen: SocketAddr,
    /// How others reach it; by default the address that it listens on.
    pub url: Option<String>,
    /// The certificate under which it serves; without one it serves without TLS.
    pub tls: Option<TlsFiles>,
    /// Certificates with which other servers of the cluster are checked, in PEM; by default the public ones.
    pub ca_file: Option<PathBuf>,
    /// What the listener allows.
    pub limits: ListenLimits,
    /// A folder with the built files of the console, instead of those in the binary; for its development.
    pub console: Option<PathBuf>,
    /// What it does.
    pub roles: Roles,
    /// How many cells the cluster has. The same for every server of a cluster.
    pub cells: u16,
    /// How often nodes send a heartbeat.
    pub heartbeat_every: Duration,
    /// A node silent for so long is lost.
    pub lost_after: Duration,
    /// How long a scheduler that cannot reach its store lets the nodes connected to it go on, from its last renewal on. A new
    /// owner waits as much longer for nodes that have not said hello to it. The same for every server of a cluster.
    pub outage_max: Duration,
    /// The node that lives in this process, if one does.
    pub resident: Option<NodeId>,
    /// Runs that wait in memory at most.
    pub waiting_max: usize,
    /// How often an open stream makes sure that whoever listens still may; a node's connection half as often.
    pub recheck_every: Duration,
    /// How long a caller waits for a store that does not answer.
    pub store_wait: Duration,
    /// How long history is kept that says nothing about it itself.
    pub keeping: Keeping,
}

/// What a server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles {
    /// Serves the HTTP API to everybody. Without it, other servers are answered that pass requests on.
    pub api: bool,
    /// Owns cells and the connections of their nodes. Without it, nodes are sent to who does.
    pub scheduler: bool,
}

impl Options {
    /// Both roles on the loopback address and a free port.
    pub fn new(store: impl Into<String>, data: impl Into<PathBuf>) -> Self {
        Self {
            store: store.into(),
            data: data.into(),
            artifacts: None,
            logs: None,
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            url: None,
            tls: None,
            ca_file: None,
            limits: ListenLimits::default(),
            console: None,
            roles: Roles { api: true, scheduler: true },
            cells: 1,
            heartbeat_every: limits::HEARTBEAT_EVERY,
            lost_after: limits::LOST_AFTER,
            outage_max: limits::STORE_OUTAGE_MAX,
            resident: None,
            waiting_max: mainspring_engine::Config::default().waiting_max,
            recheck_every: Duration::from_secs(15),
            store_wait: Duration::from_secs(10),
            keeping: Keeping::default(),
        }
    }

    /// What cannot work, in words for the person who wrote it. Nothing is opened for it.
    pub fn check(&self) -> Result<(), String> {
        let Self { store, cells, heartbeat_every, lost_after, roles, .. } = self;
        let scheme = store.split_once(':').map_or("", |(scheme, _)| scheme);
        if !crate::server::stores().schemes().any(|known| known == scheme) {
            return Err(format!(
                "store: no store opens `{scheme}:` URLs; write `sqlite:FILE`, `postgres://…` or `mysql://…`"
            ));
        }
        if *cells == 0 || *cells > limits::CELLS_MAX {
            return Err(format!("cells: {cells} is not within 1 and {}", limits::CELLS_MAX));
        }
        if *heartbeat_every * 2 > *lost_after {
            return Err(format!(
                "lost_after: {lost_after:?} leaves no room for a late heartbeat; at least twice heartbeat_every ({heartbeat_every:?})"
            ));
        }
        if *lost_after <= limits::NODE_LEASE_MARGIN * 2 {
            return Err(format!(
                "lost_after: {lost_after:?} is too short; more than {:?}",
                limits::NODE_LEASE_MARGIN * 2
            ));
        }
        self.limits.check()?;
        if !roles.api && !roles.scheduler {
            return Err("roles: name at least one of `api` and `scheduler`".to_owned());
        }
        Ok(())
    }
}
