//! Submissions: each acknowledged one is over exactly once, a key makes one run, and what is over stays as it is.

use std::collections::BTreeMap;

use super::Violation;
use crate::evidence::Evidence;

pub(super) fn acknowledged_runs_are_over(evidence: &Evidence) -> Vec<Violation> {
    let submissions = &evidence.acknowledged.submissions;
    let lost = submissions.iter().filter_map(|submission| {
        let of = format!("{} ({}, key {})", submission.run, submission.job.name(), submission.key);
        match evidence.runs.get(&submission.run) {
            None => Some(Violation::new("an acknowledged submission is lost", of)),
            Some(run) if run.ended.is_none() => Some(Violation::new(
                "an acknowledged submission is not over",
                format!("{of} is {}", run.state),
            )),
            Some(_) => None,
        }
    });
    let others = evidence.runs.iter().filter(|(id, run)| {
        run.ended.is_none() && !submissions.iter().any(|submission| submission.run == **id)
    });
    let others = others
        .map(|(id, run)| Violation::new("a run of a trigger is not over", format!("{id} is {}", run.state)));
    lost.chain(others).collect()
}

/// Runs without a trigger are those of submissions, and no others.
pub(super) fn a_key_makes_one_run(evidence: &Evidence) -> Vec<Violation> {
    let mut by_run: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for submission in &evidence.acknowledged.submissions {
        by_run.entry(&submission.run).or_default().push(&submission.key);
    }
    let shared = by_run.iter().filter(|(_, keys)| keys.len() > 1);
    let shared =
        shared.map(|(run, keys)| Violation::new("two keys have one run", format!("{run}: {keys:?}")));
    let submitted = evidence.runs.iter().filter(|(_, run)| run.trigger.is_none());
    let extra = submitted.filter(|(id, _)| !by_run.contains_key(id.as_str()));
    let extra = extra.map(|(id, run)| {
        let job = run.job.map_or("?", |job| job.name());
        Violation::new("a run that no acknowledged submission made", format!("{id} of {job}, {}", run.state))
    });
    shared.chain(extra).collect()
}

pub(super) fn terminal_states_stay(evidence: &Evidence) -> Vec<Violation> {
    let changed = evidence.seen.iter().filter_map(|(id, seen)| {
        let now = evidence.runs.get(id).and_then(|run| run.ended.as_ref());
        (now != Some(seen)).then(|| {
            Violation::new("a terminal state has changed", format!("{id} was {seen:?} and is {now:?}"))
        })
    });
    changed.collect()
}

pub(super) fn nothing_is_refused(evidence: &Evidence) -> Vec<Violation> {
    let refusals = evidence.acknowledged.refusals.iter();
    refusals.map(|refusal| Violation::new("a request was refused", refusal)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, check};
    use super::*;
    use crate::jobs::Job;

    #[test]
    fn lost_unfinished_and_doubled_runs_are_found() {
        check(acknowledged_runs_are_over, &sample::good(), 0);
        check(a_key_makes_one_run, &sample::good(), 0);
        let mut lost = sample::good();
        lost.runs.remove("run1");
        check(acknowledged_runs_are_over, &lost, 1);
        let mut open = sample::good();
        open.runs.insert("run1".into(), sample::run(Job::Quick, "running"));
        check(acknowledged_runs_are_over, &open, 1);
        let mut doubled = sample::good();
        doubled.runs.insert("run9".into(), sample::run(Job::Quick, "success"));
        check(a_key_makes_one_run, &doubled, 1);
    }

    #[test]
    fn a_changed_end_is_found() {
        check(terminal_states_stay, &sample::good(), 0);
        let mut changed = sample::good();
        changed.runs.insert("run1".into(), sample::run(Job::Quick, "final_failed"));
        check(terminal_states_stay, &changed, 1);
    }
}
