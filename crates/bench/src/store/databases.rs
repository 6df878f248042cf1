//! Two empty databases of each kind, one for our side and one for the raw, made for the measurement and removed
//! after it; and the servers they live in, which `cargo xtask db` starts when nobody else has.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Error, Result};
use clap::ValueEnum;
use mysql_async::prelude::Queryable;
use tempfile::TempDir;
use tokio_postgres::NoTls;

use super::processes::Processes;

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
    Mysql,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::Mysql];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MariaDB",
        }
    }

    /// The variable with the URL of its server.
    fn variable(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("MAINSPRING_TEST_POSTGRES"),
            Self::Mysql => Some("MAINSPRING_TEST_MYSQL"),
        }
    }

    fn url(self) -> Result<String> {
        let variable = self.variable().context("SQLite has no server")?;
        env::var(variable).with_context(|| format!("{variable} is not set"))
    }
}

/// Becomes this very command within `cargo xtask db`, if a server of these kinds is missing. Returns if not.
pub(crate) fn ensure_servers(kinds: &[Kind]) -> Result<()> {
    if kinds.iter().filter_map(|kind| kind.variable()).all(|variable| env::var_os(variable).is_some()) {
        return Ok(());
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(["xtask", "db", "--"]).arg(env::current_exe()?).args(env::args_os().skip(1));
    Err(Error::new(command.exec()).context("cannot start `cargo xtask db`"))
}

/// The two databases.
pub(crate) struct Databases {
    pub(crate) ours: String,
    pub(crate) raw: String,
    pub(crate) processes: Processes,
    home: Home,
}

enum Home {
    Folder(TempDir),
    Postgres(String),
    Mysql(String),
}

impl Databases {
    pub(crate) async fn create(kind: Kind) -> Result<Self> {
        match kind {
            Kind::Sqlite => {
                let folder = tempfile::tempdir()?;
                let [ours, raw] = NAMES.map(|name| format!("sqlite:{}", folder.path().join(name).display()));
                Ok(Self { ours, raw, processes: Processes::Own, home: Home::Folder(folder) })
            }
            Kind::Postgres => {
                let url = kind.url()?;
                // The other template may be in use by somebody, a cleaner of the server too, and then cannot be copied.
                let create = statements("CREATE DATABASE {} TEMPLATE template0");
                let backend = on_postgres(&url, &create).await?;
                let [ours, raw] = names().map(|name| with_database(&url, &name));
                Ok(Self {
                    ours,
                    raw,
                    processes: Processes::with_parent_of(backend)?,
                    home: Home::Postgres(url),
                })
            }
            Kind::Mysql => {
                let url = kind.url()?;
                let server = on_mysql(&url, &statements("CREATE DATABASE {}")).await?;
                let [ours, raw] = names().map(|name| with_database(&url, &name));
                Ok(Self { ours, raw, processes: Processes::WithServer(server), home: Home::Mysql(url) })
            }
        }
    }

    pub(crate) async fn remove(self) -> Result<()> {
        match self.home {
            Home::Folder(folder) => folder.close()?,
            Home::Postgres(url) => {
                on_postgres(&url, &statements("DROP DATABASE IF EXISTS {}")).await?;
            }
            Home::Mysql(url) => {
                on_mysql(&url, &statements("DROP DATABASE IF EXISTS {}")).await?;
            }
        }
        Ok(())
    }
}

const NAMES: [&str; 2] = ["ours", "raw"];

/// Names that no other measurement on the same server has.
fn names() -> [String; 2] {
    NAMES.map(|name| format!("mainspring_bench_{}_{name}", std::process::id()))
}

fn statements(pattern: &str) -> [String; 2] {
    names().map(|name| pattern.replace("{}", &name))
}

/// Runs statements; tells the process that ran them.
async fn on_postgres(url: &str, statements: &[String]) -> Result<u32> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    for statement in statements {
        client.batch_execute(statement).await?;
    }
    let pid: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await?.try_get(0)?;
    Ok(u32::try_from(pid)?)
}

/// Runs statements; tells the server's process.
async fn on_mysql(url: &str, statements: &[String]) -> Result<u32> {
    let mut conn = mysql_async::Conn::from_url(url).await?;
    for statement in statements {
        conn.query_drop(statement).await?;
    }
    let file: Option<String> = conn.query_first("SELECT @@pid_file").await?;
    conn.disconnect().await?;
    let file = file.context("the server names no pid file")?;
    let text = fs::read_to_string(&file).with_context(|| format!("read {file}"))?;
    Ok(text.trim().parse()?)
}

/// The URL with another database.
fn with_database(url: &str, name: &str) -> String {
    let (base, options) = url.split_once('?').map_or((url, None), |(base, options)| (base, Some(options)));
    let server = base.rsplit_once('/').map_or(base, |(server, _)| server);
    match options {
        Some(options) => format!("{server}/{name}?{options}"),
        None => format!("{server}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_a_url_is_replaced() {
        assert_eq!(with_database("mysql://u:p@h:1/a", "b"), "mysql://u:p@h:1/b");
        assert_eq!(with_database("postgres://u:p@h:1/a?x=/y", "b"), "postgres://u:p@h:1/b?x=/y");
    }
}
