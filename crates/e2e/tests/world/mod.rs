//! A server, its agents and a person with a shell. Everything lives in a temporary folder; whatever was started is ended with it.

mod database;
mod process;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) use database::{Store, on_every_store};
use process::Process;

/// Longer than anything takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A cluster of one server.
pub(crate) struct World {
    folder: TempDir,
    store: String,
    port: u16,
    settings: Vec<(String, String)>,
    server: Option<Process>,
    agents: Vec<(String, Option<Process>)>,
}

impl World {
    /// A server without agents.
    pub(crate) fn bare(store: Store) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut world = Self {
            store: store.url(folder.path()),
            port: free_port(),
            folder,
            settings: vec![
                ("MAINSPRING_SERVER__HEARTBEAT_EVERY".into(), "1s".into()),
                ("MAINSPRING_SERVER__LOST_AFTER".into(), "6s".into()),
            ],
            server: None,
            agents: Vec::new(),
        };
        world.start_server();
        world
    }

    /// A server and one agent.
    pub(crate) fn new(store: Store) -> Self {
        let mut world = Self::bare(store);
        world.add_agent("one");
        world
    }

    pub(crate) fn start_server(&mut self) {
        let mut command = self.binary();
        command.args(["server", "--data"]).arg(self.path("server"));
        command.args(["--store", &self.store, "--listen", &format!("127.0.0.1:{}", self.port)]);
        self.server = Some(Process::start(command, &self.path("server.log")));
        self.until("the server answers", |world| {
            world.mainspring(&["whoami"]).status.success().then_some(())
        });
    }

    pub(crate) fn kill_server(&mut self) {
        self.server.take().unwrap().kill();
    }

    /// A new node that joins with a token of its own.
    pub(crate) fn add_agent(&mut self, name: &str) {
        let token = self.json(&["node", "token"])["token"].as_str().unwrap().to_owned();
        self.agents.push((name.to_owned(), None));
        self.run_agent(name, Some(token));
        self.until("the node is up", |world| {
            let nodes = world.json(&["nodes"]);
            let node = find(&nodes["items"], "name", name)?;
            (node["state"] == "up" && node["connected"] == true).then_some(())
        });
    }

    /// Starts the agent of a known node again.
    pub(crate) fn start_agent(&mut self, name: &str) {
        self.run_agent(name, None);
    }

    fn run_agent(&mut self, name: &str, token: Option<String>) {
        let mut command = self.binary();
        command.args(["agent", "--name", name, "--server", &self.url(), "--data"]).arg(self.path(name));
        command.args(["--label", &format!("name={name}")]);
        if let Some(token) = token {
            command.env("MAINSPRING_JOIN_TOKEN", token);
        }
        let process = Process::start(command, &self.path(&format!("{name}.log")));
        let agent = self.agents.iter_mut().find(|(known, _)| known == name).unwrap();
        agent.1 = Some(process);
    }

    /// kill -9 of the agent alone: its sidecar and tasks live on.
    pub(crate) fn kill_agent(&mut self, name: &str) {
        self.agents.iter_mut().find(|(known, _)| known == name).unwrap().1.take().unwrap().kill();
    }

    /// The whole machine goes: agent, sidecar and tasks.
    pub(crate) fn kill_machine(&mut self, name: &str) {
        self.kill_agent(name);
        process::kill_all_of(&self.path(name));
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program with a home of its own and the admin's token.
    pub(crate) fn binary(&self) -> Command {
        let mut command = Command::new(process::binary());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.path()).current_dir(self.folder.path());
        command.env("MAINSPRING_URL", self.url());
        command.env("MAINSPRING_TOKEN_FILE", self.path("server").join("token"));
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// A command of a person.
    pub(crate) fn mainspring(&self, args: &[&str]) -> Output {
        self.binary().args(args).output().unwrap()
    }

    /// A command that must work, and what it prints.
    pub(crate) fn text(&self, args: &[&str]) -> String {
        let output = self.mainspring(args);
        assert!(output.status.success(), "{args:?}: {output:?}\n{}", self.logs());
        String::from_utf8(output.stdout).unwrap()
    }

    /// A command that must work, and the data that it prints.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut words = args.to_vec();
        let at = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        words.splice(at..at, ["-o", "json"]);
        serde_json::from_str(&self.text(&words)).unwrap()
    }

    /// Submits a shell command; tells the run.
    pub(crate) fn submit(&self, options: &[&str], script: &str) -> String {
        let mut words = vec!["submit", "-q", "-o", "name"];
        words.extend(options);
        words.extend(["--", "sh", "-c", script]);
        self.text(&words).trim().to_owned()
    }

    pub(crate) fn run(&self, run: &str) -> Value {
        self.json(&["describe", run])
    }

    pub(crate) fn state(&self, run: &str) -> String {
        self.run(run)["run"]["state"].as_str().unwrap().to_owned()
    }

    /// Waits for the end of a run, and tells how `wait` ended.
    pub(crate) fn wait(&self, run: &str) -> Option<i32> {
        self.mainspring(&["wait", "--timeout", "90s", run]).status.code()
    }

    /// Waits until a task has written a file.
    pub(crate) fn until_file(&self, name: &str) -> String {
        self.until(&format!("{name} is there"), |world| {
            let text = std::fs::read_to_string(world.path(name)).ok()?;
            text.ends_with('\n').then_some(text)
        })
    }

    /// Looks until something holds.
    pub(crate) fn until<T>(&self, what: &str, mut holds: impl FnMut(&Self) -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(answer) = holds(self) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "it took too long until {what}\n{}", self.logs());
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// What the processes wrote, for a test that failed.
    pub(crate) fn logs(&self) -> String {
        let names = self.agents.iter().map(|(name, _)| name.as_str());
        let names = std::iter::once("server").chain(names);
        let log = |name: &str| {
            let text = std::fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default();
            format!("--- {name}\n{text}")
        };
        names.map(log).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.agents.clear();
        self.server = None;
        process::kill_all_of(self.folder.path());
    }
}

/// The item of a list whose field has this value.
pub(crate) fn find<'a>(items: &'a Value, field: &str, value: &str) -> Option<&'a Value> {
    items.as_array()?.iter().find(|item| item[field] == value)
}

/// Whether a process lives and is no zombie.
pub(crate) fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// A port that nobody has at the moment.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
