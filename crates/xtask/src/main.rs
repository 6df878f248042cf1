//! `cargo xtask`: the repository's own commands.
//!
//! A table of contents. Each command is one file in `commands`, each house rule one file in `rules`; the database
//! servers that tests and benches talk to are started by `database`, the API is held against its schema by `contract`, schedules against other
//! implementations by `oracle`, a cluster is broken by the crate `mainspring-chaos`, the web console is built and tested by `console`.
//! Nothing here is part of the product.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool talks to a person")]

mod commands;
mod console;
mod contract;
mod database;
mod interrupt;
mod oracle;
mod packages;
mod process;
mod programs;
mod python;
mod rules;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::interrupt::Interrupted;
use crate::workspace::Workspace;

/// The commands of the Mainspring repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check there is: format, lints, house rules, all tests on real databases, the API against its schema,
    /// schedules against other implementations, a minute of chaos, the simulation.
    Test,
    /// Check the house rules alone.
    Rules,
    /// Check the running API against its schema, with every role.
    Api,
    /// Check what is due next against other implementations, in every zone of the world.
    Cron,
    /// Break a real cluster again and again for a while, and check that it kept its promises.
    Chaos(commands::chaos::Arguments),
    /// Build the web console if its sources changed, for the program to embed.
    Console(commands::console::Arguments),
    /// Rewrite the committed files that are made from code.
    Generate,
    /// Build the console and the program if they are stale and start everything on this machine.
    Up {
        /// Further arguments for `mainspring up`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Build the same and start a demonstration: a made-up company with two weeks of history.
    Demo {
        /// Further arguments for `mainspring demo`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Take pictures of every page of the console, of a demonstration, into `target/screenshots`; and those of the docs.
    Screenshots,
    /// A PostgreSQL that is told by lines of standard input to stop and to start again, for a test.
    #[command(hide = true)]
    Postgres,
    /// Start PostgreSQL and MariaDB (or MySQL) and run a command against them.
    Db {
        /// The command to run; without one, print the two URLs and wait for Ctrl-C.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments.command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            error.downcast_ref::<Interrupted>().map_or(ExitCode::FAILURE, Interrupted::exit_code)
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    interrupt::watch()?;
    let workspace = Workspace::find()?;
    match command {
        Command::Test => commands::test::run(&workspace),
        Command::Rules => commands::rules::run(&workspace),
        Command::Api => commands::api::run(&workspace),
        Command::Cron => commands::cron::run(&workspace),
        Command::Chaos(arguments) => commands::chaos::run(&workspace, arguments),
        Command::Console(arguments) => commands::console::run(&workspace, &arguments),
        Command::Generate => commands::generate::run(&workspace),
        Command::Up { arguments } => commands::up::run(&workspace, "up", &arguments),
        Command::Demo { arguments } => commands::up::run(&workspace, "demo", &arguments),
        Command::Screenshots => commands::screenshots::run(&workspace),
        Command::Postgres => commands::postgres::run(),
        Command::Db { command } => commands::db::run(&command),
    }
}
