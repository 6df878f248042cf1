//! Firings: each planned moment and each end that is followed has one line of the ledger, a fired line has one run, and an
//! acknowledged change of a job counts at once.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use crate::evidence::{Evidence, Run};
use crate::jobs::{Job, TICK_EVERY};
use crate::journal::Put;
use crate::moment::{MicrosSinceEpoch, SECOND};

/// How far the cluster's time may be from this host's: it is the database's, which is here, followed at a distance.
const CLOCK_SLACK: MicrosSinceEpoch = SECOND;
/// After a moment that was decided in time there is another within this time, while the owner is there.
const ATTENDED_WITHIN: MicrosSinceEpoch = 2 * SECOND;

/// Moments of [`Job::Switched`] count only while an owner was there: nobody who was away for all of a trigger's life plans for it.
pub(super) fn every_moment_has_one_line(evidence: &Evidence) -> Vec<Violation> {
    let always = |_| true;
    let mut found = Vec::new();
    for (trigger, seconds) in TICK_EVERY {
        found.extend(moments(evidence, (Job::Tick, trigger, seconds), always));
    }
    found.extend(moments(evidence, (Job::Changing, "seconds", 1), always));
    let attended = attended(evidence);
    found.extend(moments(evidence, (Job::Switched, "seconds", 1), |planned| {
        // The same moment was decided in time, and a later one: an owner may be frozen or killed right before or after a decision.
        attended.contains(&planned)
            && attended.range(planned + 1..=planned + ATTENDED_WITHIN).next().is_some()
    }));
    found
}

/// Moments of triggers that never change which were decided in time: an owner was there.
fn attended(evidence: &Evidence) -> BTreeSet<MicrosSinceEpoch> {
    let lines = TICK_EVERY.iter().flat_map(|(trigger, _)| evidence.ledger(Job::Tick, trigger));
    lines.filter(|line| line.at <= line.planned + CLOCK_SLACK).map(|line| line.planned).collect()
}

/// Times in which a job certainly had its triggers: from an acknowledgement to the next change that takes them away.
fn windows(evidence: &Evidence, job: Job) -> Vec<(MicrosSinceEpoch, MicrosSinceEpoch)> {
    let puts: Vec<&Put> = evidence.acknowledged.puts.iter().filter(|put| put.job == job).collect();
    let mut windows: Vec<(MicrosSinceEpoch, MicrosSinceEpoch)> = Vec::new();
    let mut since = None;
    for put in puts {
        match (since, put.with_triggers) {
            (None, true) => since = Some(put.acknowledged_at),
            (Some(from), false) => {
                windows.push((from, put.asked_at));
                since = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    windows
}

fn moments(
    evidence: &Evidence,
    (job, trigger, seconds): (Job, &str, i64),
    counts: impl Fn(MicrosSinceEpoch) -> bool,
) -> Vec<Violation> {
    let (period, windows) = (seconds * SECOND, windows(evidence, job));
    let mut lines: BTreeMap<MicrosSinceEpoch, usize> = BTreeMap::new();
    for line in evidence.ledger(job, trigger) {
        let mut planned = line.planned;
        while planned <= line.through {
            *lines.entry(planned).or_default() += 1;
            planned += period;
        }
    }
    let twice = lines.iter().filter(|(_, count)| **count > 1).map(|(planned, count)| {
        let detail = format!("{} {trigger}: {count} lines for {}", job.name(), told(*planned));
        Violation::new("a planned moment has two lines", detail)
    });
    let missing = windows.iter().filter_map(|(from, until)| {
        let (from, until) = (from + CLOCK_SLACK, until - CLOCK_SLACK);
        let first = (from + period - 1).div_euclid(period) * period;
        let expected = (0..).map(|number| first + number * period).take_while(|planned| *planned <= until);
        let missing = expected.filter(|planned| counts(*planned) && !lines.contains_key(planned));
        let missing: Vec<String> = missing.map(told).collect();
        (!missing.is_empty()).then(|| {
            let window = format!("put {}, taken away {}", told(from), told(until));
            let detail = format!(
                "{} {trigger}: {} moments ({window}): {}",
                job.name(),
                missing.len(),
                missing.join(" ")
            );
            Violation::new("a planned moment has no line", detail)
        })
    });
    twice.chain(missing).collect()
}

pub(super) fn a_fired_line_has_one_run(evidence: &Evidence) -> Vec<Violation> {
    let mut found = Vec::new();
    for ((job, trigger), lines) in &evidence.ledgers {
        let fired: BTreeSet<&String> = lines
            .iter()
            .filter(|line| line.outcome == "fired")
            .filter_map(|line| line.run.as_ref())
            .collect();
        let count = lines.iter().filter(|line| line.outcome == "fired").count();
        if fired.len() != count {
            let detail = format!("{} {trigger}: {count} fired lines, {} runs", job.name(), fired.len());
            found.push(Violation::new("two fired lines share a run", detail));
        }
        let made = evidence.runs_of(*job).filter(|(_, run)| run.trigger.as_ref() == Some(trigger));
        for (id, run) in made.filter(|(id, _)| !fired.contains(id)) {
            let at = run.logical_time.map_or_else(String::new, told);
            found.push(Violation::new(
                "a firing has no line",
                format!("{} {trigger}: {id} of {at}", job.name()),
            ));
        }
        for id in fired.iter().filter(|id| !evidence.runs.contains_key(**id)) {
            found.push(Violation::new("a fired line has no run", format!("{} {trigger}: {id}", job.name())));
        }
    }
    found
}

/// As many lines as ends that count: `any` is success and failure, not a cancellation.
pub(super) fn every_end_is_followed(evidence: &Evidence) -> Vec<Violation> {
    let lines = evidence.ledger(Job::Follow, "lead");
    let ends: Vec<(&String, &Run)> = evidence
        .runs_of(Job::Lead)
        .filter(|(_, run)| matches!(run.state.as_str(), "success" | "final_failed"))
        .collect();
    if lines.len() == ends.len() {
        return Vec::new();
    }
    let planned: BTreeSet<MicrosSinceEpoch> = lines.iter().map(|line| line.planned).collect();
    let lost = ends.iter().filter(|(_, run)| run.finished_at.is_none_or(|at| !planned.contains(&at)));
    let lost: Vec<String> =
        lost.map(|(id, run)| format!("{id} ended {}", told(run.finished_at.unwrap_or(0)))).collect();
    let detail = format!(
        "{} ends, {} lines; without a line of their moment: {}",
        ends.len(),
        lines.len(),
        lost.join(", ")
    );
    vec![Violation::new("an end that `after` follows has not one line", detail)]
}

pub(super) fn a_change_counts_at_once(evidence: &Evidence) -> Vec<Violation> {
    let puts: Vec<&Put> = evidence.acknowledged.puts.iter().filter(|put| put.job == Job::Changing).collect();
    let old = evidence.runs_of(Job::Changing).filter_map(|(id, run)| {
        let before = puts.iter().filter(|put| put.acknowledged_at + CLOCK_SLACK < run.created_at);
        let newest = before.max_by_key(|put| put.version)?;
        (run.version < newest.version).then(|| {
            let late = (run.created_at - newest.acknowledged_at) / 1_000;
            let made = run.trigger.as_deref().unwrap_or("a submission");
            let detail = format!(
                "{id} by {made} has version {}, {late} ms after version {} was acknowledged by server{}",
                run.version, newest.version, newest.server
            );
            Violation::new("a run used an old version", detail)
        })
    });
    old.collect()
}

pub(super) fn a_removed_trigger_is_silent(evidence: &Evidence) -> Vec<Violation> {
    let mut found = Vec::new();
    for job in [Job::Switched, Job::Changing, Job::Tick] {
        let puts: Vec<&Put> = evidence.acknowledged.puts.iter().filter(|put| put.job == job).collect();
        for (at, removed) in puts.iter().enumerate().filter(|(_, put)| !put.with_triggers) {
            let until = puts[at..].iter().find(|put| put.with_triggers).map_or(i64::MAX, |put| put.asked_at);
            let fired = evidence.runs_of(job).filter(|(_, run)| {
                run.trigger.is_some()
                    && run.created_at > removed.acknowledged_at + CLOCK_SLACK
                    && run.created_at < until
            });
            found.extend(fired.map(|(id, run)| {
                let late = (run.created_at - removed.acknowledged_at) / 1_000;
                let detail = format!(
                    "{id} of {}, {late} ms after server{} had acknowledged its end",
                    job.name(),
                    removed.server
                );
                Violation::new("a removed trigger fired", detail)
            }));
        }
    }
    found
}

/// A moment as seconds since 1970, as short as what it is compared with in logs.
fn told(at: MicrosSinceEpoch) -> String {
    format!("{}.{:03}", at.div_euclid(SECOND), at.rem_euclid(SECOND) / 1_000)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, check, line, put};
    use super::*;

    const TRIGGER: &str = "seconds";

    fn firing(evidence: &mut Evidence, second: i64) {
        let id = format!("fired{second}");
        let mut run = sample::run(Job::Switched, "success");
        run.created_at = second * SECOND;
        run.trigger = Some(TRIGGER.to_owned());
        evidence.runs.insert(id.clone(), run);
        let lines = evidence.ledgers.entry((Job::Switched, TRIGGER.to_owned())).or_default();
        lines.push(line(second * SECOND, Some(&id)));
    }

    /// Triggers from second 10 to second 20.
    fn switched() -> Evidence {
        let mut evidence = sample::good();
        evidence.acknowledged.puts = vec![put(Job::Switched, 1, true, 10), put(Job::Switched, 2, false, 20)];
        (10..=20).for_each(|second| firing(&mut evidence, second));
        let ticks = (5..15).map(|number| line(2 * number * SECOND, None)).collect();
        evidence.ledgers.insert((Job::Tick, "interval".to_owned()), ticks);
        evidence
    }

    #[test]
    fn missing_and_doubled_moments_are_found() {
        check(every_moment_has_one_line, &switched(), 0);
        let ledger = (Job::Switched, TRIGGER.to_owned());
        let mut missing = switched();
        missing.ledgers.get_mut(&ledger).unwrap().retain(|line| line.planned != 16 * SECOND);
        check(every_moment_has_one_line, &missing, 1);
        let ticks = (Job::Tick, "interval".to_owned());
        // The owner was killed after second 14.
        missing.ledgers.get_mut(&ticks).unwrap().retain(|line| line.planned < 15 * SECOND);
        check(every_moment_has_one_line, &missing, 0);
        missing.ledgers.remove(&ticks);
        check(every_moment_has_one_line, &missing, 0);
        let mut doubled = switched();
        let again = doubled.ledgers[&ledger][3].clone();
        doubled.ledgers.get_mut(&ledger).unwrap().push(again);
        check(every_moment_has_one_line, &doubled, 1);
        check(a_fired_line_has_one_run, &doubled, 1);
        let mut several = switched();
        let lines = several.ledgers.get_mut(&ledger).unwrap();
        lines.retain(|line| line.planned < 14 * SECOND || line.planned > 17 * SECOND);
        lines.push(crate::evidence::Line { through: 17 * SECOND, ..line(14 * SECOND, None) });
        check(every_moment_has_one_line, &several, 0);
    }

    #[test]
    fn runs_and_lines_belong_together() {
        check(a_fired_line_has_one_run, &switched(), 0);
        let mut without_line = switched();
        without_line.ledgers.get_mut(&(Job::Switched, TRIGGER.to_owned())).unwrap().remove(0);
        check(a_fired_line_has_one_run, &without_line, 1);
        let mut without_run = switched();
        without_run.runs.remove("fired12");
        check(a_fired_line_has_one_run, &without_run, 1);
    }

    #[test]
    fn a_firing_after_the_end_of_its_trigger_is_found() {
        check(a_removed_trigger_is_silent, &switched(), 0);
        let mut late = switched();
        firing(&mut late, 23);
        check(a_removed_trigger_is_silent, &late, 1);
    }

    #[test]
    fn an_old_version_is_found() {
        let mut evidence = sample::good();
        evidence.acknowledged.puts = vec![put(Job::Changing, 1, true, 10), put(Job::Changing, 2, true, 20)];
        let mut run = sample::run(Job::Changing, "success");
        run.created_at = 25 * SECOND;
        run.version = 2;
        evidence.runs.insert("new".into(), run.clone());
        check(a_change_counts_at_once, &evidence, 0);
        run.version = 1;
        evidence.runs.insert("old".into(), run);
        check(a_change_counts_at_once, &evidence, 1);
    }

    #[test]
    fn an_end_without_a_line_is_found() {
        let mut evidence = sample::good();
        let cancelled = sample::run(Job::Lead, "cancelled");
        evidence.runs.insert("cancelled".into(), cancelled);
        check(every_end_is_followed, &evidence, 0);
        let mut lead = sample::run(Job::Lead, "success");
        lead.finished_at = Some(40 * SECOND);
        evidence.runs.insert("lead".into(), lead);
        check(every_end_is_followed, &evidence, 1);
        evidence.ledgers.insert((Job::Follow, "lead".into()), vec![line(40 * SECOND, Some("run1"))]);
        check(every_end_is_followed, &evidence, 0);
    }
}
