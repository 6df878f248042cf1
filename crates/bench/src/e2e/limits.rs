//! What the machine allows: processes started and waited for, and durable commits of rows that say next to nothing.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use tokio_postgres::NoTls;

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
    match kind {
        Kind::Sqlite => sqlite(databases, rows, span),
        Kind::Postgres | Kind::Mysql => postgres(databases, rows, span).await,
    }
}

fn sqlite(databases: &Databases, rows: usize, span: Duration) -> Result<Measured> {
    let file = databases.raw.strip_prefix("sqlite:").context("a URL of SQLite")?;
    let connection = Connection::open(file)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, body BLOB)")?;
    let mut insert = connection.prepare("INSERT INTO t (body) VALUES (?1)")?;
    let before = Cpu::of_ourselves(databases.processes)?;
    let began = Instant::now();
    let mut jobs = 0;
    while began.elapsed() < span {
        connection.prepare_cached("BEGIN IMMEDIATE")?.raw_execute()?;
        for _ in 0..rows {
            insert.execute([&[7u8; 100]])?;
        }
        connection.prepare_cached("COMMIT")?.raw_execute()?;
        jobs += rows as u64;
    }
    let wall = began.elapsed();
    Ok(Measured { jobs, wall, cpu: Cpu::of_ourselves(databases.processes)?.since(before) })
}

async fn postgres(databases: &Databases, rows: usize, span: Duration) -> Result<Measured> {
    let (client, connection) = tokio_postgres::connect(&databases.raw, NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute("CREATE TABLE IF NOT EXISTS t (id BIGSERIAL PRIMARY KEY, body BYTEA)").await?;
    let insert = client.prepare("INSERT INTO t (body) SELECT * FROM UNNEST($1::bytea[])").await?;
    let bodies: Vec<&[u8]> = vec![&[7u8; 100]; rows];
    let before = Cpu::of_ourselves(databases.processes)?;
    let began = Instant::now();
    let mut jobs = 0;
    while began.elapsed() < span {
        jobs += client.execute(&insert, &[&bodies]).await?;
    }
    let wall = began.elapsed();
    Ok(Measured { jobs, wall, cpu: Cpu::of_ourselves(databases.processes)?.since(before) })
}
