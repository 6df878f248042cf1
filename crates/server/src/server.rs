//! The whole server: opened by `build`, served by `run`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use mainspring_app::audit::Chain;
use mainspring_app::ports::Artifacts;
use mainspring_app::{App, Bootstrap, Parts};
use mainspring_blob::Blobs;
use mainspring_model::{CellId, MemberId, NodeId, limits};
use mainspring_store::{Registry, Store};
use rustc_hash::FxHashMap;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{error, info, warn};

use crate::artifacts::Repository;
use crate::bulk;
use crate::cells::LocalCells;
use crate::clock::Clock;
use crate::error::Error;
use crate::health::StoreHealth;
use crate::http::{self, Peers};
use crate::identity::{self, Identity, StoreFile};
use crate::janitor::Janitor;
use crate::listener::{Listener, WrongCredentials};
use crate::logs::{Logs, Ownership, Vault};
use crate::membership::Membership;
use crate::news::Newsroom;
use crate::nodes::{self, Door, Files, NodeService};
use crate::options::Options;
use crate::seat::{self, Hints, Seat};
use crate::settings;
use crate::timely::Timely;
use crate::waiting::{self, OpenedStore};

/// Nobody but this process can open the store, so nobody can take its cells: leases need no quick renewal.
const LONE_LEASE_TTL: Duration = Duration::from_secs(300);
/// How long open requests may take when the server stops.
const DRAIN_WAIT: Duration = Duration::from_secs(10);
/// How long keeping the output of what goes on may take then.
const KEEP_WAIT: Duration = Duration::from_secs(5);

/// A server that is ready to serve.
pub struct Server {
    options: Options,
    identity: Identity,
    /// The store's file is this process's alone.
    _file: Option<StoreFile>,
    store: Arc<dyn Store>,
    /// The same for whoever serves callers.
    timely: Arc<Timely>,
    clock: Clock,
    listener: Listener,
    peers: Arc<Peers>,
    app: Arc<App>,
    cells: Arc<LocalCells>,
    logs: Arc<Logs>,
    vault: Vault,
    artifacts: Arc<dyn Artifacts>,
    seats: Vec<JoinHandle<()>>,
    seats_stop: CancellationToken,
}

impl Server {
    /// Opens the socket and the store, and takes its seats. Waits for a store that is away.
    pub async fn build(options: Options) -> Result<Self, Error> {
        options.check().map_err(Error::Options)?;
        // First: it makes the folder, in which the store may be.
        let identity = take_identity(&options)?;
        let file = StoreFile::lock(&options.store)?;
        let listener = Listener::open(&options).await?;
        let opened = waiting::until_done(&listener, async || OpenedStore::open(&options).await).await;
        let opened = opened.map_err(Error::Store)?;
        Ok(Self { _file: file, ..Self::assemble(options, identity, opened, listener)? })
    }

    /// The same on a store that is open: tests have several servers on one in memory.
    pub async fn build_on(options: Options, store: Arc<dyn Store>) -> Result<Self, Error> {
        options.check().map_err(Error::Options)?;
        let identity = take_identity(&options)?;
        let listener = Listener::open(&options).await?;
        let read = async || OpenedStore::read(&options, Arc::clone(&store)).await;
        let opened = waiting::until_done(&listener, read).await.map_err(Error::Store)?;
        Self::assemble(options, identity, opened, listener)
    }

    fn assemble(
        options: Options,
        identity: Identity,
        opened: OpenedStore,
        listener: Listener,
    ) -> Result<Self, Error> {
        let OpenedStore { store, cells: recorded, clock, patience } = opened;
        if recorded != options.cells {
            return Err(Error::Cells { configured: options.cells, recorded });
        }
        let peers = Arc::new(Peers::new(options.ca_file.as_deref()).map_err(Error::Tls)?);
        let chain = MemberId::new(clock.now(), identity::random().map_err(Error::Serve)?);
        let chain = Arc::new(Chain::new(chain, options.keeping.audit));
        let news = Newsroom::new();
        let seats_stop = CancellationToken::new();
        let hints: Hints = (0..options.cells).map(|_| Notify::new()).collect();
        let health = Arc::new(StoreHealth::new());
        let common = Seats {
            options: &options,
            patience: patience.into_iter().collect(),
            store: &store,
            clock: clock.clone(),
            news: &news,
            chain: &chain,
            hints: &hints,
            health: &health,
        };
        let (handles, seats) = common.take(&identity, &seats_stop).into_iter().unzip();
        let timely = Arc::new(Timely::new(Arc::clone(&store), options.store_wait));
        let cells = Arc::new(LocalCells {
            seats: handles,
            count: options.cells,
            member: identity.member,
            store: Arc::clone(&timely) as _,
            clock: clock.clone(),
            news,
            chain: Arc::clone(&chain),
            hints,
            others: Default::default(),
            health,
            unowned: Default::default(),
        });
        let vault = open_vault(&options)?;
        let artifacts = open_artifacts(&options)?;
        if is_shared(&options.store) && (options.logs.is_none() || options.artifacts.is_none()) {
            warn!(
                "logs or artifacts are kept on this machine, where other servers do not find them; for several servers, give server.logs and server.artifacts a place that all of them reach"
            );
        }
        let ownership = Ownership { cells: Arc::clone(&cells), store: Arc::clone(&store) };
        let logs = Arc::new(Logs::new(vault.clone(), ownership, options.data.as_path().into()));
        let parts = Parts {
            store: Arc::clone(&timely) as _,
            cells: Arc::clone(&cells) as _,
            logs: Arc::clone(&logs) as _,
            artifacts: Some(Arc::clone(&artifacts)),
            chain,
        };
        let app_options =
            mainspring_app::Options { store_wait: options.store_wait, ..mainspring_app::Options::default() };
        let app = App::new(parts, app_options);
        Ok(Self {
            _file: None,
            options,
            identity,
            store,
            timely,
            clock,
            listener,
            peers,
            app,
            cells,
            logs,
            vault,
            artifacts,
            seats,
            seats_stop,
        })
    }

    /// Where it is reached.
    pub fn url(&self) -> &str {
        &self.listener.url
    }

    /// Whether it serves with TLS.
    pub fn is_encrypted(&self) -> bool {
        self.options.tls.is_some()
    }

    /// Where it is reached from this machine.
    pub fn local_url(&self) -> &str {
        &self.listener.local_url
    }

    /// The use cases, for what a process may ask of itself: the first token, a login link, a join token.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Makes the first admin and a token for them, if nobody is admin everywhere. Waits for a store that is away.
    pub async fn bootstrap(&self) -> mainspring_app::Result<Option<Bootstrap>> {
        waiting::bootstrap(&self.app).await
    }

    /// Serves until `stop` is cancelled; then lets requests finish and gives the cells back.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), Error> {
        let tasks = TaskTracker::new();
        tasks.spawn(self.membership().run(stop.clone()));
        tasks.spawn(self.clock.clone().follow(Arc::clone(&self.store), stop.clone()));
        tasks.spawn(Box::pin(self.janitor().run(stop.clone())));
        let (app, stopped) = (Arc::clone(&self.app), stop.clone());
        tasks.spawn(async move {
            stopped.run_until_cancelled(app.write_left_over_audit()).await;
        });
        tasks.spawn(bulk::run(Arc::clone(&self.app), is_shared(&self.options.store), stop.clone()));
        let (app, stopped) = (Arc::clone(&self.app), stop.clone());
        tasks.spawn(async move {
            stopped.run_until_cancelled(app.write_token_uses()).await;
        });
        let routes = self.routes(&stop, &tasks);
        info!(url = self.listener.url, member = %self.identity.member, "serving");
        let served = tokio::select! {
            () = self.listener.serve(routes, stop.clone()) => Ok(()),
            () = late(&stop) => {
                warn!("some requests did not finish in time");
                Ok(())
            }
            () = one_ends(&mut self.seats) => Err(Error::BrokenDown),
        };
        stop.cancel();
        self.seats_stop.cancel();
        for seat in self.seats.into_iter().filter(|seat| !seat.is_finished()) {
            drop(seat.await);
        }
        tasks.close();
        tasks.wait().await;
        if !timeout(KEEP_WAIT, self.app.try_left_over_audit()).await.unwrap_or(false) {
            warn!("records of the audit are lost: the store is away");
        }
        if timeout(KEEP_WAIT, Box::pin(self.logs.put_all_away())).await.is_err() {
            warn!("not all output that came was kept; nodes that live send it again");
        }
        served
    }

    fn routes(&self, stop: &CancellationToken, tasks: &TaskTracker) -> axum::Router {
        let wrong_credentials =
            Arc::new(WrongCredentials::new(self.options.limits.wrong_credentials_per_minute));
        // A server without cells sends nodes to those who own them.
        let service = NodeService {
            gate: Arc::new(Door(Arc::clone(&self.app))),
            cells: Arc::clone(&self.cells),
            logs: Arc::clone(&self.logs),
            files: Files {
                store: Arc::clone(&self.store),
                ownership: Ownership { cells: Arc::clone(&self.cells), store: Arc::clone(&self.store) },
                artifacts: Arc::clone(&self.artifacts),
            },
            recheck_every: self.options.recheck_every * 2,
            wrong_credentials: Arc::clone(&wrong_credentials),
            stop: stop.clone(),
            tasks: tasks.clone(),
        };
        http::router(self.edge(stop, wrong_credentials)).merge(nodes::router(service))
    }

    fn edge(&self, stop: &CancellationToken, wrong_credentials: Arc<WrongCredentials>) -> http::Edge {
        let (cells, store) = (Arc::clone(&self.cells), Arc::clone(&self.timely));
        let waits_for = move || {
            let (cells, store) = (Arc::clone(&cells), Arc::clone(&store));
            let missing = async move {
                let (cells, store) = (cells.is_ready(), store.answers().await);
                let missing =
                    [(cells, "cells"), (store, "store")].into_iter().filter(|(is_there, _)| !is_there);
                missing.map(|(_, what)| what.to_owned()).collect()
            };
            missing.boxed()
        };
        http::Edge {
            app: Arc::clone(&self.app),
            is_public: self.options.roles.api,
            readiness: Arc::new(waits_for),
            secure_cookies: self.listener.url.starts_with("https://"),
            console: match &self.options.console {
                Some(folder) => mainspring_console::Console::from_folder(folder),
                None => mainspring_console::Console::embedded(),
            },
            recheck_every: self.options.recheck_every,
            settings: settings::of(&self.options, self.identity.member, &self.listener.url),
            wrong_credentials,
            peers: Arc::clone(&self.peers),
            stop: stop.clone(),
        }
    }

    fn membership(&self) -> Membership {
        Membership {
            store: Arc::clone(&self.store),
            clock: self.clock.clone(),
            member: self.identity.member,
            url: self.listener.url.clone(),
            shared: is_shared(&self.options.store),
        }
    }

    fn janitor(&self) -> Janitor {
        Janitor {
            store: Arc::clone(&self.store),
            cells: Arc::clone(&self.cells),
            clock: self.clock.clone(),
            logs: Arc::clone(&self.logs),
            vault: self.vault.clone(),
            keeping: self.options.keeping,
            app: Arc::clone(&self.app),
        }
    }
}

/// What all seats share.
struct Seats<'a> {
    patience: FxHashMap<NodeId, Duration>,
    options: &'a Options,
    store: &'a Arc<dyn Store>,
    clock: Clock,
    news: &'a Newsroom,
    chain: &'a Arc<Chain>,
    hints: &'a Hints,
    health: &'a Arc<StoreHealth>,
}

impl Seats<'_> {
    fn take(&self, identity: &Identity, stop: &CancellationToken) -> Vec<(seat::SeatHandle, JoinHandle<()>)> {
        let Options { roles, cells, heartbeat_every, lost_after, outage_max, waiting_max, keeping, .. } =
            self.options;
        let count = if roles.scheduler { *cells } else { 0 };
        let (lease_ttl, lease_renew_every) = match is_shared(&self.options.store) {
            true => (limits::LEASE_TTL, limits::LEASE_RENEW_EVERY),
            false => (LONE_LEASE_TTL, LONE_LEASE_TTL / 3),
        };
        let config = |cell: u16| seat::Config {
            engine: mainspring_engine::Config {
                cell: CellId(cell),
                cells: *cells,
                lost_after: *lost_after,
                outage_max: *outage_max,
                lease_ttl,
                patience: self.patience.clone(),
                waiting_max: *waiting_max,
                occurrences_kept: keeping.occurrences,
                ..mainspring_engine::Config::default()
            },
            member: identity.member,
            lease_ttl,
            lease_renew_every,
            heartbeat_every: *heartbeat_every,
            store: Arc::clone(self.store),
            clock: self.clock.clone(),
            news: self.news.clone(),
            chain: Arc::clone(self.chain),
            hints: Arc::clone(self.hints),
            health: Arc::clone(self.health),
        };
        (0..count).map(|cell| Seat::start(config(cell), stop.clone())).collect()
    }
}

fn take_identity(options: &Options) -> Result<Identity, Error> {
    Identity::take(&options.data, Clock::of_host().now())
        .map_err(|source| Error::Data { folder: options.data.clone(), source })
}

/// The stores that a server knows.
pub(crate) fn stores() -> Registry {
    let mut registry = Registry::new();
    mainspring_store_sql::register(&mut registry);
    registry
}

/// The number of cells never changes: hashes of namespaces and nodes lead to cells by it.
fn open_artifacts(options: &Options) -> Result<Arc<dyn Artifacts>, Error> {
    let folder = std::path::absolute(options.data.join("artifacts"))
        .map_err(|source| Error::Folder { folder: options.data.clone(), source })?;
    let url = options.artifacts.clone().unwrap_or_else(|| format!("file://{}", folder.display()));
    Ok(Arc::new(Repository(Blobs::open(&url).map_err(Error::Artifacts)?)))
}

pub(crate) fn open_vault(options: &Options) -> Result<Vault, Error> {
    let default = options.data.join("logs");
    let folder = match &options.logs {
        None => default,
        Some(url) => match url.strip_prefix("file://") {
            Some(folder) => PathBuf::from(folder),
            None => return Ok(Vault::bucket(Blobs::open(url).map_err(Error::Logs)?)),
        },
    };
    Vault::folder(&folder).map_err(|source| Error::Folder { folder, source })
}

/// Whether several servers can use the store.
pub(crate) fn is_shared(url: &str) -> bool {
    StoreFile::path(url).is_none()
}

/// A seat's task ends when it is told to, or it broke down.
async fn one_ends(seats: &mut [JoinHandle<()>]) {
    if seats.is_empty() {
        return std::future::pending().await;
    }
    if let (Err(broken), ..) = futures_util::future::select_all(seats).await {
        error!(%broken, "a scheduler's task broke down");
    }
}

async fn late(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(DRAIN_WAIT).await;
}
