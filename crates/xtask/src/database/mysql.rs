//! A private MariaDB, or MySQL where that is what is installed: a fresh folder, TCP on 127.0.0.1 only.
//!
//! The server itself creates the database and the user at its start (`--init-file`), so nobody ever logs in as root.
//! Settings files of the machine are ignored; character sets stay at the server's default, so that a table which
//! forgets to name its own shows.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use rustix::process::Signal;

use super::databases::{CONNECTIONS_MAX, DATABASE, USER};
use super::home::Home;
use super::locate::{MysqlInitializer, MysqlPrograms};
use super::password;
use super::server::{Kind, Server};
use crate::process;

const INIT_FILE: &str = "init.sql";

/// Starts a new server with an empty database in it.
pub(super) fn start(programs: MysqlPrograms) -> Result<Server> {
    let home = Home::create("mysql")?;
    let mysql = Mysql { programs, password: password::random()? };
    mysql.initialise(&home).with_context(|| format!("cannot prepare {}", mysql.name()))?;
    Server::start(&mysql, home)
}

struct Mysql {
    programs: MysqlPrograms,
    password: String,
}

impl Kind for Mysql {
    const STOP: Signal = Signal::TERM;

    fn name(&self) -> &'static str {
        match self.programs.initializer {
            MysqlInitializer::MariadbInstallDb(_) => "MariaDB",
            MysqlInitializer::Mysqld => "MySQL",
        }
    }

    fn command(&self, home: &Home, port: u16) -> Command {
        let mut command = home.server_command(&self.programs.server, Self::STOP);
        // Must come first.
        command.arg("--no-defaults");
        command.arg(option("datadir", home.path("data")));
        command.arg(option("tmpdir", home.path("")));
        command.arg(option("socket", home.path("socket")));
        command.arg(option("pid-file", home.path("pid")));
        command.arg(option("init-file", home.path(INIT_FILE)));
        command.arg("--bind-address=127.0.0.1").arg(format!("--port={port}"));
        command.arg(format!("--max-connections={CONNECTIONS_MAX}"));
        // Otherwise 127.0.0.1 is looked up, becomes `localhost`, and our user is not known there.
        command.arg("--skip-name-resolve");
        if matches!(self.programs.initializer, MysqlInitializer::Mysqld) {
            // MySQL's second protocol would listen on a fixed port.
            command.arg("--mysqlx=OFF");
        }
        command
    }

    fn answers(&self, port: u16) -> Result<bool> {
        let mut command = process::command(&self.programs.client);
        command.args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--connect-timeout=5"]);
        command.arg(format!("--port={port}")).arg(format!("--user={USER}"));
        command.args(["--database", DATABASE, "--execute", "SELECT 1"]).env("MYSQL_PWD", &self.password);
        Ok(process::capture(&mut command, None)?.status.success())
    }

    fn url(&self, port: u16) -> String {
        format!("mysql://{USER}:{}@127.0.0.1:{port}/{DATABASE}", self.password)
    }
}

impl Mysql {
    fn initialise(&self, home: &Home) -> Result<()> {
        let mut command = match &self.programs.initializer {
            MysqlInitializer::MariadbInstallDb(program) => {
                let mut command = home.command(program);
                command.args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=socket"]);
                command
            }
            MysqlInitializer::Mysqld => {
                let mut command = home.command(&self.programs.server);
                command.args(["--no-defaults", "--initialize"]);
                command
            }
        };
        command.arg(option("datadir", home.path("data"))).arg(option("tmpdir", home.path("")));
        process::output_of(&mut command)?;
        home.write(INIT_FILE, &self.init_statements())?;
        Ok(())
    }

    /// One statement on each line: that is how `--init-file` is read.
    fn init_statements(&self) -> String {
        format!(
            "CREATE DATABASE {DATABASE};\n\
             CREATE USER '{USER}'@'127.0.0.1' IDENTIFIED BY '{}';\n\
             GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'127.0.0.1';\n",
            self.password
        )
    }
}

fn option(name: &str, path: PathBuf) -> OsString {
    let mut argument = OsString::from(format!("--{name}="));
    argument.push(path);
    argument
}
