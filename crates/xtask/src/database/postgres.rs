//! A private PostgreSQL: `initdb` into a fresh folder, scram passwords only, TCP on 127.0.0.1 only.
//!
//! Tests connect as an ordinary role that owns its database and may create others, like a user's installation; the
//! superuser's password is used here and forgotten. Text sorts by a language's rules (ICU), as it does for most
//! users, so that a missing `COLLATE "C"` shows.

use std::io::{Seek, Write};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::databases::{CONNECTIONS_MAX, DATABASE, USER};
use super::home::Home;
use super::locate::PostgresPrograms;
use super::password;
use super::server::{Kind, Server};
use crate::process;

const SUPERUSER: &str = "postgres";
/// `initdb` knows `--locale-provider` since this version.
const ICU_SINCE_VERSION: u32 = 15;

/// Starts a new server with an empty database in it.
pub(super) fn start(programs: PostgresPrograms) -> Result<Server> {
    Ok(start_with_kind(programs)?.1)
}

/// The same, with what is needed to start it again.
pub(super) fn start_with_kind(programs: PostgresPrograms) -> Result<(Postgres, Server)> {
    let home = Home::create("postgres")?;
    let postgres = Postgres {
        data: home.path("data"),
        superuser_password: password::random()?,
        user_password: password::random()?,
        programs,
    };
    postgres.initialise(&home).context("cannot prepare PostgreSQL")?;
    let server = Server::start(&postgres, home)?;
    postgres.create_database(server.port()).context("cannot create the test database")?;
    Ok((postgres, server))
}

pub(super) struct Postgres {
    programs: PostgresPrograms,
    data: PathBuf,
    superuser_password: String,
    user_password: String,
}

impl Kind for Postgres {
    /// "Fast shutdown": disconnects clients; SIGTERM would wait for them.
    const STOP: Signal = Signal::INT;

    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn command(&self, home: &Home, port: u16) -> Command {
        let mut command = home.server_command(&self.programs.postgres, Self::STOP);
        command.arg("-D").arg(&self.data);
        for setting in [
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={port}"),
            "unix_socket_directories=".to_owned(),
            format!("max_connections={CONNECTIONS_MAX}"),
        ] {
            command.arg("-c").arg(setting);
        }
        command
    }

    fn answers(&self, port: u16) -> Result<bool> {
        Ok(process::capture(self.psql(port).args(["--command", "SELECT 1"]), None)?.status.success())
    }

    fn url(&self, port: u16) -> String {
        format!("postgres://{USER}:{}@127.0.0.1:{port}/{DATABASE}", self.user_password)
    }
}

impl Postgres {
    fn initialise(&self, home: &Home) -> Result<()> {
        let password_file = home.write("password", &self.superuser_password)?;
        let mut command = home.command(&self.programs.initdb);
        command.arg("--pgdata").arg(&self.data).arg("--pwfile").arg(password_file);
        command.args([
            "--username",
            SUPERUSER,
            "--auth",
            "scram-sha-256",
            "--encoding",
            "UTF8",
            "--locale",
            "C",
        ]);
        if self.version()? >= ICU_SINCE_VERSION {
            command.args(["--locale-provider", "icu", "--icu-locale", "en-US"]);
        }
        process::output_of(&mut command)?;
        Ok(())
    }

    fn create_database(&self, port: u16) -> Result<()> {
        // Through standard input, because arguments are visible to every user of the machine.
        let mut script = tempfile::tempfile().context("cannot make a temporary file")?;
        writeln!(script, "CREATE ROLE {USER} LOGIN CREATEDB PASSWORD '{}';", self.user_password)
            .and_then(|()| writeln!(script, "CREATE DATABASE {DATABASE} OWNER {USER};"))
            .and_then(|()| script.rewind())
            .context("cannot write a temporary file")?;
        let answer = process::capture(&mut self.psql(port), Some(script))?;
        if !answer.status.success() {
            bail!("psql ended with {}\n{}", answer.status, answer.stderr.trim_end());
        }
        Ok(())
    }

    /// A client of the superuser that reads nobody's settings and stops at the first error.
    fn psql(&self, port: u16) -> Command {
        let mut command = process::command(&self.programs.psql);
        command.args(["--no-psqlrc", "--no-password", "--quiet", "--set", "ON_ERROR_STOP=1"]);
        command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--username", SUPERUSER, "--dbname", "postgres"]);
        command.env("PGPASSWORD", &self.superuser_password).env("PGCONNECT_TIMEOUT", "5");
        command
    }

    fn version(&self) -> Result<u32> {
        let text = process::output_of(process::command(&self.programs.postgres).arg("--version"))?;
        major_version(&text).with_context(|| format!("cannot read the version in `{}`", text.trim()))
    }
}

/// 15 in `postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)` or `postgres (PostgreSQL) 19devel`.
fn major_version(text: &str) -> Option<u32> {
    let version = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_found() {
        let check = |text: &str, expected| assert_eq!(major_version(text), expected, "{text}");
        check("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)", Some(15));
        check("postgres (PostgreSQL) 19devel", Some(19));
        check("postgres", None);
    }
}
