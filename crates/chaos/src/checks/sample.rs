//! Evidence that shows no violation, for tests that add one.

use super::Violation;
use crate::evidence::{Evidence, Line, Run};
use crate::jobs::Job;
use crate::journal::{Put, Submission};
use crate::moment::SECOND;
use crate::observer::Ended;
use crate::witness::{Event, Executions};

/// One run that was submitted, executed, seen and recorded.
pub(super) fn good() -> Evidence {
    let mut evidence = Evidence::default();
    let submission = Submission { key: "key1".into(), job: Job::Quick, run: "run1".into(), asked_at: 5 };
    evidence.acknowledged.submissions.push(submission);
    let run = run(Job::Quick, "success");
    evidence.seen.extend(run.ended.clone().map(|ended| ("run1".to_owned(), ended)));
    evidence.runs.insert("run1".into(), run);
    let events = vec![Event::Start { attempt: 1, at: 10 }, Event::End { at: 20 }];
    evidence.witness.runs.insert("run1".into(), Executions { events, ..Executions::default() });
    evidence.audit.push(("run.submit".into(), "run1".into()));
    evidence
}

pub(super) fn run(job: Job, state: &str) -> Run {
    let ended = (state != "running").then(|| Ended {
        state: state.into(),
        attempt: 1,
        finished_at: "1970-01-01T00:00:00Z".into(),
    });
    Run {
        job: Some(job),
        version: 1,
        state: state.into(),
        attempt: 1,
        ended,
        created_at: 5,
        finished_at: Some(20),
        logical_time: None,
        trigger: None,
        maybe_doubled: false,
        cause: String::new(),
    }
}

pub(super) fn line(planned: i64, run: Option<&str>) -> Line {
    let outcome = if run.is_some() { "fired" } else { "missed" };
    Line { planned, through: planned, outcome: outcome.into(), run: run.map(str::to_owned), at: planned }
}

pub(super) fn put(job: Job, version: u64, with_triggers: bool, second: i64) -> Put {
    let (asked_at, acknowledged_at) = (second * SECOND, second * SECOND);
    Put { job, version, with_triggers, is_pause: false, server: 0, asked_at, acknowledged_at }
}

/// How many violations a check finds.
pub(super) fn check(check: fn(&Evidence) -> Vec<Violation>, evidence: &Evidence, expected: usize) {
    let found = check(evidence);
    assert_eq!(found.len(), expected, "{found:?}");
}
