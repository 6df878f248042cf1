//! What they cost when nothing is to be done: CPU time, memory, and writes to the store.

use std::time::Duration;

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags};
use tokio::time::{Instant, sleep};
use tokio_postgres::{Client, NoTls};

use super::ground::Ground;
use super::usage::{Cpu, Memory};
use crate::store::databases::{Databases, Kind};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// PostgreSQL's own bound is 10 seconds.
const SUMS_TOLD_AFTER: Duration = Duration::from_secs(11);

/// The figures of a quiet span.
#[derive(Debug)]
pub(super) struct Idle {
    pub(super) cpu: Cpu,
    /// Commits of others in the store.
    pub(super) writes: u64,
    pub(super) server: Memory,
    pub(super) agent: Memory,
    pub(super) sidecar: Memory,
}

pub(super) async fn watch(
    ground: &Ground,
    kind: Kind,
    databases: &Databases,
    span: Duration,
) -> Result<Idle> {
    let mut eye = Eye::open(kind, databases).await?;
    let mut writes = 0;
    let (before, mut seen) = (Cpu::of(&ground.crew)?, eye.look().await?);
    let began = Instant::now();
    while began.elapsed() < span {
        sleep(LOOK_EVERY).await;
        let now = eye.look().await?;
        writes += eye.commits(seen, now);
        seen = now;
    }
    Ok(Idle {
        cpu: Cpu::of(&ground.crew)?.since(before),
        writes,
        server: Memory::of(ground.crew.server)?,
        agent: Memory::of(ground.crew.agent)?,
        sidecar: Memory::of(ground.crew.sidecar)?,
    })
}

/// How often rows of runs were inserted or updated so far, by PostgreSQL's own count; none on SQLite, which counts for each
/// connection alone.
pub(super) async fn run_rows_written(kind: Kind, databases: &Databases) -> Result<Option<u64>> {
    if kind != Kind::Postgres {
        return Ok(None);
    }
    let url = databases.ours.split('?').next().unwrap_or_default();
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    // A backend tells its sums when it is idle.
    sleep(SUMS_TOLD_AFTER).await;
    let text = "SELECT n_tup_ins + n_tup_upd FROM pg_stat_user_tables WHERE relname = 'runs'";
    let rows: i64 = client.query_one(text, &[]).await?.try_get(0)?;
    Ok(u64::try_from(rows).ok())
}

/// Sees that somebody else has written.
enum Eye {
    /// The number that a connection of SQLite sees change when another commits.
    Sqlite(Connection),
    /// Transactions of the database, seen from another database.
    Postgres(Client, String),
}

impl Eye {
    async fn open(kind: Kind, databases: &Databases) -> Result<Self> {
        match kind {
            Kind::Sqlite => {
                let file = databases.ours.strip_prefix("sqlite:").context("a URL of SQLite")?;
                Ok(Self::Sqlite(Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?))
            }
            Kind::Postgres | Kind::Mysql => {
                let (client, connection) = tokio_postgres::connect(&databases.raw, NoTls).await?;
                tokio::spawn(connection);
                let path = databases.ours.split('?').next().unwrap_or_default();
                let name = path.rsplit('/').next().unwrap_or_default();
                Ok(Self::Postgres(client, name.to_owned()))
            }
        }
    }

    async fn look(&mut self) -> Result<i64> {
        match self {
            Self::Sqlite(connection) => {
                Ok(connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
            }
            Self::Postgres(client, name) => {
                let text = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1";
                Ok(client.query_one(text, &[name]).await?.try_get(0)?)
            }
        }
    }

    fn commits(&self, before: i64, now: i64) -> u64 {
        match self {
            Self::Sqlite(_) => u64::from(before != now),
            Self::Postgres(..) => u64::try_from(now - before).unwrap_or(0),
        }
    }
}
