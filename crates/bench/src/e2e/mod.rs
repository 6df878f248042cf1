//! The whole of it beside the limits of the machine: the real binary as a server and an agent with its sidecar, driven through
//! the API, with `/bin/true` as the task.
//!
//! Every figure is a rate and the CPU time of a job in all processes involved: client, server, agent, sidecar, tasks and
//! database. Rates follow whatever else the machine does; CPU time hardly does, so the bar of whole runs is one of CPU time.

mod cold;
mod echo;
pub(crate) mod ground;
pub(crate) mod http;
mod idle;
mod latency;
pub(crate) mod limits;
mod load;
mod runs;
pub(crate) mod usage;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use mainspring_model::limits::LEASE_RENEW_EVERY;
use serde_json::json;

use self::echo::Echo;
pub(crate) use self::echo::serve as serve_echo;
use self::ground::Ground;
use self::http::Request;
use self::latency::Latency;
use self::limits::Meanwhile;
use self::usage::Cpu;
use crate::store::databases::{self, Databases, Kind};
use crate::store::processes::Processes;
use crate::table::{Bar, Table};

const RUNS_TO_SPAWN_MIN: f64 = 0.6;
const SUBMITS_TO_ECHO_MIN: f64 = 0.25;
/// The insert, already placed, and the end. One that waits for room is written once more.
const ROW_WRITES_MAX: f64 = 2.05;
const MIB: f64 = 1024.0 * 1024.0;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The store of the server.
    #[arg(long, default_value = "sqlite")]
    store: Kind,
    /// The `mainspring` binary; without one, the one beside this program, built first.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Process runs to measure.
    #[arg(long, default_value_t = 6_000)]
    runs: usize,
    /// Measures this part alone; may be given several times.
    #[arg(long, value_name = "PART")]
    only: Vec<Part>,
}

/// A part of the measurement, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Commits,
    Cold,
    Idle,
    Latency,
    Processes,
    Functions,
    Submits,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// So many jobs, and what they took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    jobs: u64,
    wall: Duration,
    cpu: Cpu,
}

impl Measured {
    pub(crate) fn rate(&self) -> f64 {
        self.jobs as f64 / self.wall.as_secs_f64()
    }

    fn cpu_us(&self) -> f64 {
        self.cpu.total().as_secs_f64() * 1e6 / self.jobs as f64
    }

    /// Both figures of a limit.
    fn tell(&self, table: &mut Table, name: &str) {
        table.add(name, self.rate(), "/s", Bar::None);
        table.add(format!("{name}, CPU of each"), self.cpu_us(), "µs", Bar::None);
    }

    /// Both, and who used the time.
    fn tell_roles(&self, table: &mut Table, name: &str) {
        self.tell(table, name);
        for (role, spent) in self.cpu.by_role().into_iter().filter(|(_, spent)| !spent.is_zero()) {
            let each = spent.as_secs_f64() * 1e6 / self.jobs as f64;
            table.add(format!("{name}, CPU of each: {role}"), each, "µs", Bar::None);
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<Table> {
    ensure!(options.store != Kind::Mysql, "choose sqlite or postgres");
    databases::ensure_servers(&[options.store])?;
    let binary = match &options.binary {
        Some(binary) => binary.canonicalize()?,
        None => build()?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let databases = Databases::create(options.store).await?;
        let measured = measure(options, &binary, &databases).await;
        let removed = databases.remove().await;
        measured.and_then(|table| removed.map(|()| table))
    })
}

/// The binary beside this program, of the same profile.
pub(crate) fn build() -> Result<PathBuf> {
    let here = env::current_exe()?;
    let folder = here.parent().context("this program is in no folder")?;
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.args(["build", "-p", "mainspring-cli"]);
    if folder.ends_with("release") {
        command.arg("--release");
    }
    ensure!(command.status()?.success(), "the binary cannot be built");
    Ok(folder.join("mainspring"))
}

async fn measure(options: &Options, binary: &std::path::Path, databases: &Databases) -> Result<Table> {
    let kind = options.store;
    let mut table = Table::new(match kind {
        Kind::Sqlite => "e2e on SQLite (FULL)",
        Kind::Postgres | Kind::Mysql => "e2e on PostgreSQL",
    });
    if options.wants(Part::Commits) {
        commits(kind, databases, &mut table).await?;
    }
    if options.wants(Part::Cold) {
        cold_start(binary, &mut table).await?;
    }
    let ground = Ground::start(binary, databases).await?;
    if options.wants(Part::Idle) {
        idle_cost(&ground, kind, databases, &mut table).await?;
    }
    if options.wants(Part::Latency) {
        start_latency(&ground, kind, databases, &mut table).await?;
    }
    if options.wants(Part::Processes) {
        process_runs(&ground, options.runs, kind, &mut table).await?;
    }
    if options.wants(Part::Functions) {
        let runs = runs::run_functions(&ground, options.runs * 2).await?;
        runs.tell_roles(&mut table, "no-op runs, history kept");
    }
    if options.wants(Part::Submits) {
        submits(&ground, &mut table).await?;
    }
    Ok(table)
}

async fn commits(kind: Kind, databases: &Databases, table: &mut Table) -> Result<()> {
    let span = Duration::from_secs(2);
    let single = limits::commits(kind, databases, 1, span).await?;
    single.tell(table, "limit: durable commits of one row, rows");
    let grouped = limits::commits(kind, databases, limits::GROUP, span).await?;
    grouped.tell(table, "limit: durable commits of 100 rows, rows");
    Ok(())
}

async fn cold_start(binary: &std::path::Path, table: &mut Table) -> Result<()> {
    let mut spans = Vec::new();
    for _ in 0..5 {
        spans.push(cold::start(binary).await?);
    }
    spans.sort_unstable();
    let name = "cold start of `up` to the first finished job, median of 5";
    let (wall, cpu) = spans[spans.len() / 2];
    table.add(name, wall.as_secs_f64() * 1e3, "ms", Bar::AtMost(300.0));
    table.add(format!("{name}, CPU of all processes"), cpu.as_secs_f64() * 1e3, "ms", Bar::None);
    Ok(())
}

async fn idle_cost(ground: &Ground, kind: Kind, databases: &Databases, table: &mut Table) -> Result<()> {
    let span = Duration::from_secs(20);
    // Whatever a start leaves to be done is done by then.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let idle = idle::watch(ground, kind, databases, span).await?;
    let share = |spent: Duration| spent.as_secs_f64() / span.as_secs_f64() * 100.0;
    let together = idle.cpu.server + idle.cpu.agent + idle.cpu.sidecar;
    table.add("idle, CPU of server", share(idle.cpu.server), "% core", Bar::None);
    table.add("idle, CPU of agent", share(idle.cpu.agent), "% core", Bar::None);
    table.add("idle, CPU of sidecar", share(idle.cpu.sidecar), "% core", Bar::None);
    table.add("idle, CPU of database", share(idle.cpu.database), "% core", Bar::None);
    table.add("idle, CPU together", share(together), "% core", Bar::AtMost(0.2));
    let mib = |bytes: u64| bytes as f64 / MIB;
    table.add("idle, resident memory of server", mib(idle.server.resident), "MiB", Bar::AtMost(40.0));
    table.add("idle, resident memory of agent", mib(idle.agent.resident), "MiB", Bar::AtMost(15.0));
    table.add("idle, resident memory of sidecar", mib(idle.sidecar.resident), "MiB", Bar::None);
    // A sidecar never runs without the agent whose program it is: what both have in common is there anyway.
    table.add(
        "idle, memory of sidecar without others' shares",
        mib(idle.sidecar.share),
        "MiB",
        Bar::AtMost(4.0),
    );
    // Nothing is polled. Where several servers may share the store, the owner of the cell renews its lease each second.
    let (what, most) = match kind {
        Kind::Sqlite => ("idle, commits in the store in 20 s", 0.0),
        Kind::Postgres | Kind::Mysql => (
            "idle, transactions in the store in 20 s",
            1.0 + span.as_secs_f64() / LEASE_RENEW_EVERY.as_secs_f64(),
        ),
    };
    table.add(what, idle.writes as f64, "", Bar::AtMost(most));
    Ok(())
}

async fn start_latency(ground: &Ground, kind: Kind, databases: &Databases, table: &mut Table) -> Result<()> {
    latency::prepare(ground).await?;
    latency::idle(ground, 10).await?;
    let rows_before = idle::run_rows_written(kind, databases).await?;
    let before = Cpu::of(&ground.crew)?;
    latency::idle(ground, 100).await?.tell(table, "submit to start idle", Bar::None, Bar::None);
    Cpu::of(&ground.crew)?.since(before).tell_ours(table, "submit to start idle", 100.0);
    if let Some((after, before)) = idle::run_rows_written(kind, databases).await?.zip(rows_before) {
        let each = after.saturating_sub(before) as f64 / 100.0;
        table.add("submit to start idle, row writes of each run", each, "", Bar::AtMost(ROW_WRITES_MAX));
    }
    let loads = [
        (50, Duration::from_secs(10), Bar::AtMost(3.0), Bar::AtMost(15.0)),
        (500, Duration::from_secs(6), Bar::None, Bar::AtMost(40.0)),
    ];
    for (per_second, span, p50, p99) in loads {
        let meanwhile = Meanwhile::start(kind, databases)?;
        let before = Cpu::of(&ground.crew)?;
        let steady = latency::steady(ground, per_second, span).await;
        let spent = Cpu::of(&ground.crew)?.since(before);
        let raw = Latency::of(meanwhile.end()?);
        let name = format!("submit to start at {per_second}/s");
        steady?.tell(table, &name, p50, p99);
        spent.tell_ours(table, &name, f64::from(per_second) * span.as_secs_f64());
        raw.tell(table, "limit: a durable commit of one row meanwhile", Bar::None, Bar::None);
    }
    Ok(())
}

/// The limit and ours in turn, because the machine's pace changes.
async fn process_runs(ground: &Ground, count: usize, kind: Kind, table: &mut Table) -> Result<()> {
    const ROUNDS: usize = 3;
    ground.put_job("true", json!({ "process": "/bin/true" })).await?;
    runs::run(ground, "true", 500).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let limit = tokio::task::spawn_blocking(|| limits::spawn(1_000)).await??;
        rounds.push((limit, runs::run(ground, "true", count / ROUNDS).await?));
    }
    let ratio = |(limit, ours): &(Measured, Measured)| limit.cpu_us() / ours.cpu_us();
    rounds.sort_unstable_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let (limit, ours) = rounds[ROUNDS / 2];
    limit.tell(table, "limit: spawn and wait of /bin/true on 2 threads");
    ours.tell_roles(table, "runs of /bin/true");
    let bar = if kind == Kind::Sqlite { Bar::AtLeast(RUNS_TO_SPAWN_MIN) } else { Bar::None };
    table.add("runs of /bin/true beside the spawn limit, by CPU", ratio(&(limit, ours)), "×", bar);
    table.add(
        "runs of /bin/true beside the spawn limit, by rate",
        ours.rate() / limit.rate(),
        "×",
        Bar::None,
    );
    Ok(())
}

/// Submissions of runs that wait for a later day, so that only submitting is measured.
async fn submits(ground: &Ground, table: &mut Table) -> Result<()> {
    const ROUNDS: usize = 3;
    const CONNECTIONS: usize = 64;
    let span = Duration::from_secs(2);
    ground.put_job("true", json!({ "process": "/bin/true" })).await?;
    let body = json!({ "job": "true", "not_before": "2100-01-01T00:00:00Z" });
    let echo = Echo::start()?;
    let echoed = Request::new("POST", "/v1/runs", &ground.token, Some(&body));
    let submitted = ground.request("POST", "/v1/runs", Some(&body));
    load::run(echo.address, &echoed, CONNECTIONS, span / 4).await?;
    load::run(ground.address, &submitted, CONNECTIONS, span / 4).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let before = (Processes::Own.cpu()?, usage::of_process(echo.pid())?);
        let (jobs, wall) = load::run(echo.address, &echoed, CONNECTIONS, span).await?;
        let client = Processes::Own.cpu()?.saturating_sub(before.0);
        let server = usage::of_process(echo.pid())?.saturating_sub(before.1);
        let limit = Measured { jobs, wall, cpu: Cpu { client, server, ..Cpu::default() } };
        let before = Cpu::of(&ground.crew)?;
        let (jobs, wall) = load::run(ground.address, &submitted, CONNECTIONS, span).await?;
        let ours = Measured { jobs, wall, cpu: Cpu::of(&ground.crew)?.since(before) };
        rounds.push((limit, ours));
    }
    let ratio = |(limit, ours): &(Measured, Measured)| ours.rate() / limit.rate();
    rounds.sort_unstable_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let (limit, ours) = rounds[ROUNDS / 2];
    limit.tell_roles(table, "limit: echo of JSON on 64 connections");
    ours.tell_roles(table, "durable single submits on 64 connections");
    let name = "durable single submits beside the echo";
    table.add(format!("{name}, by rate"), ratio(&(limit, ours)), "×", Bar::AtLeast(SUBMITS_TO_ECHO_MIN));
    table.add(format!("{name}, by CPU"), limit.cpu_us() / ours.cpu_us(), "×", Bar::None);
    Ok(())
}
