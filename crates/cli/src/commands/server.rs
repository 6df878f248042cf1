//! `mainspring server`: the scheduler and its API, without an agent.

use std::process::ExitCode;

use clap::Args;
use mainspring_server::Server as Serving;
use mainspring_sidecar::raise_open_files;

use crate::arguments::Global;
use crate::config::{Source, load};
use crate::failure::Failure;
use crate::output::Output;
use crate::roles::{self, ServerFlags, Stop, failed, server_failed};
use crate::target::write_secret;

/// What `server` takes.
#[derive(Debug, Args)]
pub(crate) struct Server {
    #[command(flatten)]
    flags: ServerFlags,
    /// What it does: api, scheduler, or both [default: api,scheduler]
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    roles: Vec<String>,
}

impl Server {
    pub(crate) fn run(self, global: &Global, output: Output) -> Result<ExitCode, Failure> {
        let config = load(&Source::of_process(global.config.clone()))?.config;
        let mut options = self.flags.options(&config.server)?;
        let words =
            if self.roles.is_empty() { config.server.roles.clone().unwrap_or_default() } else { self.roles };
        if !words.is_empty() {
            options.roles = roles::roles(&words)?;
        }
        let token_file = options.data.join("token");
        roles::run(&config.log, async {
            let stop = Stop::new()?.listen();
            raise_open_files();
            let server = tokio::select! {
                built = Serving::build(options) => built.map_err(server_failed)?,
                () = stop.cancelled() => return Ok(ExitCode::SUCCESS),
                () = roles::starting() => return Ok(ExitCode::SUCCESS),
            };
            let first = tokio::select! {
                first = server.bootstrap() => first.map_err(failed)?,
                () = stop.cancelled() => return Ok(ExitCode::SUCCESS),
            };
            if let Some(first) = first {
                write_secret(&token_file, &first.token)?;
                output.say(format!("the first admin's token is in {}", token_file.display()));
            }
            output.say(format!("serving at {}", server.url()));
            roles::ready();
            server.run(stop).await.map_err(server_failed)?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
