//! One answer of several: what each owner knows better takes the place of what is known here. Pure.
//!
//! All of them were asked the same and read the same rows, so they differ only in what is in an owner's memory. What nobody
//! answered for stays as it is known here.

use mainspring_app::UNASKED;
use mainspring_wire::api::{Doctor, Finding, Page, Pool, Queue, Severity};
use serde_json::Value;

use super::under_way::Subjects;

/// Puts the answers of owners into ours.
pub(super) fn merge(path: &str, ours: Value, owners: &[(Subjects, Value)]) -> Value {
    match path {
        "/v1/doctor" => doctor(ours, owners),
        "/v1/pools" => pools(ours, owners),
        "/v1/queue" => queue(ours, owners),
        "/v1/jobs" => jobs(ours, owners),
        _ => lists(ours, owners),
    }
}

/// Runs, nodes and cells, each as who owns it has it.
fn lists(mut ours: Value, owners: &[(Subjects, Value)]) -> Value {
    for list in ["items", "cells"] {
        let Some(items) = ours.get_mut(list).and_then(Value::as_array_mut) else { continue };
        for item in items {
            let better = owners.iter().find(|(subjects, _)| subjects.has(item)).and_then(|(_, answer)| {
                answer.get(list)?.as_array()?.iter().find(|theirs| is_same(theirs, item))
            });
            if let Some(better) = better {
                *item = better.clone();
            }
        }
    }
    ours
}

impl Subjects {
    fn has(&self, item: &Value) -> bool {
        let run = item["id"].as_str().and_then(|id| id.parse().ok());
        let cell = item["cell"].as_u64().and_then(|cell| u16::try_from(cell).ok());
        run.is_some_and(|run| self.runs.contains(&run))
            || cell.is_some_and(|cell| self.cells.iter().any(|known| known.0 == cell))
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    if one["id"].is_null() { one["cell"] == other["cell"] } else { one["id"] == other["id"] }
}

/// Each counts what is used in its own cells.
fn pools(ours: Value, owners: &[(Subjects, Value)]) -> Value {
    let Ok(mut whole) = serde_json::from_value::<Page<Pool>>(ours.clone()) else { return ours };
    for (_, answer) in owners {
        let Ok(theirs) = serde_json::from_value::<Page<Pool>>(answer.clone()) else { continue };
        for pool in &mut whole.items {
            let Some(theirs) = theirs.items.iter().find(|theirs| theirs.name == pool.name) else { continue };
            pool.running += theirs.running;
            pool.cpu_used_milli += theirs.cpu_used_milli;
            pool.memory_used_bytes += theirs.memory_used_bytes;
            if let Some(sum) = pool.reserved.checked_add(&theirs.reserved) {
                pool.reserved = sum;
            }
        }
    }
    serde_json::to_value(whole).unwrap_or(ours)
}

/// Each knows what waits in its own cells. It is whole when every cell was looked at by its owner.
fn queue(ours: Value, owners: &[(Subjects, Value)]) -> Value {
    let Ok(mut whole) = serde_json::from_value::<Queue>(ours.clone()) else { return ours };
    for (_, answer) in owners {
        if let Ok(theirs) = serde_json::from_value(answer.clone()) {
            whole.add(theirs);
        }
    }
    serde_json::to_value(whole).unwrap_or(ours)
}

/// What is under way of a job in the cells of each is added up; its triggers are in one of them.
fn jobs(mut ours: Value, owners: &[(Subjects, Value)]) -> Value {
    for job in ours["items"].as_array_mut().into_iter().flatten() {
        let id = job["id"].clone();
        let Some(health) = job.get_mut("health").and_then(Value::as_object_mut) else { continue };
        let theirs = owners.iter().filter_map(|(_, answer)| {
            answer["items"].as_array()?.iter().find(|theirs| theirs["id"] == id)?["health"].as_object()
        });
        for theirs in theirs {
            for (name, value) in theirs {
                match health.get_mut(name) {
                    None => drop(health.insert(name.clone(), value.clone())),
                    Some(known) if name == "active" => add_active(known, value),
                    Some(_) => {}
                }
            }
        }
    }
    ours
}

fn add_active(known: &mut Value, more: &Value) {
    for count in ["running", "waiting"] {
        known[count] =
            (known[count].as_u64().unwrap_or_default() + more[count].as_u64().unwrap_or_default()).into();
    }
    known["at_least"] = (known["at_least"] == true || more["at_least"] == true).into();
}

/// What anybody found; but of cells that were not asked, those that nobody asked.
fn doctor(ours: Value, owners: &[(Subjects, Value)]) -> Value {
    let Ok(mut whole) = serde_json::from_value::<Doctor>(ours.clone()) else { return ours };
    for (_, answer) in owners {
        let Ok(Doctor { findings, .. }) = serde_json::from_value(answer.clone()) else { continue };
        whole.findings.retain(|known| known.check != UNASKED || findings.contains(known));
        for finding in findings.into_iter().filter(|finding| finding.check != UNASKED) {
            add(&mut whole.findings, finding);
        }
    }
    whole.findings.sort_by_key(|finding| finding.severity);
    whole.healthy = whole.findings.iter().all(|finding| finding.severity == Severity::Note);
    serde_json::to_value(whole).unwrap_or(ours)
}

fn add(known: &mut Vec<Finding>, finding: Finding) {
    let same = known.iter_mut().find(|one| (&one.check, &one.message) == (&finding.check, &finding.message));
    match same {
        Some(same) => same.severity = same.severity.min(finding.severity),
        None => known.push(finding),
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::{CellId, JobId, RunId, Timestamp};
    use serde_json::json;

    use super::*;

    #[test]
    fn each_owner_speaks_for_what_is_its_own() {
        let (mine, theirs) = (RunId::new(Timestamp::ZERO, 1), RunId::new(Timestamp::ZERO, 2));
        let page =
            |one: &str, two: &str| json!({"items": [{"id": mine, "v": one}, {"id": theirs, "v": two}]});
        let owners = [(Subjects::runs(&[theirs]), page("stale", "live"))];
        assert_eq!(merge("/v1/runs", page("live", "stale"), &owners), page("live", "live"));
        let cells = |one: u32, two: u32| json!({"cells": [{"cell": 0, "v": one}, {"cell": 1, "v": two}]});
        let owners = [(Subjects::cell(CellId(1)), cells(8, 2))];
        assert_eq!(merge("/v1/cluster", cells(1, 9), &owners), cells(1, 2));
        let pools = |running: u32| {
            let reserved = json!({"cpu": running.to_string(), "memory": format!("{running}Gi")});
            json!({"items": [{
                "name": "default", "nodes": {"up": 3}, "slots": 9, "capacity": {}, "running": running,
                "reserved": reserved, "cpu_used_milli": 10 * running, "memory_used_bytes": 100 * running,
            }]})
        };
        let whole = |page: Value| serde_json::from_value::<Page<Pool>>(page).expect("pools");
        let owners = [(Subjects::default(), pools(2)), (Subjects::default(), pools(3))];
        assert_eq!(whole(merge("/v1/pools", pools(1), &owners)), whole(pools(6)));
    }

    #[test]
    fn queues_are_added_up_and_whole_when_each_cell_was_looked_at() {
        let item = |first: u128, count: u32| {
            json!({"job": JobId::MIN, "job_name": "etl", "namespace": "acme", "pool": "default", "count": count,
            "oldest": "2026-01-01T00:00:00.000000Z", "first": RunId::new(Timestamp::ZERO, first),
            "reason": {"kind": "no_node", "message": "", "remedy": ""}})
        };
        let queue = |waiting: u32, items: &[Value], unanswered: &[u16]| {
            let mut queue = json!({"at": "2026-01-01T00:00:00.000000Z", "waiting": waiting, "items": items, "partial": false});
            if !unanswered.is_empty() {
                queue["unanswered"] = json!(unanswered);
            }
            queue
        };
        let ours = queue(2, &[item(1, 2)], &[1, 2]);
        let owners = [(Subjects::cell(CellId(1)), queue(3, &[item(2, 3)], &[0, 2]))];
        assert_eq!(merge("/v1/queue", ours.clone(), &owners), queue(5, &[item(1, 5)], &[2]));
        assert_eq!(merge("/v1/queue", ours.clone(), &[]), ours);
    }

    #[test]
    fn what_is_under_way_of_a_job_is_added_up() {
        let job = |health: Value| json!({"items": [{"id": "j", "health": health}, {"id": "k"}]});
        let active = |running: u64, waiting: u64, at_least: bool| json!({"running": running, "waiting": waiting, "at_least": at_least});
        let check = |ours: Value, theirs: &[Value], expected: Value| {
            let owners: Vec<_> = theirs.iter().map(|one| (Subjects::default(), job(one.clone()))).collect();
            assert_eq!(merge("/v1/jobs", job(ours), &owners), job(expected));
        };
        let next = json!({"trigger": "nightly"});
        check(json!({"ends": []}), &[], json!({"ends": []}));
        check(
            json!({"ends": [1], "active": active(1, 0, false)}),
            &[json!({"ends": [2], "active": active(2, 5, true), "next": next})],
            json!({"ends": [1], "active": active(3, 5, true), "next": next}),
        );
        check(
            json!({}),
            &[json!({"triggers": 2, "active": active(0, 0, false)})],
            json!({"triggers": 2, "active": active(0, 0, false)}),
        );
    }

    #[test]
    fn the_doctor_is_not_content_with_cells_that_nobody_asked() {
        let finding = |check: &str, message: &str, severity: &str| json!({"check": check, "message": message, "severity": severity, "remedy": ""});
        let doctor = |findings: Value| json!({"at": "2026-01-01T00:00:00.000000Z", "healthy": true, "findings": findings, "checked": []});
        let unasked = |cell: u16| finding(UNASKED, &format!("cell {cell}"), "warning");
        let note = finding("jobs", "many", "note");
        let check = |owners: &[Value], expected: Value, healthy: bool| {
            let owners: Vec<_> =
                owners.iter().map(|one| (Subjects::default(), doctor(one.clone()))).collect();
            let ours = doctor(json!([unasked(0), unasked(1), note]));
            let merged = merge("/v1/doctor", ours, &owners);
            assert_eq!((&merged["findings"], &merged["healthy"]), (&expected, &json!(healthy)));
        };
        let (one, other) = (json!([unasked(1), note]), json!([unasked(0), note]));
        check(&[], json!([unasked(0), unasked(1), note]), false);
        check(std::slice::from_ref(&one), json!([unasked(1), note]), false);
        check(&[one, other.clone()], json!([note]), true);
        let stuck = finding("waiting", "1 run waits", "warning");
        check(&[json!([unasked(1), stuck]), other], json!([stuck, note]), false);
    }
}
