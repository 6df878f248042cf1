//! `mainspring up`: everything on one machine in one go: scheduler, API, agent, sidecar, and an embedded store.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use mainspring_model::{ErrorCode, NodeId};
use mainspring_server::Server;
use mainspring_sidecar::{make_passable, raise_open_files};
use tokio_util::sync::CancellationToken;

use crate::arguments::Global;
use crate::config::{Source, load};
use crate::failure::Failure;
use crate::output::Output;
use crate::roles::{self, AgentFlags, ServerFlags, Stop, agent_failed, failed, server_failed};
use crate::target::{LOCAL, Target, Targets, write_secret};

/// How long a sidecar may take to answer, beyond the time after which one that does not is replaced.
const SIDECAR_PATIENCE: Duration = Duration::from_secs(10);

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
        // All that can be wrong with a flag or a setting is told before anything is made.
        let server = self.server.options(&config.server)?;
        let mut agent = self.agent.options(&config.agent, server.data.join("agent"), Vec::new())?;
        // Its own server is one of those.
        agent.ca_file = agent.ca_file.or_else(|| server.ca_file.clone());
        let ca_file = config.client.ca_file.or_else(|| agent.ca_file.clone());
        let everything = Everything { server, agent, ca_file, guest: Guest::FirstAdmin };
        roles::run(&config.log, serve(everything, output))
    }
}

/// All that is started on one machine.
pub(crate) struct Everything {
    pub(crate) server: mainspring_server::Options,
    pub(crate) agent: mainspring_agent::Options,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) guest: Guest,
}

/// Whom the printed link signs in, and how they are greeted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guest {
    /// The first admin.
    FirstAdmin,
    /// Whose token is in the data folder: the visitor of a demonstration.
    Visitor,
}

pub(crate) async fn serve(everything: Everything, output: Output) -> Result<ExitCode, Failure> {
    let Everything { server: mut options, mut agent, ca_file, guest } = everything;
    raise_open_files();
    let stop = Stop::new()?.listen();
    let data = options.data.clone();
    // Before anything is made: a busy port must leave no folder and no sidecar behind.
    roles::check_port(options.listen).await?;
    make_folders(&options)?;
    let task_user = roles::task_user::settle(&mut agent, &data)?;
    let node = node(&agent).await?;
    options.resident = Some(node);
    let server = tokio::select! {
        built = Server::build(options) => built.map_err(server_failed)?,
        () = stop.cancelled() => return Ok(ExitCode::SUCCESS),
        () = roles::starting() => return Ok(ExitCode::SUCCESS),
    };
    let token_file = token(&server, &data).await?;
    let agent = joined(&server, &data, agent, node).await?;
    let pid_file = PidFile::write(data.join("pid"))?;
    let url = server.url().to_owned();
    let login = match guest {
        Guest::FirstAdmin => server.app().issue_login_code().await,
        Guest::Visitor => server.app().issue_login_code_of(fs::read_to_string(&token_file)?.trim()).await,
    };
    let login = login.map_err(failed)?;
    let ca_file = ca_file.map(std::path::absolute).transpose()?;
    let target = Target { url: url.clone(), token: None, token_file: Some(token_file), ca_file };
    Targets::remember(LOCAL, target)?;
    // The agent first stops, then the server that it talks to.
    let server_stop = CancellationToken::new();
    let serving = tokio::spawn(server.run(server_stop.clone()));
    let mut agent = tokio::spawn(mainspring_agent::run(agent, stop.clone().cancelled_owned()));
    welcome(output, guest, &url, &login.path, &task_user);
    roles::ready();
    let ended = tokio::select! {
        () = stop.cancelled() => (&mut agent).await,
        ended = &mut agent => ended,
    };
    server_stop.cancel();
    let served = serving.await;
    drop(pid_file);
    flatten(ended, agent_failed)?;
    flatten(served, server_failed)?;
    Ok(ExitCode::SUCCESS)
}

/// The file with our number, as long as we are here: the number may be somebody else's soon.
struct PidFile(PathBuf);

impl PidFile {
    fn write(path: PathBuf) -> io::Result<Self> {
        fs::write(&path, format!("{}\n", std::process::id()))?;
        Ok(Self(path))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Tasks of other users pass through the data folder to the agent's. What the server keeps in it is closed by its own mode,
/// also where an earlier version left it open in a closed folder.
pub(crate) fn make_folders(options: &mainspring_server::Options) -> Result<(), Failure> {
    try_make_folders(options).map_err(|error| {
        Failure::failed(format!("data folder {}: {error}", options.data.display())).hint(roles::OTHER_DATA)
    })
}

fn try_make_folders(options: &mainspring_server::Options) -> io::Result<()> {
    make_passable(&options.data)?;
    let folders = [(&options.logs, "logs"), (&options.artifacts, "artifacts")];
    for (_, name) in folders.into_iter().filter(|(elsewhere, _)| elsewhere.is_none()) {
        let folder = options.data.join(name);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
    }
    let Some(store) = options.store.strip_prefix("sqlite:") else { return Ok(()) };
    let store = store.split_once('?').map_or(store, |(path, _)| path);
    if !Path::new(store).starts_with(&options.data) {
        return Ok(());
    }
    // SQLite gives the files beside its database the database's mode.
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(store)?;
    for path in ["", "-wal", "-shm"].map(|end| PathBuf::from(format!("{store}{end}"))) {
        if path.exists() {
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

/// The agent's options, with the way to the server and the right to join it.
async fn joined(
    server: &Server,
    data: &Path,
    mut options: mainspring_agent::Options,
    node: NodeId,
) -> Result<mainspring_agent::Options, Failure> {
    // A certificate is for the server's name, hardly for the loopback address.
    let url = if server.is_encrypted() { server.url() } else { server.local_url() };
    options.servers = vec![url.to_owned()];
    // The server's files lie around the agent's: the store and the first admin's token.
    options.forbidden_paths = vec![data.to_owned()];
    // It is new here, or somebody removed it. Without a file, what the store knows of it is of no use.
    let admitted = server.app().admit_resident(node).await.map_err(failed)?;
    let has_file = options.data.join("agent").join("credential").exists();
    let token = match admitted {
        None if !has_file => Some(server.app().issue_join_token(None).await.map_err(failed)?),
        admitted => admitted,
    };
    options.join_token = token.map(|token| token.token).or(options.join_token);
    Ok(options)
}

/// The node of this process. The server knows it from the start, so that its tasks go on while this process is away.
async fn node(agent: &mainspring_agent::Options) -> Result<NodeId, Failure> {
    let asked =
        tokio::time::timeout(agent.sidecar_patience + SIDECAR_PATIENCE, mainspring_agent::node(agent));
    let unheard = |_| {
        let log = agent.data.join("private/sidecar.err");
        Failure::failed(format!("no sidecar answers in {}", agent.data.display()))
            .hint(format!("what it said last is in {}", log.display()))
    };
    asked.await.map_err(unheard)?.map_err(agent_failed)
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

fn welcome(output: Output, guest: Guest, url: &str, login: &str, task_user: &str) {
    let (what, next) = match guest {
        Guest::FirstAdmin => ("Mainspring is up", "`mainspring up`"),
        Guest::Visitor => ("The demonstration, with made-up data, is up", "`mainspring demo`"),
    };
    let tries = match guest {
        Guest::FirstAdmin => ["submit --wait -- echo hello", "runs", "top"],
        Guest::Visitor => ["runs -A --state final_failed", "trigger list -n linden/data", "doctor"],
    };
    output.say(format!(
        "{what} at {url}\n\
         Sign in once with {url}{login}\n\
         {task_user}\n\
         \n\
         Try, in another terminal:\n  \
           mainspring {}\n  \
           mainspring {}\n  \
           mainspring {}\n\
         \n\
         Ctrl-C stops it; tasks that run go on, for a day at most, and are found again by the next {next}.",
        tries[0], tries[1], tries[2]
    ));
}

fn flatten<E>(
    ended: Result<Result<(), E>, tokio::task::JoinError>,
    words: fn(E) -> Failure,
) -> Result<(), Failure> {
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(words(error)),
        Err(lost) => Err(failed(lost)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_pass_through_the_data_folder_and_see_nothing_of_the_server() {
        let outer = tempfile::tempdir().unwrap();
        let data = outer.path().join("new");
        let store = format!("sqlite:{}?x=1", data.join("store.db").display());
        let options = mainspring_server::Options::new(store, &data);
        let mode = |name: &str| fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
        for _ in 0..2 {
            make_folders(&options).unwrap_or_else(|_| panic!("no folders"));
            assert_eq!(["", "logs", "artifacts", "store.db"].map(mode), [0o711, 0o700, 0o700, 0o600]);
            // An earlier version relied on the folder around them.
            for name in ["logs", "store.db"] {
                fs::set_permissions(data.join(name), Permissions::from_mode(0o755)).unwrap();
            }
        }
    }

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
