//! The two servers together, and the variables by which tests find them.

use anyhow::Result;

use super::install;
use super::locate::{MysqlPrograms, PostgresPrograms};
use super::server::Server;
use super::{mysql, postgres};

/// The database that both servers have, empty.
pub(super) const DATABASE: &str = "mainspring_test";
/// The user that owns it.
pub(super) const USER: &str = "mainspring";
/// How many connections each server takes: many tests run at once, each with a pool.
pub(super) const CONNECTIONS_MAX: u32 = 300;

/// Running servers; dropping this stops them and removes their data.
pub(crate) struct Databases {
    postgres: Server,
    mysql: Server,
}

impl Databases {
    /// Starts both servers, after installing what is missing where that is possible.
    pub(crate) fn start() -> Result<Self> {
        install::ensure()?;
        let postgres = postgres::start(PostgresPrograms::find()?)?;
        println!("    {} is up on 127.0.0.1:{}", postgres.name(), postgres.port());
        let mysql = mysql::start(MysqlPrograms::find()?)?;
        println!("    {} is up on 127.0.0.1:{}", mysql.name(), mysql.port());
        Ok(Self { postgres, mysql })
    }

    /// What tests read to find the servers.
    pub(crate) fn environment(&self) -> [(&'static str, &str); 2] {
        [("MAINSPRING_TEST_POSTGRES", self.postgres.url()), ("MAINSPRING_TEST_MYSQL", self.mysql.url())]
    }

    /// Fails when a server has died.
    pub(crate) fn check_alive(&mut self) -> Result<()> {
        self.postgres.check_alive()?;
        self.mysql.check_alive()
    }
}
