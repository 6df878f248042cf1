//! `cargo xtask test`: everything that must hold before a change is good, in the order that fails soonest.
//!
//! The first failing step ends the run with its name and what to do next. A step that cannot run is a failure,
//! never a skip: the databases and Python are installed when they are missing, or named.

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::commands;
use crate::contract;
use crate::database::Databases;
use crate::interrupt::Interrupted;
use crate::oracle;
use crate::process;
use crate::workspace::Workspace;

const STEPS: usize = 8;

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    let started = Instant::now();
    let cargo = |arguments: &[&str]| process::run(&mut workspace.cargo(arguments));

    step(1, "format", "run `cargo fmt --all` and commit the difference", || {
        cargo(&["fmt", "--all", "--check"])
    })?;
    step(2, "lints", "mend what clippy names above; an `#[allow]` needs a `reason`", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    })?;
    step(
        3,
        "house rules",
        "follow the arrows above, then `cargo xtask rules` checks this step alone",
        || commands::rules::check(workspace),
    )?;
    let databases =
        step(4, "databases", "look at the server's words above; `cargo xtask db` starts them alone", || {
            Databases::start()
        })?;
    step(5, "tests", "run one test alone with `cargo xtask db -- cargo test -p CRATE NAME`", || {
        tests(workspace, &databases)
    })?;
    drop(databases);
    step(6, "API", "mend the API or its schema; `cargo xtask api` checks this step alone", || {
        contract::check(workspace)
    })?;
    step(7, "schedules", "mend the evaluator; `cargo xtask cron` checks this step alone", || {
        oracle::check(workspace)
    })?;
    step(8, "simulation", "the seed printed above replays the failure exactly", || {
        cargo(&["run", "--release", "--package", "mainspring-sim", "--", "--seeds", "1000"])?;
        cargo(&["run", "--release", "--package", "mainspring-sim", "--", "--plant", "all"])
    })?;

    println!("\nEverything holds ({} s).", started.elapsed().as_secs());
    Ok(ExitCode::SUCCESS)
}

fn tests(workspace: &Workspace, databases: &Databases) -> Result<()> {
    let run = |mut command: Command| process::run(command.envs(databases.environment()));
    if has_nextest(workspace)? {
        run(workspace.cargo(&["nextest", "run", "--workspace"]))?;
        // nextest leaves the documentation's examples to cargo.
        run(workspace.cargo(&["test", "--workspace", "--doc"]))
    } else {
        // Without a choice of targets this includes the documentation's examples.
        run(workspace.cargo(&["test", "--workspace"]))
    }
}

fn has_nextest(workspace: &Workspace) -> Result<bool> {
    let answer = process::capture(&mut workspace.cargo(&["nextest", "--version"]), None)?;
    Ok(answer.status.success())
}

fn step<T>(number: usize, name: &str, remedy: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("\n==> {number}/{STEPS} {name}");
    let started = Instant::now();
    match work() {
        Ok(value) => {
            println!("    {name}: good ({:.1} s)", started.elapsed().as_secs_f32());
            Ok(value)
        }
        Err(error) if error.is::<Interrupted>() => Err(error),
        Err(error) => bail!("step {number}/{STEPS} ({name}) failed: {error:#}\n\nWhat to do next: {remedy}."),
    }
}
