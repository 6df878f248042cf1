//! What the machine allows: processes started and waited for, and durable commits of rows that say next to nothing.

use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use tokio_postgres::{Client, NoTls, Statement};

use super::Measured;
use super::usage::Cpu;
use crate::store::databases::{Databases, Kind};
use crate::store::processes::Processes;

const THREADS: u64 = 2;
/// Rows of a grouped commit.
pub(crate) const GROUP: usize = 100;

/// Starts `/bin/true` and waits for it, on two threads. The standard library starts a plain command with `posix_spawn`.
pub(super) fn spawn(each: u64) -> Result<Measured> {
    let before = Cpu::of_ourselves(Processes::Own)?;
    let began = Instant::now();
    let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn(move || spawn_and_wait(each))).collect();
    for thread in threads {
        thread.join().ok().context("a thread panicked")??;
    }
    let wall = began.elapsed();
    let cpu = Cpu::of_ourselves(Processes::Own)?.since(before);
    Ok(Measured { jobs: each * THREADS, wall, cpu })
}

fn spawn_and_wait(count: u64) -> Result<()> {
    for _ in 0..count {
        let mut command = Command::new("/bin/true");
        command.env_clear().stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        ensure!(command.status()?.success(), "/bin/true is not true");
    }
    Ok(())
}

/// Rows written durably for a while, so many in a commit.
pub(crate) async fn commits(
    kind: Kind,
    databases: &Databases,
    rows: usize,
    span: Duration,
) -> Result<Measured> {
    let raw = Raw::open(kind, &databases.raw).await?;
    let before = Cpu::of_ourselves(databases.processes)?;
    let began = Instant::now();
    let mut jobs = 0;
    while began.elapsed() < span {
        raw.commit(rows).await?;
        jobs += rows as u64;
    }
    let wall = began.elapsed();
    Ok(Measured { jobs, wall, cpu: Cpu::of_ourselves(databases.processes)?.since(before) })
}

/// How long a commit of one row takes that has nothing to do with us, tried again and again on a thread of its own: what
/// the disk does meanwhile befalls both.
pub(super) struct Meanwhile {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<Result<Vec<f64>>>,
}

impl Meanwhile {
    const PAUSE: Duration = Duration::from_millis(50);

    pub(super) fn start(kind: Kind, databases: &Databases) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let url = databases.raw.clone();
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            let raw = runtime.block_on(Raw::open(kind, &url))?;
            let mut millis = Vec::new();
            while stopped.recv_timeout(Self::PAUSE) == Err(RecvTimeoutError::Timeout) {
                let began = Instant::now();
                runtime.block_on(raw.commit(1))?;
                millis.push(began.elapsed().as_secs_f64() * 1e3);
            }
            Ok(millis)
        });
        Ok(Self { stop, thread })
    }

    /// Ends it; tells the milliseconds of each commit.
    pub(super) fn end(self) -> Result<Vec<f64>> {
        drop(self.stop);
        self.thread.join().ok().context("a thread panicked")?
    }
}

/// A database that nothing else uses.
enum Raw {
    Sqlite(Connection),
    Postgres(Client, Statement),
}

impl Raw {
    async fn open(kind: Kind, url: &str) -> Result<Self> {
        match kind {
            Kind::Sqlite => {
                let file = url.strip_prefix("sqlite:").context("a URL of SQLite")?;
                let connection = Connection::open(file)?;
                connection.pragma_update(None, "journal_mode", "wal")?;
                connection.pragma_update(None, "synchronous", "full")?;
                connection
                    .execute_batch("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, body BLOB)")?;
                Ok(Self::Sqlite(connection))
            }
            Kind::Postgres | Kind::Mysql => {
                let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
                tokio::spawn(connection);
                client
                    .batch_execute("CREATE TABLE IF NOT EXISTS t (id BIGSERIAL PRIMARY KEY, body BYTEA)")
                    .await?;
                let insert = client.prepare("INSERT INTO t (body) SELECT * FROM UNNEST($1::bytea[])").await?;
                Ok(Self::Postgres(client, insert))
            }
        }
    }

    /// Writes so many rows in one durable commit.
    async fn commit(&self, rows: usize) -> Result<()> {
        const BODY: &[u8] = &[7; 100];
        match self {
            Self::Sqlite(connection) => {
                connection.prepare_cached("BEGIN IMMEDIATE")?.raw_execute()?;
                let mut insert = connection.prepare_cached("INSERT INTO t (body) VALUES (?1)")?;
                for _ in 0..rows {
                    insert.execute([BODY])?;
                }
                connection.prepare_cached("COMMIT")?.raw_execute()?;
            }
            Self::Postgres(client, insert) => {
                client.execute(insert, &[&vec![BODY; rows]]).await?;
            }
        }
        Ok(())
    }
}
