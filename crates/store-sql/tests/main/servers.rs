//! The three servers as test subjects: fresh data in each, under a name of its own, gone when the test is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use mainspring_store::{Registry, Store};
use mainspring_store_conformance::{Data, Harness};
use mysql_async::prelude::Queryable;
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::proxy::{self, Cut};

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    /// A file.
    Sqlite,
    /// A schema of its own in the database that the environment names.
    Postgres,
    /// A database of its own on the server that the environment names.
    Mysql,
}

impl Server {
    pub(crate) const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::Mysql];
}

/// The URL in the environment, or a failure with what to do.
pub(crate) fn url_of(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run this through `cargo xtask test` or `cargo xtask db -- …`")
    })
}

/// Opens a store by URL, as a user would.
pub(crate) async fn open(url: &str) -> Arc<dyn Store> {
    let mut registry = Registry::new();
    mainspring_store_sql::register(&mut registry);
    registry.open(url).await.unwrap_or_else(|error| panic!("cannot open the store: {error}"))
}

/// Data of its own on a server.
pub(crate) struct Place {
    pub(crate) server: Server,
    /// Where to open it.
    pub(crate) url: String,
    name: String,
    _folder: Option<TempDir>,
}

impl Place {
    /// New data without a schema.
    pub(crate) async fn new(server: Server) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("t{}_{count}", std::process::id());
        match server {
            Server::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                let url = format!("sqlite:{}", folder.path().join("store.db").display());
                Self { server, url, name, _folder: Some(folder) }
            }
            Server::Postgres => {
                let base = url_of("MAINSPRING_TEST_POSTGRES");
                Backdoor::open(server, &base).await.execute(&format!("CREATE SCHEMA {name}")).await;
                let url =
                    format!("{base}?application_name=mainspring-{name}&options=-c%20search_path%3D{name}");
                Self { server, url, name, _folder: None }
            }
            Server::Mysql => {
                let base = url_of("MAINSPRING_TEST_MYSQL");
                Backdoor::open(server, &base).await.execute(&format!("CREATE DATABASE {name}")).await;
                let (server_url, _) = base.rsplit_once('/').unwrap();
                let url = format!("{server_url}/{name}");
                Self { server, url, name, _folder: None }
            }
        }
    }

    /// Migrated, and a handle on it.
    pub(crate) async fn migrated(server: Server) -> (Self, Arc<dyn Store>) {
        let place = Self::new(server).await;
        let store = open(&place.url).await;
        store.migrate().await.unwrap();
        (place, store)
    }

    /// Runs statements behind the store's back.
    pub(crate) async fn execute(&self, text: &str) {
        Backdoor::open(self.server, &self.url).await.execute(text).await;
    }

    /// What the server says it does for a statement.
    pub(crate) async fn plan(&self, text: &str) -> String {
        self.backdoor().await.plan(text).await
    }

    /// A connection behind the store's back, for a transaction of its own.
    pub(crate) async fn backdoor(&self) -> Backdoor {
        Backdoor::open(self.server, &self.url).await
    }

    /// An id as the server's SQL writes it.
    pub(crate) fn literal(&self, id: &[u8; 16]) -> String {
        let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        match self.server {
            Server::Sqlite | Server::Mysql => format!("x'{hex}'"),
            Server::Postgres => format!("'{hex}'::uuid"),
        }
    }

    /// Returns when a connection of a store waits for a lock that somebody holds.
    pub(crate) async fn wait_for_waiter(&self) {
        let mut backdoor = self.backdoor().await;
        // No server tells when a wait begins, so it must be asked again and again; and MariaDB renews what it says about
        // transactions only when nobody asked for a tenth of a second.
        for _ in 0..4_000 {
            if !backdoor.column(&self.waiters()).await.is_empty() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        }
        panic!("nobody waits for a lock");
    }

    fn waiters(&self) -> String {
        match self.server {
            Server::Sqlite => unreachable!("SQLite has no server to ask"),
            Server::Postgres => format!(
                "SELECT pid::bigint FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid IN \
                 (SELECT pid FROM pg_locks WHERE relation = '{}.runs'::regclass)",
                self.name
            ),
            Server::Mysql => format!(
                "SELECT p.id FROM information_schema.processlist p JOIN information_schema.innodb_trx t \
                 ON t.trx_mysql_thread_id = p.id WHERE t.trx_state = 'LOCK WAIT' AND p.db = '{}'",
                self.name
            ),
        }
    }

    /// For how long connections of a store have waited for a lock, by the server's clock.
    pub(crate) fn longest_wait_ms(&self) -> String {
        format!(
            "SELECT (extract(epoch FROM clock_timestamp() - query_start) * 1000)::bigint FROM pg_stat_activity \
             WHERE wait_event_type = 'Lock' AND application_name = 'mainspring-{}'",
            self.name
        )
    }

    /// Kills the connections that wait for a lock.
    pub(crate) async fn kill_waiters(&self) {
        let mut backdoor = self.backdoor().await;
        for id in backdoor.column(&self.waiters()).await {
            backdoor.kill(id).await;
        }
    }

    /// Kills every other connection to this data.
    pub(crate) async fn kill_all_others(&self) {
        let mut backdoor = self.backdoor().await;
        let others = match self.server {
            Server::Sqlite => unreachable!("SQLite has no connections to kill"),
            // Connections know the schema by their start options only.
            Server::Postgres => format!(
                "SELECT DISTINCT a.pid::bigint FROM pg_stat_activity a WHERE a.pid <> pg_backend_pid() \
                 AND a.application_name = 'mainspring-{}'",
                self.name
            ),
            Server::Mysql => format!(
                "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND db = '{}'",
                self.name
            ),
        };
        for id in backdoor.column(&others).await {
            backdoor.kill(id).await;
        }
    }

    /// Removes the data of a server; files go by themselves.
    pub(crate) async fn remove(&self) {
        match self.server {
            Server::Sqlite => {}
            Server::Postgres => self.execute(&format!("DROP SCHEMA {} CASCADE", self.name)).await,
            Server::Mysql => self.execute(&format!("DROP DATABASE {}", self.name)).await,
        }
    }
}

/// A connection behind the store's back. Logging in takes a server longer than most statements, so it is kept.
pub(crate) enum Backdoor {
    Sqlite(rusqlite::Connection),
    Postgres(tokio_postgres::Client),
    Mysql(Box<mysql_async::Conn>),
}

impl Backdoor {
    async fn open(server: Server, url: &str) -> Self {
        match server {
            Server::Sqlite => {
                let path = url.strip_prefix("sqlite:").unwrap();
                Self::Sqlite(rusqlite::Connection::open(path).unwrap())
            }
            Server::Postgres => {
                let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
                tokio::spawn(connection);
                Self::Postgres(client)
            }
            Server::Mysql => Self::Mysql(Box::new(mysql_async::Conn::from_url(url).await.unwrap())),
        }
    }

    /// The first column of the answer, as numbers.
    pub(crate) async fn column(&mut self, text: &str) -> Vec<i64> {
        match self {
            Self::Sqlite(_) => unreachable!("not asked of SQLite"),
            Self::Postgres(client) => {
                client.query(text, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
            }
            Self::Mysql(conn) => conn.query(text).await.unwrap(),
        }
    }

    /// Kills a connection; it may be gone already.
    async fn kill(&mut self, id: i64) {
        match self {
            Self::Sqlite(_) => unreachable!("not asked of SQLite"),
            Self::Postgres(_) => self.execute(&format!("SELECT pg_terminate_backend({id})")).await,
            Self::Mysql(conn) => drop(conn.query_drop(format!("KILL {id}")).await),
        }
    }

    /// What the server says it does for a statement, in one text.
    async fn plan(&mut self, text: &str) -> String {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare(text).unwrap();
                let lines = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
                lines.map(Result::unwrap).collect::<Vec<_>>().join("\n")
            }
            Self::Postgres(client) => {
                let rows = client.query(text, &[]).await.unwrap();
                rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
            }
            Self::Mysql(conn) => conn.query::<String, _>(text).await.unwrap().join("\n"),
        }
    }

    /// Runs statements that the server may refuse.
    pub(crate) async fn try_execute(&mut self, text: &str) {
        match self {
            Self::Sqlite(connection) => drop(connection.execute_batch(text)),
            Self::Postgres(client) => drop(client.batch_execute(text).await),
            Self::Mysql(conn) => drop(conn.query_drop(text).await),
        }
    }

    /// Runs statements.
    pub(crate) async fn execute(&mut self, text: &str) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(text).unwrap(),
            Self::Postgres(client) => client.batch_execute(text).await.unwrap(),
            Self::Mysql(conn) => conn.query_drop(text).await.unwrap(),
        }
    }
}

/// Every table but the one of migrations.
const TABLES: [&str; 10] = [
    "runs",
    "attempts",
    "run_events",
    "jobs",
    "job_versions",
    "nodes",
    "counters",
    "leases",
    "members",
    "records",
];

/// Fresh stores for conformance. Making tables takes a server longer than most cases, so they are made once and
/// emptied; a case that asks for data of its own gets it.
pub(crate) struct Fresh {
    place: Place,
    store: Arc<dyn Store>,
    backdoor: Mutex<Backdoor>,
}

impl Fresh {
    pub(crate) async fn new(server: Server) -> Self {
        let (place, store) = Place::migrated(server).await;
        let backdoor = Mutex::new(Backdoor::open(server, &place.url).await);
        Self { place, store, backdoor }
    }

    pub(crate) async fn remove(&self) {
        self.place.remove().await;
    }
}

#[async_trait]
impl Harness for Fresh {
    async fn fresh(&self) -> Arc<dyn Store> {
        let text: Vec<String> = TABLES.iter().map(|table| format!("DELETE FROM {table}")).collect();
        self.backdoor.lock().await.execute(&text.join("; ")).await;
        Arc::clone(&self.store)
    }

    async fn data(&self) -> Option<Arc<dyn Data>> {
        Some(Arc::new(Own(Place::new(self.place.server).await)))
    }
}

struct Own(Place);

impl Own {
    /// A handle whose first commit is made but not answered.
    async fn cut(&self) -> Option<Arc<dyn Store>> {
        match self.0.server {
            // There is no connection between us and SQLite; a lost answer is a killed process, which `crash` does.
            Server::Sqlite => None,
            Server::Postgres | Server::Mysql => {
                Some(open(&proxy::in_front_of(&self.0.url, Cut::AfterCommit).await).await)
            }
        }
    }
}

#[async_trait]
impl Data for Own {
    async fn open(&self) -> Arc<dyn Store> {
        open(&self.0.url).await
    }

    async fn open_cut_after_commit(&self) -> Option<Arc<dyn Store>> {
        self.cut().await
    }
}
