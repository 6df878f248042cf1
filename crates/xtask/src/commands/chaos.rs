//! `cargo xtask chaos`: a real cluster under random faults, which is also a step of `cargo xtask test`; see `crates/chaos`.
//!
//! Everything lives in a temporary folder, which stays when a violation was found.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::database::BreakablePostgres;
use crate::interrupt;
use crate::programs::{MAINSPRING, Programs};
use crate::workspace::Workspace;

/// What `cargo xtask test` asks for: a minute, always of the same plan, in which every kind of fault happens.
pub(crate) const OF_TEST: Arguments = Arguments { seconds: 60, seed: mainspring_chaos::SEED_OF_A_MINUTE };

/// What can be asked for.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Arguments {
    /// How long faults go on.
    #[arg(long, default_value_t = OF_TEST.seconds)]
    pub(crate) seconds: u64,
    /// The plan of faults and the load follow from it; timing is real.
    #[arg(long, default_value_t = OF_TEST.seed)]
    pub(crate) seed: u64,
}

pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> Result<ExitCode> {
    check(&Programs::build(workspace, &[MAINSPRING])?, arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// Fails when a violation was found.
pub(crate) fn check(programs: &Programs, arguments: Arguments) -> Result<()> {
    let Arguments { seconds, seed } = arguments;
    println!("    seed {seed}, {seconds} s of faults");
    let mut database = BreakablePostgres::start()?;
    let folder = tempfile::Builder::new().prefix("mainspring-chaos-").tempdir();
    let folder = folder.context("cannot make a temporary folder")?;
    let options = mainspring_chaos::Options {
        binary: programs.path(MAINSPRING),
        folder: folder.path().to_owned(),
        length: Duration::from_secs(seconds),
        seed,
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
        bail!("seed {seed}: violations; its files are kept in {}", folder.keep().display());
    }
    Ok(())
}
