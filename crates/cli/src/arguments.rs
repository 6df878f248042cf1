//! The command line: global options and the tree of commands. What a command takes is beside what it does, in
//! `commands/<verb>.rs`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands;
use crate::output::{Colour, Format, Output};

/// Schedules and runs any kind of job on any number of machines.
#[derive(Debug, Parser)]
#[command(
    name = "mainspring",
    version,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 110,
    after_help = "Start with `mainspring up`, then `mainspring submit --wait -- echo hello`.\n\
                  `mainspring explain` lists what codes mean, exit codes too."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Where the API is; several servers with commas between, of which one that is reached is asked [variable: MAINSPRING_URL; default: the last `up` or `login`]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A file with the API token [variable: MAINSPRING_TOKEN_FILE; the token itself: MAINSPRING_TOKEN]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The namespace [variable: MAINSPRING_NAMESPACE; default: default]
    #[arg(short, long, global = true, value_name = "PATH")]
    pub(crate) namespace: Option<String>,
    /// How to print data
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true,
        help = "How to print data: table, wide, json, yaml, name"
    )]
    pub(crate) output: Format,
    /// When to use colours: auto, always, never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    pub(crate) color: Colour,
    /// Print data only, no talk
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// The settings file [variable: MAINSPRING_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

impl Global {
    /// How this invocation speaks.
    pub(crate) fn output(&self) -> Output {
        Output::new(self.output, self.color, self.quiet)
    }
}

/// Every command, in the order of `--help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start everything on this machine: scheduler, API, agent and an embedded store
    Up(commands::up::Up),
    /// Start the same with a made-up company and weeks of its history, to look around
    Demo(commands::demo::Demo),
    /// Submit a command, a script or a job file as one run
    Submit(commands::submit::Submit),
    /// Submit a run of a job
    Run(commands::run::Run),
    /// List jobs
    Jobs(commands::jobs::Jobs),
    /// List runs, newest first
    Runs(commands::runs::Runs),
    /// List what waits, by job and reason
    Queue(commands::queue::Queue),
    /// List nodes
    Nodes(commands::nodes::Nodes),
    /// Show all there is to know about a run, a job or a node
    Describe(commands::describe::Describe),
    /// Print what a run wrote
    Logs(commands::logs::Logs),
    /// Say why a run is where it is, and what would unblock it
    Why(commands::why::Why),
    /// Wait until runs have ended; end with the task's exit code
    Wait(commands::wait::Wait),
    /// End runs
    Cancel(commands::cancel::Cancel),
    /// Try failed runs again now
    Retry(commands::retry::Retry),
    /// Make runs more or less important
    Priority(commands::priority::Priority),
    /// Make a new run of one that has ended
    Rerun(commands::rerun::Rerun),
    /// Start no more runs of a job
    Pause(commands::pause::Pause),
    /// Start runs of a job again
    Resume(commands::pause::Pause),
    /// Make job files true, after showing what changes
    Apply(commands::apply::Apply),
    /// Show what `apply` would change
    Plan(commands::apply::Plan),
    /// Write jobs as files that `apply` reads
    Export(commands::export::Export),
    /// Make job files of a crontab or of systemd timers
    Import(commands::import::Import),
    /// Remove jobs; their history stays
    Delete(commands::delete::Delete),
    /// Upload, list, download and remove files for tasks
    Artifact(commands::artifact::Artifact),
    /// Drain, resume, label and invite nodes
    Node(commands::node::Node),
    /// See what fires by itself, when, and what became of it
    Trigger(commands::trigger::Trigger),
    /// Keep calendars: days and times at which triggers do not fire
    Calendar(commands::calendar::Calendar),
    /// Make up for planned moments of the past
    Backfill(commands::backfill::Backfill),
    /// Show what triggers plan for the next days, hour by hour, and where they crowd
    Simulate(commands::simulate::Simulate),
    /// List, make and remove namespaces
    Namespace(commands::namespace::Namespace),
    /// Say who may do what
    Member(commands::member::Member),
    /// Make, list and revoke API tokens
    Token(commands::token::Token),
    /// Show who did what
    Audit(commands::audit::Audit),
    /// Sign in to a server and use it from now on
    Login(commands::login::Login),
    /// Show who you are and what you may do
    Whoami(commands::whoami::Whoami),
    /// Look for what is wrong
    Doctor(commands::doctor::Doctor),
    /// Watch nodes and runs in the terminal
    Top(commands::top::Top),
    /// Say what a code means and what to do: of an error, a reason, a cause, an exit
    Explain(commands::explain::Explain),
    /// Check the settings, list them, or print their schema
    Config(commands::config::Config),
    /// Print the completions of a shell
    Completions(commands::completions::Completions),
    /// Run a scheduler and its API
    Server(commands::server::Server),
    /// Make this machine a node
    Agent(commands::agent::Agent),
    /// Own the tasks of an agent; agents start this
    Sidecar(commands::sidecar::Sidecar),
    /// Print the reference of the command line
    #[command(hide = true)]
    Reference,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_tree_is_sound() {
        Arguments::command().debug_assert();
    }
}
