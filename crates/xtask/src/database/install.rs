//! Missing database servers, by their packages. How packages are installed: see `packages`.

use anyhow::Result;

use super::locate::{MysqlPrograms, PostgresPrograms};
use crate::packages;

/// Makes sure that both servers can be found.
pub(super) fn ensure() -> Result<()> {
    packages::ensure("no database server, no tests", missing)
}

/// The Debian packages of the servers that cannot be found.
fn missing() -> Vec<&'static str> {
    let mut packages = Vec::new();
    if PostgresPrograms::find().is_err() {
        packages.push("postgresql");
    }
    if MysqlPrograms::find().is_err() {
        packages.push("mariadb-server");
    }
    packages
}
