//! `cargo xtask postgres`: a PostgreSQL that whoever started this stops and starts again, for tests of a store that is away.
//!
//! The first line of its output is the URL. Each line of its input is `stop` (at once, as in a crash) or `start`, and is
//! answered by `done`. It ends with its input, and the database with it.

use std::io;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use mainspring_chaos::Database;

use crate::database::BreakablePostgres;

pub(crate) fn run() -> Result<ExitCode> {
    let mut database = BreakablePostgres::start()?;
    println!("{}", database.url());
    for line in io::stdin().lines() {
        match line.context("cannot read what to do")?.as_str() {
            "stop" => drop(database.stop(true)?),
            "start" => database.start()?,
            other => bail!("`{other}` is neither `stop` nor `start`"),
        }
        println!("done");
    }
    Ok(ExitCode::SUCCESS)
}
