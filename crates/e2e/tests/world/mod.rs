//! A server, its agents and a person with a shell. Everything lives in a temporary folder; whatever was started is ended with it.

mod database;
mod disk;
mod http;
mod postgres;
mod process;
mod tls;

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) use database::{Store, on_every_store};
use disk::Disk;
pub(crate) use postgres::Postgres;
use process::Process;
pub(crate) use tls::Authority;

/// A guard against a hang, far longer than anything takes on a busy machine: no verdict follows from time.
const PATIENCE: Duration = Duration::from_secs(900);
/// How nodes keep in touch here: they are given up sooner than by default.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(1);
const LOST_AFTER: Duration = Duration::from_secs(6);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A cluster: usually of one server.
pub(crate) struct World {
    folder: TempDir,
    store: String,
    settings: Vec<(String, String)>,
    token: String,
    servers: Vec<Server>,
    agents: Vec<Agent>,
    /// Who signs the certificates of servers, when they have some.
    authority: Option<Authority>,
    /// How much history a demonstration has.
    demo_days: u32,
}

struct Server {
    name: String,
    /// The command that starts it: `server`, or `up` with an agent in the same process.
    role: &'static str,
    port: u16,
    disk: Option<Disk>,
    process: Option<Process>,
}

struct Agent {
    name: String,
    /// The servers that it is told of.
    servers: Vec<String>,
    disk: Option<Disk>,
    process: Option<Process>,
}

impl World {
    /// A server without agents.
    pub(crate) fn bare(store: Store) -> Self {
        let mut world = Self::empty(store);
        world.add_server("server", None);
        world
    }

    /// Everything in one process, on the embedded store. Its tasks run as `up` has them run.
    pub(crate) fn laptop() -> Self {
        let mut world = Self::empty(Store::Sqlite);
        world.settings.retain(|(name, _)| name != "MAINSPRING_AGENT__TASK_USER");
        // Under root that is another user, who writes here what tests look for.
        std::fs::set_permissions(world.folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        world.add("server", "up", None);
        world
    }

    /// A demonstration with so many days of history.
    pub(crate) fn demo(days: u32) -> Self {
        let mut world = Self::empty(Store::Sqlite);
        std::fs::set_permissions(world.folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        world.demo_days = days;
        world.add("server", "demo", None);
        world
    }

    /// A server and one agent.
    pub(crate) fn new(store: Store) -> Self {
        let mut world = Self::bare(store);
        world.add_agent("one");
        world
    }

    /// Nothing yet but an empty store.
    pub(crate) fn empty(store: Store) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut world = Self {
            store: store.url(folder.path()),
            folder,
            settings: Vec::new(),
            token: String::new(),
            servers: Vec::new(),
            agents: Vec::new(),
            authority: None,
            demo_days: 0,
        };
        if rustix::process::geteuid().is_root() {
            world.set("AGENT__TASK_USER", "root");
        }
        world.set("SERVER__HEARTBEAT_EVERY", &format!("{}s", HEARTBEAT_EVERY.as_secs()));
        world.set("SERVER__LOST_AFTER", &format!("{}s", LOST_AFTER.as_secs()));
        world
    }

    /// Where the store is; the second half of its address is the port.
    pub(crate) fn store_address(&self) -> String {
        let (_, rest) = self.store.rsplit_once('@').unwrap();
        rest.split('/').next().unwrap().to_owned()
    }

    /// The store's URL with another address or database.
    pub(crate) fn store_with(&self, part: &str, other: &str) -> String {
        self.store.replace(part, other)
    }

    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    /// Servers that are started from now on have this store.
    pub(crate) fn set_store(&mut self, url: String) {
        self.store = url;
    }

    /// A setting for everything that is started from now on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.settings.push((format!("MAINSPRING_{name}"), value.to_owned()));
    }

    /// One more server, on a disk of this size if one is given.
    pub(crate) fn add_server(&mut self, name: &str, disk: Option<&str>) {
        let disk = disk.map(|size| Disk::mount(&self.path(name), size));
        self.add(name, "server", disk);
    }

    fn add(&mut self, name: &str, role: &'static str, disk: Option<Disk>) {
        self.begin(name, role, disk);
        self.until_ready(name);
    }

    /// Starts a server and waits for nothing.
    pub(crate) fn begin_server(&mut self, name: &str) {
        self.begin(name, "server", None);
    }

    fn begin(&mut self, name: &str, role: &'static str, disk: Option<Disk>) {
        let server = Server { name: name.to_owned(), role, port: free_port(), disk, process: None };
        self.servers.push(server);
        self.start(name);
    }

    /// Waits until a server that was started is ready, and has the first admin's token from the first of them.
    pub(crate) fn until_ready(&mut self, name: &str) {
        if self.token.is_empty() {
            self.token = self.until("the first admin has a token", |world| {
                let token = std::fs::read_to_string(world.server(name).path(world, "token")).ok()?;
                (!token.is_empty()).then_some(token)
            });
        }
        self.until_it_answers(name);
    }

    /// Starts the server again.
    pub(crate) fn start_server(&mut self) {
        let name = self.servers[0].name.clone();
        self.start_server_named(&name);
    }

    /// Starts one of the servers again.
    pub(crate) fn start_server_named(&mut self, name: &str) {
        self.start(name);
        self.until_it_answers(name);
    }

    fn start(&mut self, name: &str) {
        let server = self.server(name);
        let mut command = self.binary();
        command.args([server.role, "--data"]).arg(self.path(name));
        command.args(["--listen", &format!("127.0.0.1:{}", server.port)]);
        match server.role {
            "demo" => command.args(["--days", &self.demo_days.to_string()]),
            _ => command.args(["--store", &self.store]),
        };
        let command = on_disk(server.disk.as_ref(), command);
        let process = Process::start(command, &self.path(&format!("{name}.log")));
        self.server_mut(name).process = Some(process);
    }

    fn until_it_answers(&self, name: &str) {
        self.until("the server is ready", |world| {
            let listens = TcpStream::connect(("127.0.0.1", world.server(name).port)).is_ok();
            (listens && world.get_at(name, "/readyz").0 == 200).then_some(())
        });
    }

    pub(crate) fn kill_server(&mut self) {
        let name = self.servers[0].name.clone();
        self.kill_server_named(&name);
    }

    pub(crate) fn kill_server_named(&mut self, name: &str) {
        self.server_mut(name).process.take().unwrap().kill();
    }

    /// Asks the server to end, and tells how it did.
    pub(crate) fn stop_server(&mut self) -> ExitStatus {
        let mut process = self.servers[0].process.take().unwrap();
        process.ask_to_end();
        self.until("the server ends", |_| process.ended())
    }

    fn server(&self, name: &str) -> &Server {
        self.servers.iter().find(|server| server.name == name).unwrap()
    }

    fn server_mut(&mut self, name: &str) -> &mut Server {
        self.servers.iter_mut().find(|server| server.name == name).unwrap()
    }

    /// A new node that joins with a token of its own.
    pub(crate) fn add_agent(&mut self, name: &str) {
        let servers: Vec<String> = self.servers.iter().map(|server| server.name.clone()).collect();
        self.join(name, servers, None);
    }

    /// As [`World::add_agent`], on a disk of this size.
    pub(crate) fn add_agent_on(&mut self, name: &str, disk: &str) {
        let disk = Disk::mount(&self.path(name), disk);
        self.join(name, vec![self.servers[0].name.clone()], Some(disk));
    }

    /// As [`World::add_agent`], told of one server only.
    pub(crate) fn add_agent_at(&mut self, name: &str, server: &str) {
        self.join(name, vec![server.to_owned()], None);
    }

    fn join(&mut self, name: &str, servers: Vec<String>, disk: Option<Disk>) {
        let token = self.join_token();
        self.agents.push(Agent { name: name.to_owned(), servers, disk, process: None });
        self.run_agent(name, Some(token));
        self.until_connected(name);
    }

    pub(crate) fn until_connected(&self, name: &str) {
        self.until("the node is up", |world| {
            // Only the owner of its cell knows.
            let up = |server: &Server| {
                let nodes = world.at(&server.name).args(["nodes", "-o", "json"]).output().unwrap();
                let nodes: Value = serde_json::from_slice(&nodes.stdout).ok()?;
                let node = find(&nodes["items"], "name", name)?;
                (node["state"] == "up" && node["connected"] == true).then_some(())
            };
            world.servers.iter().filter(|server| server.process.is_some()).find_map(up)
        });
    }

    /// Starts the agent of a known node again.
    pub(crate) fn start_agent(&mut self, name: &str) {
        self.run_agent(name, None);
    }

    fn run_agent(&mut self, name: &str, token: Option<String>) {
        let mut command = self.binary();
        command.args(["agent", "--name", name, "--data"]).arg(self.path(name));
        for server in &self.agent(name).servers {
            command.args(["--server", &self.url_of(server)]);
        }
        command.args(["--label", &format!("name={name}")]);
        if let Some(token) = token {
            command.env("MAINSPRING_JOIN_TOKEN", token);
        }
        let command = on_disk(self.agent(name).disk.as_ref(), command);
        let process = Process::start(command, &self.path(&format!("{name}.log")));
        self.agent_mut(name).process = Some(process);
    }

    /// A worker with the functions of `examples/functions.rs`, which joins with a token of its own.
    pub(crate) fn add_worker(&mut self, name: &str) {
        let token = self.join_token();
        self.start_worker(name, Some(token));
        self.until_connected(name);
    }

    /// Starts it, or starts it again.
    pub(crate) fn start_worker(&mut self, name: &str, token: Option<String>) {
        self.start_example("functions", name, token);
    }

    /// Starts an example of a worker under a name; it counts as an agent.
    pub(crate) fn start_example(&mut self, example: &str, name: &str, token: Option<String>) {
        let mut command = self.program(&process::example(example), &self.servers[0].name);
        command.env_remove("MAINSPRING_TOKEN").env("NAME", name).env("FOLDER", self.folder.path());
        if let Some(token) = token {
            command.env("MAINSPRING_JOIN_TOKEN", token);
        }
        let process = Process::start(command, &self.path(&format!("{name}.log")));
        self.agents.retain(|agent| agent.name != name);
        let servers = vec![self.servers[0].name.clone()];
        self.agents.push(Agent { name: name.to_owned(), servers, disk: None, process: Some(process) });
    }

    /// A token for one node.
    pub(crate) fn join_token(&self) -> String {
        self.json(&["node", "token"])["token"].as_str().unwrap().to_owned()
    }

    /// kill -9 of the agent alone: its sidecar and tasks live on.
    pub(crate) fn kill_agent(&mut self, name: &str) {
        self.agent_mut(name).process.take().unwrap().kill();
    }

    /// kill -9 of the sidecar alone: its agent starts another.
    pub(crate) fn kill_sidecar(&self, name: &str) {
        process::kill_sidecar_of(&self.path(name));
    }

    /// The whole machine goes: agent, sidecar and tasks.
    pub(crate) fn kill_machine(&mut self, name: &str) {
        self.kill_agent(name);
        self.kill_rest(name);
    }

    /// Whatever else was told of this folder: sidecars and tasks.
    pub(crate) fn kill_rest(&self, name: &str) {
        process::kill_all_of(&self.path(name));
    }

    /// Asks the agent to end, and tells how it did.
    pub(crate) fn stop_agent(&mut self, name: &str) -> ExitStatus {
        let mut process = self.agent_mut(name).process.take().unwrap();
        process.ask_to_end();
        self.until("the agent ends", |_| process.ended())
    }

    /// Lets so much time pass that a node that was silent for all of it has ended its tasks and is given up.
    pub(crate) fn outlast_leases(&self) {
        let begun = Instant::now();
        self.until("leases are over", |_| (begun.elapsed() > LOST_AFTER + HEARTBEAT_EVERY).then_some(()));
    }

    /// Waits until no process is left that was told of this folder: no server, agent, sidecar or task.
    pub(crate) fn until_nobody_lives(&self, name: &str) {
        self.until("nothing of it lives", |world| {
            process::all_of(&world.path(name)).is_empty().then_some(())
        });
    }

    /// Whether the agent that was started is still there.
    pub(crate) fn agent_lives(&mut self, name: &str) -> bool {
        self.agent_mut(name).process.as_mut().unwrap().ended().is_none()
    }

    fn agent(&self, name: &str) -> &Agent {
        self.agents.iter().find(|agent| agent.name == name).unwrap()
    }

    fn agent_mut(&mut self, name: &str) -> &mut Agent {
        self.agents.iter_mut().find(|agent| agent.name == name).unwrap()
    }

    /// Leaves no room on the disk of a server or an agent.
    pub(crate) fn fill_disk(&self, name: &str) {
        self.disk(name).fill();
    }

    /// Takes away what filled it.
    pub(crate) fn free_disk(&self, name: &str) {
        self.disk(name).free();
    }

    fn disk(&self, name: &str) -> &Disk {
        let servers = self.servers.iter().map(|server| (&server.name, &server.disk));
        let mut all = servers.chain(self.agents.iter().map(|agent| (&agent.name, &agent.disk)));
        all.find(|(known, _)| *known == name).unwrap().1.as_ref().unwrap()
    }

    /// The logs that a server has stored of a run.
    pub(crate) fn stored_logs(&self, server: &str, run: &str) -> usize {
        let days = std::fs::read_dir(self.server(server).path(self, "logs")).unwrap();
        let runs = days.map(|day| day.unwrap().path().join(run));
        let logs = runs.filter_map(|run| std::fs::read_dir(run).ok()).flatten();
        logs.filter(|log| log.as_ref().unwrap().metadata().unwrap().len() > 0).count()
    }

    pub(crate) fn url(&self) -> String {
        self.url_of(&self.servers[0].name)
    }

    /// How many files a server may open.
    pub(crate) fn open_files_max(&self, server: &str) -> String {
        self.server(server).process.as_ref().unwrap().open_files_max()
    }

    /// The memory of a server in KiB.
    pub(crate) fn memory_kib(&self, server: &str) -> u64 {
        self.server(server).process.as_ref().unwrap().memory_kib()
    }

    /// Where one of the servers is.
    pub(crate) fn url_of(&self, server: &str) -> String {
        let scheme = if self.authority.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.server(server).address())
    }

    /// Where one of the servers listens.
    pub(crate) fn address_of(&self, server: &str) -> String {
        self.server(server).address()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The first admin's token.
    pub(crate) fn token(&self) -> &str {
        self.token.trim()
    }

    /// The program with a home of its own and the admin's token.
    pub(crate) fn binary(&self) -> Command {
        self.at(&self.servers[0].name)
    }

    /// As [`World::binary`], for commands to this server.
    pub(crate) fn at(&self, server: &str) -> Command {
        self.program(&process::binary(), server)
    }

    fn program(&self, program: &Path, server: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.path()).current_dir(self.folder.path());
        command.env("MAINSPRING_URL", self.url_of(server));
        command.env("MAINSPRING_TOKEN", self.token());
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

    /// Submits a job that is written out; tells the run.
    pub(crate) fn submit_job(&self, job: &Value) -> String {
        let file = self.path(&format!("{}.json", job["name"].as_str().unwrap()));
        std::fs::write(&file, job.to_string()).unwrap();
        self.text(&["submit", "-q", "-o", "name", file.to_str().unwrap()]).trim().to_owned()
    }

    /// What a run wrote to one stream.
    pub(crate) fn log_of(&self, run: &str, stream: &str) -> String {
        let output = self.text(&["logs", "-o", "json", "--stream", stream, run]);
        let lines = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["text"].as_str().unwrap().to_owned()).collect()
    }

    /// What a run wrote, and what the system says in between.
    pub(crate) fn log_and_marks(&self, run: &str) -> (String, String) {
        let (mut written, mut marks) = (String::new(), String::new());
        for line in self.text(&["logs", "-o", "json", run]).lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let to = if line["stream"] == "system" { &mut marks } else { &mut written };
            to.push_str(line["text"].as_str().unwrap());
        }
        (written, marks)
    }

    pub(crate) fn run(&self, run: &str) -> Value {
        self.json(&["describe", run])
    }

    pub(crate) fn state(&self, run: &str) -> String {
        self.run(run)["run"]["state"].as_str().unwrap().to_owned()
    }

    /// Waits for the end of a run, and tells how `wait` ended.
    pub(crate) fn wait(&self, run: &str) -> Option<i32> {
        self.mainspring(&["wait", "--timeout", "15m", run]).status.code()
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
            assert!(
                begun.elapsed() < PATIENCE,
                "the time limit of {PATIENCE:?}, a guard against a hang, was over before {what}\n{}",
                self.logs()
            );
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// What the processes wrote, for a test that failed.
    pub(crate) fn logs(&self) -> String {
        let names = self.agents.iter().map(|agent| agent.name.as_str());
        let names = self.servers.iter().map(|server| server.name.as_str()).chain(names);
        let log = |name: &str| {
            let text = std::fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default();
            format!("--- {name}\n{text}")
        };
        names.map(log).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.agents.iter_mut().for_each(|agent| agent.process = None);
        self.servers.iter_mut().for_each(|server| server.process = None);
        process::kill_all_of(self.folder.path());
    }
}

impl Server {
    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A file of its data, as it is seen from here.
    fn path(&self, world: &World, name: &str) -> PathBuf {
        self.disk.as_ref().map_or_else(|| world.path(&self.name).join(name), |disk| disk.path(name))
    }
}

fn on_disk(disk: Option<&Disk>, command: Command) -> Command {
    match disk {
        Some(disk) => disk.enter(&command),
        None => command,
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
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
