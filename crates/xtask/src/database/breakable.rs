//! A PostgreSQL that is stopped and started again on the same data and port, for `cargo xtask chaos`.

use anyhow::Result;
use rustix::process::Signal;

use super::install;
use super::locate::PostgresPrograms;
use super::postgres::{self, Postgres};
use super::server::Server;

/// A running or stopped server; dropping this stops it and removes its data.
pub(crate) struct BreakablePostgres {
    kind: Postgres,
    server: Server,
}

impl BreakablePostgres {
    /// Starts a new server with an empty database in it.
    pub(crate) fn start() -> Result<Self> {
        install::ensure()?;
        let (kind, server) = postgres::start_with_kind(PostgresPrograms::find()?)?;
        Ok(Self { kind, server })
    }
}

impl mainspring_chaos::Database for BreakablePostgres {
    fn url(&self) -> &str {
        self.server.url()
    }

    fn stop(&mut self, immediate: bool) -> Result<bool> {
        self.server.stop(if immediate { Signal::QUIT } else { Signal::INT })
    }

    fn start(&mut self) -> Result<()> {
        self.server.start_again(&self.kind)
    }
}
