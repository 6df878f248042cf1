//! The commands, one file each: what it takes and what it does.

pub(crate) mod agent;
pub(crate) mod apply;
pub(crate) mod artifact;
pub(crate) mod audit;
pub(crate) mod backfill;
mod bulk;
pub(crate) mod calendar;
pub(crate) mod cancel;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod describe;
mod difference;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod jobs;
pub(crate) mod login;
pub(crate) mod logs;
pub(crate) mod member;
pub(crate) mod namespace;
pub(crate) mod node;
pub(crate) mod nodes;
pub(crate) mod pause;
pub(crate) mod priority;
pub(crate) mod queue;
pub(crate) mod rerun;
pub(crate) mod retry;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod server;
pub(crate) mod sidecar;
pub(crate) mod simulate;
pub(crate) mod submit;
pub(crate) mod token;
pub(crate) mod top;
pub(crate) mod trigger;
pub(crate) mod up;
pub(crate) mod wait;
mod watching;
pub(crate) mod whoami;
pub(crate) mod why;

use std::process::ExitCode;

use crate::arguments::{Arguments, Command, Global};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Output;
use crate::reference;

/// Runs the command.
pub(crate) fn run(arguments: Arguments, output: Output) -> Result<ExitCode, Failure> {
    let global = arguments.global;
    refuse_of_clients(&global, &arguments.command)?;
    match arguments.command {
        Command::Up(command) => command.run(&global, output),
        Command::Demo(command) => command.run(&global, output),
        Command::Server(command) => command.run(&global, output),
        Command::Agent(command) => command.run(&global, output),
        Command::Sidecar(command) => command.run(),
        Command::Explain(command) => command.run(output),
        Command::Config(command) => command.run(&global, output),
        Command::Completions(command) => command.run(output),
        Command::Import(command) if !command.applies() => command.run(&global, output),
        Command::Reference => output.line(reference::markdown().trim_end()).map(|()| ExitCode::SUCCESS),
        command => ask(command, &global, output),
    }
}

/// Roles do not talk to the API: an option that would be ignored there is refused, with the one that was meant.
fn refuse_of_clients(global: &Global, command: &Command) -> Result<(), Failure> {
    let (role, of_url) = match command {
        Command::Up(_) | Command::Demo(_) | Command::Server(_) => {
            ("a server", "`--listen ADDRESS` says where it listens, `--public-url URL` how others reach it")
        }
        Command::Agent(_) => ("an agent", "`--server URL` names the scheduler that it joins"),
        _ => return Ok(()),
    };
    let given = [
        (global.url.is_some(), "--url", of_url),
        (
            global.token_file.is_some(),
            "--token-file",
            "leave it out: it is for commands that talk to a server",
        ),
        (global.namespace.is_some(), "--namespace", "leave it out: namespaces are for jobs and runs"),
    ];
    match given.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, flag, next)) => Err(Failure::usage(format!("{flag} means nothing to {role}")).hint(next)),
        None => Ok(()),
    }
}

/// Commands that talk to a server: one thread is enough for a person.
fn ask(command: Command, global: &Global, output: Output) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        if let Command::Login(command) = command {
            return command.run(global, output).await;
        }
        let context = &Context::open(global, output)?;
        match command {
            Command::Submit(command) => command.run(context).await,
            Command::Run(command) => command.run(context).await,
            Command::Jobs(command) => command.run(context).await,
            Command::Calendar(command) => command.run(context).await,
            Command::Backfill(command) => command.run(context).await,
            Command::Trigger(command) => command.run(context).await,
            Command::Simulate(command) => command.run(context).await,
            Command::Runs(command) => command.run(context).await,
            Command::Priority(command) => command.run(context).await,
            Command::Queue(command) => command.run(context).await,
            Command::Nodes(command) => command.run(context).await,
            Command::Describe(command) => command.run(context).await,
            Command::Logs(command) => command.run(context).await,
            Command::Why(command) => command.run(context).await,
            Command::Wait(command) => command.run(context).await,
            Command::Cancel(command) => command.run(context).await,
            Command::Retry(command) => command.run(context).await,
            Command::Rerun(command) => command.run(context).await,
            Command::Pause(command) => command.pause(context).await,
            Command::Resume(command) => command.resume(context).await,
            Command::Apply(command) => command.run(context).await,
            Command::Plan(command) => command.run(context).await,
            Command::Export(command) => command.run(context).await,
            Command::Import(command) => command.apply(global, context).await,
            Command::Delete(command) => command.run(context).await,
            Command::Artifact(command) => command.run(context).await,
            Command::Token(command) => command.run(context).await,
            Command::Member(command) => command.run(context).await,
            Command::Namespace(command) => command.run(context).await,
            Command::Node(command) => command.run(context).await,
            Command::Audit(command) => command.run(context).await,
            Command::Doctor(command) => command.run(context).await,
            Command::Top(command) => command.run(context).await,
            Command::Whoami(command) => command.run(context).await,
            Command::Up(_)
            | Command::Demo(_)
            | Command::Server(_)
            | Command::Agent(_)
            | Command::Sidecar(_)
            | Command::Explain(_)
            | Command::Config(_)
            | Command::Completions(_)
            | Command::Login(_)
            | Command::Reference => Ok(ExitCode::SUCCESS),
        }
    })
}
