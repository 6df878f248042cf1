//! `mainspring sidecar`: the process beside an agent that owns the tasks. Agents start it; people seldom do.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use mainspring_sidecar::Options;

use crate::failure::Failure;
use crate::output::{Colour, Format, Output};

/// What `sidecar` takes.
#[derive(Debug, Args)]
pub(crate) struct Sidecar {
    /// The directory of its socket, its journal and the attempts
    #[arg(long, value_name = "DIRECTORY")]
    data: PathBuf,
}

impl Sidecar {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        mainspring_sidecar::run(Options::new(self.data))
            .map_err(|error| Failure::failed(error.to_string()))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Runs the sidecar when the command line is the one that agents use, `sidecar --data DIRECTORY`, and nothing of the rest
/// of the program.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let (command, flag, data) = (words.next()?, words.next()?, words.next()?);
    if command != OsStr::new("sidecar") || flag != OsStr::new("--data") || words.next().is_some() {
        return None;
    }
    Some(Sidecar { data: data.into() }.run().unwrap_or_else(|failure| {
        Output::new(Format::Table, Colour::Auto, false).fail(&failure);
        failure.exit.into()
    }))
}
