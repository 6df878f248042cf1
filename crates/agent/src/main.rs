//! The agent as a program of its own, and its sidecar: `mainspring-agent DIR SERVER [JOIN-TOKEN]`, `mainspring-agent sidecar
//! --data DIR`. The product runs them as `mainspring agent` and `mainspring sidecar`.

use std::process::ExitCode;

use mainspring_agent::Options;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["sidecar", "--data", data] => finish(
            mainspring_sidecar::run(mainspring_sidecar::Options::new(data))
                .map_err(|error| error.to_string()),
        ),
        [data, server] => finish(agent(data, server, None)),
        [data, server, token] => finish(agent(data, server, Some(token.to_owned()))),
        _ => finish(Err("usage: mainspring-agent DIR SERVER [JOIN-TOKEN]".to_owned())),
    }
}

fn agent(data: &str, server: &str, join_token: Option<String>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut options = Options::new(data, vec![server.to_owned()]);
    options.join_token = join_token;
    let allowed = std::env::var_os("MAINSPRING_AGENT__ALLOWED_PATHS");
    options.allowed_paths = allowed.iter().map(Into::into).collect();
    options.task_user = std::env::var("MAINSPRING_AGENT__TASK_USER").ok();
    options.allowed_users = std::env::var("MAINSPRING_AGENT__ALLOWED_USERS").ok().into_iter().collect();
    if let Ok(processes) = std::env::var("MAINSPRING_AGENT__TASK_PROCESSES") {
        options.task_processes = processes.parse().map_err(|_| "task_processes: no number".to_owned())?;
    }
    if let Ok(patience) = std::env::var("MAINSPRING_AGENT__SIDECAR_PATIENCE") {
        options.sidecar_patience =
            mainspring_model::duration_text::parse(&patience).map_err(|error| error.to_string())?;
    }
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        let shutdown = async move {
            terminate.recv().await;
        };
        mainspring_agent::run(options, shutdown).await.map_err(|error| error.to_string())
    })
}

#[expect(clippy::print_stderr, reason = "the last words of a program")]
fn finish(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mainspring-agent: {error}");
            ExitCode::FAILURE
        }
    }
}
