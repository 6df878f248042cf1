//! One run of chaos from its start to its report.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;

use crate::api::Api;
use crate::checks::{self, Violation};
use crate::cluster::{Cluster, Unit, units};
use crate::conductor::Conductor;
use crate::evidence::Evidence;
use crate::http::Request;
use crate::jobs::Job;
use crate::journal::Journal;
use crate::load::{self, Load};
use crate::observer;
use crate::plan;
use crate::report::Report;
use crate::witness::Witness;
use crate::{Database, logs, rest};

/// A guard against a cluster that does not come up.
const START_LIMIT: Duration = Duration::from_secs(600);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The load goes on for this long after the last fault, which shows how the cluster recovers from it.
const SETTLE: Duration = Duration::from_secs(10);
/// Submissions that are sent again at the end: the same key must still be the same run.
const RESENT: usize = 20;

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program.
    pub binary: PathBuf,
    /// An empty folder for everything that is written.
    pub folder: PathBuf,
    /// How long faults go on.
    pub length: Duration,
    /// What the plan of faults and the load follow from.
    pub seed: u64,
    /// Fails when the person wants us to stop.
    pub check: fn() -> Result<()>,
}

/// Starts a cluster, breaks it for a while, and reports. `tell` hears of each fault.
pub fn run(options: &Options, database: &mut dyn Database, tell: &dyn Fn(String)) -> Result<Report> {
    let cluster = Cluster::new(&options.folder, &options.binary, database.url())?;
    let (api, witness) = (Arc::new(Api::new(cluster.ports())), cluster.witness_folder());
    let load = Load {
        api: Arc::clone(&api),
        journal: Arc::default(),
        stop: Arc::default(),
        witness: witness.clone(),
        seed: options.seed,
    };
    let mut conductor = Conductor::new(cluster, database, options.check);
    bring_up(&mut conductor, &api)?;
    for (number, job) in Job::ALL.into_iter().enumerate() {
        load.put(job, 0, true, number)?;
    }

    let watching = Arc::new(AtomicBool::new(false));
    let observer = observer::watch(Arc::clone(&api), Arc::clone(&watching));
    let clients = load.start();
    let performed = conductor.perform(&plan::plan(options.seed, options.length), options.length, tell);
    let restored = performed.and_then(|()| {
        tell("faults are over; everything is started".to_owned());
        conductor.restore_all()?;
        conductor.perform(&[], SETTLE, tell)
    });
    load.stop.store(true, Ordering::Relaxed);
    restored?;
    while clients.iter().any(|client| !client.is_finished()) {
        conductor.look_after()?;
        thread::sleep(LOOK_EVERY);
    }
    for client in clients {
        client.join().map_err(|_| anyhow!("a thread of the load failed"))??;
    }
    load.put(Job::Switched, u64::MAX, true, 0)?;
    load.pause_triggers(Job::Tick, &["interval", "cron"])?;
    load.pause_triggers(Job::Changing, &["seconds"])?;
    load.pause_triggers(Job::Switched, &["seconds"])?;
    let mut violations = rest::until_quiet(&api, &mut conductor)?;
    watching.store(true, Ordering::Relaxed);
    let seen = observer.join().map_err(|_| anyhow!("the observer failed"))?;
    violations.extend(resend(&api, &load.journal)?);
    let acknowledged = std::mem::take(&mut *load.journal.lock());
    let evidence = Evidence::collect(&api, acknowledged, Witness::read(&witness)?, seen)?;
    judge(&api, &mut conductor, &evidence, violations)
}

/// Starts everything and waits until each node is connected.
fn bring_up(conductor: &mut Conductor<'_>, api: &Api) -> Result<()> {
    let first = Unit::Server(0);
    conductor.cluster.start(first, None)?;
    until("the first server answers", conductor, |conductor| {
        let token = conductor.cluster.token()?;
        api.sign_in(&token);
        api.look(0, "/v1/me").ok().map(drop)
    })?;
    for unit in units().filter(|unit| *unit != first) {
        let token = match unit {
            Unit::Server(_) => None,
            Unit::Agent(_) => {
                let answer =
                    api.until_answered(0, &Request::send_json("POST", "/v1/join-tokens", &json!({})))?;
                Some(answer.json()["token"].as_str().context("a join token")?.to_owned())
            }
        };
        conductor.cluster.start(unit, token.as_deref())?;
    }
    until("every node is connected", conductor, |_| {
        let nodes = api.look(0, "/v1/nodes").ok()?;
        let connected = nodes["items"].as_array()?.iter().filter(|node| node["connected"] == true).count();
        (connected == plan::AGENTS && api.look(1, "/v1/me").is_ok()).then_some(())
    })
}

fn until(
    what: &str,
    conductor: &mut Conductor<'_>,
    mut holds: impl FnMut(&mut Conductor<'_>) -> Option<()>,
) -> Result<()> {
    let begun = Instant::now();
    while holds(conductor).is_none() {
        if begun.elapsed() > START_LIMIT {
            bail!(
                "the time limit of {} s, a guard against a hang, was over before {what}",
                START_LIMIT.as_secs()
            );
        }
        conductor.look_after()?;
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// A key that is sent again is the run that it was.
fn resend(api: &Api, journal: &Journal) -> Result<Vec<Violation>> {
    let some: Vec<_> = journal.lock().submissions.iter().rev().take(RESENT).cloned().collect();
    let mut violations = Vec::new();
    for submission in some {
        let answer = api.until_answered(0, &load::submission(submission.job, &submission.key))?;
        if answer.json()["id"] != submission.run.as_str() {
            let detail =
                format!("{} was {}, and is answered {}", submission.key, submission.run, answer.body);
            violations.push(Violation::new("a key makes another run", detail));
        }
    }
    Ok(violations)
}

fn judge(
    api: &Api,
    conductor: &mut Conductor<'_>,
    evidence: &Evidence,
    mut violations: Vec<Violation>,
) -> Result<Report> {
    violations.extend(checks::all(evidence));
    violations.extend(logs::check(api, evidence)?);
    violations.extend(rest::end(conductor));
    let panics = conductor.cluster.panics().into_iter();
    violations.extend(panics.map(|line| Violation::new("a process panicked", line)));
    let own_ends = conductor.cluster.own_ends().into_iter();
    let mut notes: Vec<String> = own_ends
        .map(|(name, count)| format!("{name} ended by itself {count} times and was started again"))
        .collect();
    notes.push(match conductor.cgroups.len() {
        0 => "no process of a node was seen in a cgroup of its own: nothing was checked about cgroups"
            .to_owned(),
        count => format!("{count} branches of cgroups were seen, and looked for at the end"),
    });
    let unknown = api.unknown.load(Ordering::Relaxed);
    notes.push(format!("{unknown} requests without an answer were sent again"));
    let others = evidence.findings.iter().filter(|(check, _)| check != "audit");
    notes.extend(others.map(|(check, message)| format!("doctor, {check}: {message}")));
    let failed =
        evidence.runs.iter().filter(|(_, run)| run.state == "final_failed" && run.job != Some(Job::Once));
    notes.extend(failed.map(|(id, run)| format!("{id} failed for good: {}", run.cause)));
    Ok(Report::new(evidence, &conductor.done, &conductor.idle, notes, violations))
}
