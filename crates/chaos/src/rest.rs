//! The end of a run: faults are over, the load stops, every run comes to an end, and then nothing of the cluster is left.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;

use crate::api::Api;
use crate::checks::Violation;
use crate::cluster::{Unit, name, units};
use crate::conductor::Conductor;
use crate::plan::AGENTS;
use crate::procfs;

/// Runs are stuck when none of them has ended or moved on for this long, with nothing broken.
const STUCK_AFTER: Duration = Duration::from_secs(180);
/// Nothing may fire or be retried any more for this long.
const QUIET_FOR: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Guards against a hang at the end.
const END_LIMIT: Duration = Duration::from_secs(60);
const LEFT_LIMIT: Duration = Duration::from_secs(60);
const STUCK_SHOWN: usize = 20;

/// Waits until no run is active. Tells those that are stuck.
pub(crate) fn until_quiet(api: &Api, conductor: &mut Conductor<'_>) -> Result<Vec<Violation>> {
    let mut last = (Vec::new(), Instant::now());
    loop {
        conductor.look_after()?;
        let active: Vec<String> = api.list("/v1/runs?q=state:active")?.iter().map(brief).collect();
        if active != last.0 {
            last = (active, Instant::now());
        } else if active.is_empty() && last.1.elapsed() > QUIET_FOR {
            return Ok(Vec::new());
        } else if last.1.elapsed() > STUCK_AFTER {
            return stuck(api, &last.0);
        }
        thread::sleep(LOOK_EVERY);
    }
}

fn brief(run: &Value) -> String {
    format!(
        "{} {} attempt {}",
        run["id"].as_str().unwrap_or("?"),
        run["state"].as_str().unwrap_or("?"),
        run["attempt"]
    )
}

fn stuck(api: &Api, active: &[String]) -> Result<Vec<Violation>> {
    let shown = active.iter().take(STUCK_SHOWN).map(|brief| {
        let id = brief.split(' ').next().unwrap_or_default();
        let why = api.get(&format!("/v1/runs/{id}/why")).unwrap_or_default();
        let detail = format!("{brief}, nothing changed for {} s: {why}", STUCK_AFTER.as_secs());
        Violation::new("a run is stuck", detail)
    });
    Ok(shown.collect())
}

/// Ends the cluster in order and looks for what it leaves behind.
pub(crate) fn end(conductor: &mut Conductor<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let agents = units().filter(|unit| matches!(unit, Unit::Agent(_)));
    let servers = units().filter(|unit| matches!(unit, Unit::Server(_)));
    for unit in agents.chain(servers) {
        if !conductor.cluster.end(unit, END_LIMIT) {
            let detail = format!("{} did not end within {} s", name(unit), END_LIMIT.as_secs());
            violations.push(Violation::new("a process does not end when asked", detail));
        }
    }
    violations.extend(left_processes(conductor));
    let left = conductor.cgroups.iter().flat_map(|branch| procfs::existing_cgroups(branch));
    violations.extend(left.map(|path| Violation::new("a cgroup is left", path.display().to_string())));
    violations
}

fn left_processes(conductor: &Conductor<'_>) -> Vec<Violation> {
    let begun = Instant::now();
    loop {
        let data = (0..AGENTS).map(|index| conductor.cluster.data(Unit::Agent(index)));
        let left: Vec<_> = data.flat_map(|data| procfs::all_of(&data)).collect();
        if left.is_empty() {
            return Vec::new();
        }
        if begun.elapsed() > LEFT_LIMIT {
            return left
                .into_iter()
                .map(|pid| Violation::new("a process is left", procfs::describe(pid)))
                .collect();
        }
        thread::sleep(LOOK_EVERY);
    }
}
