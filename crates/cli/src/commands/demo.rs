//! `mainspring demo`: what `up` starts, on a data folder of its own with a made-up company and weeks of its history in it.
//!
//! The history is written before the first start. A folder is a demonstration's if it has the file `demo`; one whose history
//! was not finished has `demo.unfinished` instead, and begins anew.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use mainspring_demo::{Made, make};
use mainspring_model::Timestamp;
use mainspring_server::Storage;

use super::up::{Everything, Guest, make_folders, serve};
use crate::arguments::Global;
use crate::config::{ServerConfig, Source, load};
use crate::failure::Failure;
use crate::output::Output;
use crate::roles::{self, AgentFlags, ServerFlags, failed, server_failed};
use crate::target::write_secret;

const DATA: &str = "mainspring-demo";
/// A folder with this file is a demonstration's.
const MARK: &str = "demo";
/// The same, before its history is written.
const UNFINISHED: &str = "demo.unfinished";
const OTHER_FOLDER: &str = "`--data DIRECTORY` names another; one that is not there is made";

/// What `demo` takes.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where the demonstration is kept; a folder that is something else is refused [default: ./mainspring-demo]
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,
    /// Where it listens [default: 127.0.0.1:7468]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Serve the web console from this folder instead of the program, to develop it
    #[arg(long, value_name = "DIRECTORY")]
    console_dir: Option<PathBuf>,
    /// How many days of history are made, up to 60 [default: 14]
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 14,
        hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..=60)
    )]
    days: u32,
    /// What decides everything that chance decides in the history [default: 1]
    #[arg(long, value_name = "NUMBER", default_value_t = 1, hide_default_value = true)]
    seed: u64,
    #[command(flatten)]
    agent: AgentFlags,
}

impl Demo {
    pub(crate) fn run(self, global: &Global, output: Output) -> Result<ExitCode, Failure> {
        let config = load(&Source::of_process(global.config.clone()))?.config;
        let data = self.data.clone().unwrap_or_else(|| DATA.into());
        // Settings of real servers are none of a demonstration's.
        let flags = ServerFlags::embedded(data, self.listen.clone(), self.console_dir.clone());
        let server = flags.options(&ServerConfig::default())?;
        let agent = self.agent.options(&config.agent, server.data.join("agent"), Vec::new())?;
        let ca_file = agent.ca_file.clone();
        roles::run(&config.log, async {
            self.prepare(&server, output).await?;
            serve(Everything { server, agent, ca_file, guest: Guest::Visitor }, output).await
        })
    }

    /// Writes the history, unless it is there.
    async fn prepare(&self, server: &mainspring_server::Options, output: Output) -> Result<(), Failure> {
        let data = &server.data;
        match Found::at(data)? {
            Found::Demonstration => {
                output.say(format!("The demonstration in {} goes on.", data.display()));
                return Ok(());
            }
            Found::Other => {
                let words = format!("{} is there, and is not a demonstration", data.display());
                return Err(Failure::usage(words).hint(OTHER_FOLDER));
            }
            Found::Unfinished => remove_history(data)?,
            Found::Nothing => {}
        }
        roles::check_port(server.listen).await?;
        output.say(format!(
            "Making {} days of history of a company that does not exist, in {}. All of it is made up.",
            self.days,
            data.display()
        ));
        make_folders(server)?;
        fs::write(data.join(UNFINISHED), "")?;
        let storage = Storage::open(server).await.map_err(server_failed)?;
        let options = mainspring_demo::Options { days: self.days, seed: self.seed, until: now() };
        let Made { token, runs, logs } = make(storage.store(), options).await.map_err(failed)?;
        storage.keep_logs(logs).await?;
        write_secret(&data.join("token"), &token)?;
        let days = self.days;
        fs::write(data.join(UNFINISHED), format!("seed {}, {days} days, {runs} runs\n", self.seed))?;
        fs::rename(data.join(UNFINISHED), data.join(MARK))?;
        output.say(format!("{runs} runs are written; from now on its jobs really run, on this machine.\n"));
        Ok(())
    }
}

/// What is at the place of a demonstration.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Unfinished,
    Demonstration,
    Other,
}

impl Found {
    fn at(data: &Path) -> io::Result<Self> {
        let mut entries = match fs::read_dir(data) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Nothing),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(Self::Other),
            Err(error) => return Err(error),
        };
        Ok(if data.join(MARK).is_file() {
            Self::Demonstration
        } else if data.join(UNFINISHED).is_file() {
            Self::Unfinished
        } else if entries.next().is_none() {
            Self::Nothing
        } else {
            Self::Other
        })
    }
}

/// What was written of a history that was not finished goes; no server has used it.
fn remove_history(data: &Path) -> io::Result<()> {
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        match (entry.file_name() == UNFINISHED, entry.file_type()?.is_dir()) {
            (true, _) => {}
            (false, true) => fs::remove_dir_all(entry.path())?,
            (false, false) => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// This host's clock, which is also the store's.
fn now() -> Timestamp {
    Timestamp::ZERO + SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_that_is_a_demonstration_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("demo-data");
        let found = || Found::at(&data).unwrap();
        assert_eq!(found(), Found::Nothing);
        fs::create_dir(&data).unwrap();
        assert_eq!(found(), Found::Nothing, "an empty folder may be used");
        fs::write(data.join("mainspring.db"), "somebody's").unwrap();
        assert_eq!(found(), Found::Other);
        fs::write(data.join(UNFINISHED), "").unwrap();
        fs::create_dir(data.join("logs")).unwrap();
        assert_eq!(found(), Found::Unfinished);
        remove_history(&data).unwrap();
        assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "it still says that it is unfinished");
        fs::rename(data.join(UNFINISHED), data.join(MARK)).unwrap();
        assert_eq!(found(), Found::Demonstration);
        assert_eq!(Found::at(&data.join(MARK)).unwrap(), Found::Other, "a file is no folder");
    }
}
