//! `cargo xtask chaos`: a real cluster under random faults; see `crates/chaos`.
//!
//! Everything lives in a temporary folder, which stays when a violation was found.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::database::BreakablePostgres;
use crate::interrupt;
use crate::programs::{MAINSPRING, Programs};
use crate::workspace::Workspace;

/// What can be asked for.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Arguments {
    /// How long faults go on.
    #[arg(long, default_value_t = 60)]
    pub(crate) seconds: u64,
    /// The plan of faults and the load follow from it; timing is real.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> Result<ExitCode> {
    check(workspace, arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// Fails when a violation was found.
pub(crate) fn check(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let programs = Programs::build(workspace, &[MAINSPRING])?;
    let mut database = BreakablePostgres::start()?;
    let folder = tempfile::Builder::new().prefix("mainspring-chaos-").tempdir();
    let folder = folder.context("cannot make a temporary folder")?;
    let options = mainspring_chaos::Options {
        binary: programs.path(MAINSPRING),
        folder: folder.path().to_owned(),
        length: Duration::from_secs(arguments.seconds),
        seed: arguments.seed,
        check: interrupt::check,
    };
    let told = mainspring_chaos::run(&options, &mut database, &|line| println!("    {line}"));
    let report = match told {
        Ok(report) => report,
        Err(error) if error.is::<interrupt::Interrupted>() => return Err(error),
        Err(error) => {
            return Err(error.context(format!("its files are kept in {}", folder.keep().display())));
        }
    };
    println!("{report}");
    if !report.is_good() {
        bail!("seed {}: violations; its files are kept in {}", arguments.seed, folder.keep().display());
    }
    Ok(())
}
