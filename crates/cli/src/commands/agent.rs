//! `mainspring agent`: makes this machine a node.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::arguments::Global;
use crate::config::{Source, load};
use crate::failure::Failure;
use crate::output::Output;
use crate::roles::{self, AgentFlags, Stop, agent_failed};

const DATA: &str = "mainspring-agent";

/// What `agent` takes.
#[derive(Debug, Args)]
pub(crate) struct Agent {
    /// Where a scheduler listens; may be given several times
    #[arg(long, value_name = "URL")]
    server: Vec<String>,
    /// The token with which the node joins the first time; `mainspring node token` makes one
    #[arg(long, value_name = "TOKEN", env = "MAINSPRING_JOIN_TOKEN", hide_env_values = true)]
    join_token: Option<String>,
    /// Where the agent and its sidecar keep things [default: ./mainspring-agent]
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,
    /// Take nothing new and wait for what runs before it ends; without it, tasks go on for as long as the server waits for the
    /// node (its `lost_after`) and are found again
    #[arg(long)]
    drain: bool,
    #[command(flatten)]
    flags: AgentFlags,
}

impl Agent {
    pub(crate) fn run(self, global: &Global, output: Output) -> Result<ExitCode, Failure> {
        let config = load(&Source::of_process(global.config.clone()))?.config;
        let servers = if self.server.is_empty() {
            config.agent.servers.clone().unwrap_or_default()
        } else {
            self.server
        };
        if servers.is_empty() {
            return Err(Failure::usage("no server is named").hint("name one with --server URL"));
        }
        let data = self.data.or_else(|| config.agent.data.clone()).unwrap_or_else(|| DATA.into());
        let mut options = self.flags.options(&config.agent, data, servers)?;
        options.join_token = self.join_token.or(options.join_token);
        options.drain_on_shutdown = self.drain;
        options.check().map_err(agent_failed)?;
        roles::run(&config.log, async {
            let stop = Stop::new()?.listen();
            output.say(format!("agent of {}", options.servers.join(", ")));
            output.say(roles::task_user::words(&options));
            roles::ready();
            mainspring_agent::run(options, stop.cancelled_owned()).await.map_err(agent_failed)?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
