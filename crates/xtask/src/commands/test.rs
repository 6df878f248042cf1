//! `cargo xtask test`: everything that must hold before a change is good, in the order that fails soonest.
//!
//! The first failing step ends the run with its name and what to do next. A step that cannot run is a failure,
//! never a skip: the databases and Python are installed when they are missing, or named.
//!
//! Dependencies are compiled twice: as metadata for clippy, and once for everything that is executed (`programs`). No verdict
//! depends on how fast the machine is: work is bounded by counts, and time limits only end what hangs.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::commands;
use crate::console;
use crate::contract;
use crate::database::Databases;
use crate::interrupt::Interrupted;
use crate::oracle;
use crate::process;
use crate::programs::{Program, Programs};
use crate::rules::{OF_PROGRAMS, OF_SOURCES};
use crate::workspace::Workspace;

const STEPS: usize = 13;
const SIMULATION: Program = Program::Binary("mainspring-sim");

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    let cargo = |arguments: &[&str]| process::run(&mut workspace.cargo(arguments));
    let mut steps = Steps::default();

    steps.take("format", "run `cargo fmt --all` and commit the difference", || {
        cargo(&["fmt", "--all", "--check"])
    })?;
    let remedy = "follow the arrows above, then `cargo xtask rules` checks this step alone";
    steps.take("house rules", remedy, || commands::rules::check(workspace, OF_SOURCES))?;
    steps.take("lints", "mend what clippy names above; an `#[allow]` needs a `reason`", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    })?;
    let in_console =
        "mend what is named above; `npm run check` and `npm test` in console/ check this step alone";
    steps.take("console", in_console, || {
        // Built here: the programs of the later steps carry it.
        console::build(workspace)?;
        console::check(workspace)
    })?;
    let programs =
        steps.take("build", "mend what the compiler names above", || Programs::build_all(workspace))?;
    steps.take("generated files", remedy, || commands::rules::check(workspace, OF_PROGRAMS))?;
    let remedy = "look at the server's words above; `cargo xtask db` starts them alone";
    let databases = steps.take("databases", remedy, Databases::start)?;
    steps.take("tests", "run one test alone with `cargo xtask db -- cargo test -p CRATE NAME`", || {
        tests(workspace, &databases)
    })?;
    drop(databases);
    steps.take("API", "look at the words above; `cargo xtask api` checks this step alone", || {
        contract::check(workspace)
    })?;
    let remedy = "look at the flow named above, and its picture in console/browser/out; `cargo xtask console --test` checks \
                  the console alone";
    steps.take("browser", remedy, || console::browse(workspace))?;
    steps.take("schedules", "mend the evaluator; `cargo xtask cron` checks this step alone", || {
        oracle::check(workspace)
    })?;
    let remedy = "read docs/chaos.md on what the violation means and where its traces are; `cargo xtask chaos` checks this step \
                  alone, and `--seconds 300 --seed N` for longer";
    steps.take("chaos", remedy, || commands::chaos::check(&programs, commands::chaos::OF_TEST))?;
    steps.take("simulation", "the seed printed above replays the failure exactly", || {
        process::run(programs.command(SIMULATION).args(["--seeds", "1000"]))?;
        process::run(programs.command(SIMULATION).args(["--plant", "all"]))
    })?;

    steps.summarise();
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

/// The steps that were taken, and how long each took.
#[derive(Default)]
struct Steps {
    taken: Vec<(&'static str, Duration)>,
}

impl Steps {
    fn take<T>(&mut self, name: &'static str, remedy: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let number = self.taken.len() + 1;
        println!("\n==> {number}/{STEPS} {name}");
        let started = Instant::now();
        match work() {
            Ok(value) => {
                let took = started.elapsed();
                println!("    {name}: good ({:.1} s)", took.as_secs_f32());
                self.taken.push((name, took));
                Ok(value)
            }
            Err(error) if error.is::<Interrupted>() => Err(error),
            Err(error) => {
                bail!("step {number}/{STEPS} ({name}) failed: {error:#}\n\nWhat to do next: {remedy}.")
            }
        }
    }

    fn summarise(&self) {
        println!();
        for (name, took) in &self.taken {
            println!("{:>8.1} s  {name}", took.as_secs_f32());
        }
        let total: Duration = self.taken.iter().map(|(_, took)| *took).sum();
        println!("\nEverything holds ({} s).", total.as_secs());
    }
}
