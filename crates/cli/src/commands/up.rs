//! `mainspring up`: everything on one machine in one go: scheduler, API, agent, sidecar, and an embedded store.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use mainspring_model::ErrorCode;
use mainspring_server::Server;
use tokio_util::sync::CancellationToken;

use crate::arguments::Global;
use crate::config::{Config, Source, load};
use crate::failure::Failure;
use crate::output::Output;
use crate::roles::{self, AgentFlags, ServerFlags, Stop, failed};
use crate::target::{LOCAL, Target, Targets, write_secret};

/// What `up` takes.
#[derive(Debug, Args)]
pub(crate) struct Up {
    #[command(flatten)]
    server: ServerFlags,
    #[command(flatten)]
    agent: AgentFlags,
}

impl Up {
    pub(crate) fn run(self, global: &Global, output: Output) -> Result<ExitCode, Failure> {
        let config = load(&Source::of_process(global.config.clone()))?.config;
        roles::run(&config.log, self.serve(&config, output))
    }

    async fn serve(self, config: &Config, output: Output) -> Result<ExitCode, Failure> {
        let stop = Stop::new()?.listen();
        let options = self.server.options(&config.server)?;
        let data = options.data.clone();
        let server = Server::build(options).await.map_err(failed)?;
        let token_file = token(&server, &data).await?;
        let agent = self.agent_options(&server, config, data.join("agent")).await?;
        let url = server.url().to_owned();
        let login = server.app().issue_login_code().await.map_err(failed)?;
        Targets::remember(LOCAL, Target { url: url.clone(), token: None, token_file: Some(token_file) })?;
        // The agent first stops, then the server that it talks to.
        let server_stop = CancellationToken::new();
        let serving = tokio::spawn(server.run(server_stop.clone()));
        let mut agent = tokio::spawn(mainspring_agent::run(agent, stop.clone().cancelled_owned()));
        welcome(output, &url, &login.path);
        roles::ready();
        let ended = tokio::select! {
            () = stop.cancelled() => (&mut agent).await,
            ended = &mut agent => ended,
        };
        server_stop.cancel();
        let served = serving.await;
        flatten(ended)?;
        flatten(served)?;
        Ok(ExitCode::SUCCESS)
    }

    async fn agent_options(
        &self,
        server: &Server,
        config: &Config,
        data: PathBuf,
    ) -> Result<mainspring_agent::Options, Failure> {
        let known = data.join("agent").join("credential").exists();
        // The server's files lie around the agent's: the store and the first admin's token.
        let forbidden_paths = data.parent().map(Path::to_owned).into_iter().collect();
        let mut options = self.agent.options(&config.agent, data, vec![server.local_url().to_owned()])?;
        options.forbidden_paths = forbidden_paths;
        if !known {
            options.join_token = Some(server.app().issue_join_token(None).await.map_err(failed)?.token);
        }
        Ok(options)
    }
}

/// The file with the first admin's token; made anew when it was lost, or is no longer good.
async fn token(server: &Server, data: &Path) -> Result<PathBuf, Failure> {
    let path = data.join("token");
    let secret = match server.app().bootstrap().await.map_err(failed)? {
        Some(first) => Some(first.token),
        None if !is_good(server, &path).await => {
            Some(server.app().issue_admin_token().await.map_err(failed)?)
        }
        None => None,
    };
    if let Some(secret) = secret {
        write_secret(&path, &secret)?;
    }
    std::path::absolute(&path).map_err(Failure::from)
}

/// Whether the token in the file opens anything. A store that does not answer is no reason for another.
async fn is_good(server: &Server, path: &Path) -> bool {
    let Ok(secret) = std::fs::read_to_string(path) else { return false };
    let known = server.app().authenticate(secret.trim()).await;
    !known.is_err_and(|error| error.code == ErrorCode::Unauthenticated)
}

fn welcome(output: Output, url: &str, login: &str) {
    output.say(format!(
        "Mainspring is up at {url}\n\
         Sign in once with {url}{login}\n\
         \n\
         Try, in another terminal:\n  \
           mainspring submit --wait -- echo hello\n  \
           mainspring runs\n  \
           mainspring top\n\
         \n\
         Ctrl-C stops it; tasks that run go on and are found again by the next `mainspring up`."
    ));
}

fn flatten<E: std::error::Error + 'static>(
    ended: Result<Result<(), E>, tokio::task::JoinError>,
) -> Result<(), Failure> {
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(failed(error)),
        Err(lost) => Err(failed(lost)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_token_that_is_lost_or_no_longer_good_is_made_anew() {
        let data = tempfile::tempdir().unwrap();
        let store = format!("sqlite:{}", data.path().join("store.db").display());
        let server = Server::build(mainspring_server::Options::new(store, data.path())).await.unwrap();
        let file = token(&server, data.path()).await.unwrap();
        let read = || std::fs::read_to_string(&file).unwrap();
        let first = read();
        token(&server, data.path()).await.unwrap();
        assert_eq!(read(), first, "one that is good stays");
        for wrong in [None, Some("ms_0000000000000000000000000000000000000000000000000000000000")] {
            match wrong {
                Some(wrong) => std::fs::write(&file, wrong).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            }
            token(&server, data.path()).await.unwrap();
            server.app().authenticate(read().trim()).await.unwrap();
        }
    }
}
