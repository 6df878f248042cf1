//! What the API is checked on: the real server on a fresh store, one agent that runs what is submitted, and a few things
//! to find.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use serde_json::Value;

use super::leftover::Leftovers;
use super::role::Role;
use crate::database::{Home, Kind, Server, ServerProcess};
use crate::{interrupt, process};

/// A guard against a hang: the agent joins and the first runs end within a few seconds.
const PATIENCE: Duration = Duration::from_secs(600);
/// The name of a namespace and of jobs. Generators of requests come to it first, so that they find something.
const NAME: &str = "0";
const JOB: &str = "name: \"0\"\nprocess:\n  command: sh\n  args: [-c, \"echo hello; echo oops >&2\"]\n";

/// A server and its agent. The fields are dropped in order: the agent, what it left running, then the server.
pub(super) struct Ground {
    _agent: ServerProcess,
    _leftovers: Leftovers,
    agent_home: Home,
    server: Server,
    person: Person,
}

/// A token of a role.
pub(super) struct Token {
    pub(super) id: String,
    pub(super) secret: String,
}

impl Ground {
    /// Starts everything from this binary.
    pub(super) fn start(binary: &Path) -> Result<Self> {
        let home = Home::create_as_ourselves("server")?;
        let api = Api { binary: binary.to_owned(), data: home.path("data") };
        let server = Server::start(&api, home)?;
        let person = api.person(server.port());
        let agent_home = Home::create_as_ourselves("agent")?;
        let data = agent_home.path("data");
        let leftovers = Leftovers(data.clone());
        let joined = person.ask(&["node", "token"])?;
        let mut command = agent_home.server_command(binary, Signal::TERM);
        without_settings(&mut command);
        command.args(["agent", "--name", "contract", "--server", server.url(), "--data"]).arg(&data);
        command.env("MAINSPRING_JOIN_TOKEN", text(&joined, "token")?);
        if rustix::process::geteuid().is_root() {
            command.env("MAINSPRING_AGENT__TASK_USER", "root");
        }
        let agent =
            ServerProcess::spawn(command, &agent_home, Signal::TERM).context("cannot start the agent")?;
        let ground = Self { _agent: agent, _leftovers: leftovers, agent_home, server, person };
        ground
            .seed()
            .with_context(|| format!("the agent's last words:\n{}", ground.agent_home.log_tail()))?;
        Ok(ground)
    }

    pub(super) fn url(&self) -> &str {
        self.server.url()
    }

    /// Fails with the server's last words when it has died.
    pub(super) fn check_alive(&mut self) -> Result<()> {
        self.server.check_alive()
    }

    /// Makes somebody with this role everywhere, and a token for them.
    pub(super) fn token(&self, role: Role) -> Result<Token> {
        let subject = role.subject();
        self.person.ask(&["member", "set", &subject, role.name])?;
        let made = self.person.ask(&["token", "create", "contract", "--subject", &subject])?;
        Ok(Token { id: text(&made["token"], "id")?, secret: text(&made, "secret")? })
    }

    /// Jobs and runs in several states.
    fn seed(&self) -> Result<()> {
        let file = self.agent_home.write("job.yaml", JOB)?;
        let file = file.to_str().context("a temporary path is text")?;
        self.person.ask(&["namespace", "set", NAME])?;
        for namespace in ["default", NAME] {
            self.person.ask(&["-n", namespace, "apply", "--yes", file])?;
            self.person.ask(&["-n", namespace, "submit", "--", "sh", "-c", "echo hello"])?;
            // One that has failed, one that waits for its next attempt, and one that goes on.
            self.person.ask(&["-n", namespace, "submit", "--retries", "0", "--", "false"])?;
            self.person.ask(&["-n", namespace, "submit", "--retries", "9", "--", "false"])?;
            self.person.ask(&["-n", namespace, "submit", "--", "sleep", "600"])?;
        }
        self.until_one_failed()
    }

    fn until_one_failed(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            interrupt::check()?;
            let found = self.person.ask(&["runs", "-A", "--state", "final_failed"])?;
            if found["items"].as_array().is_some_and(|items| !items.is_empty()) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                bail!(
                    "no run has failed within the time limit of {} s, a guard against a hang",
                    PATIENCE.as_secs()
                );
            }
            thread::sleep(process::POLL_INTERVAL);
        }
    }
}

/// The server with its API.
struct Api {
    binary: PathBuf,
    data: PathBuf,
}

impl Api {
    /// Whoever started it.
    fn person(&self, port: u16) -> Person {
        let token = self.data.join("token");
        Person { binary: self.binary.clone(), url: self.url(port), token, home: self.data.clone() }
    }
}

impl Kind for Api {
    const STOP: Signal = Signal::TERM;

    fn name(&self) -> &'static str {
        "mainspring server"
    }

    fn command(&self, home: &Home, port: u16) -> Command {
        let mut command = home.server_command(&self.binary, Self::STOP);
        without_settings(&mut command);
        command.arg("server").arg("--data").arg(&self.data);
        command.arg("--store").arg(format!("sqlite:{}", self.data.join("store.db").display()));
        command.arg("--listen").arg(format!("127.0.0.1:{port}"));
        // Thousands of requests with wrong tokens come from one address.
        command.env("MAINSPRING_SERVER__WRONG_CREDENTIALS_PER_MINUTE", "1000000");
        command
    }

    fn answers(&self, port: u16) -> Result<bool> {
        let answer = process::capture(self.person(port).command().arg("whoami"), None)?;
        Ok(answer.status.success())
    }

    fn url(&self, port: u16) -> String {
        format!("http://127.0.0.1:{port}")
    }
}

/// A person with a shell, and the first admin's token.
struct Person {
    binary: PathBuf,
    url: String,
    token: PathBuf,
    home: PathBuf,
}

impl Person {
    fn command(&self) -> Command {
        let mut command = process::command(&self.binary);
        without_settings(&mut command);
        command.env("HOME", &self.home).env("MAINSPRING_URL", &self.url);
        command.env("MAINSPRING_TOKEN_FILE", &self.token);
        command
    }

    /// A command that must work, and the data that it prints.
    fn ask(&self, words: &[&str]) -> Result<Value> {
        let printed = process::output_of(self.command().args(["-q", "-o", "json"]).args(words))?;
        // Some commands print several documents, or none.
        let mut documents = serde_json::Deserializer::from_str(&printed).into_iter();
        let first = documents.next().transpose();
        first
            .map(Option::unwrap_or_default)
            .with_context(|| format!("`mainspring {words:?}` printed {printed}"))
    }
}

/// Whoever runs the tests may have settings of their own.
fn without_settings(command: &mut Command) {
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.to_string_lossy().starts_with("MAINSPRING_")) {
        command.env_remove(name);
    }
}

fn text(answer: &Value, field: &str) -> Result<String> {
    let text = answer[field].as_str();
    text.map(str::to_owned).with_context(|| format!("there is no `{field}` in {answer}"))
}
