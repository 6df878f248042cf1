//! Executions, as tasks witnessed them: no two attempts of a run at once, at most one where that was promised, and no success
//! that nobody executed.

use super::Violation;
use crate::evidence::Evidence;
use crate::jobs::Job;
use crate::witness::Event;

/// A run that is flagged as possibly doubled says so aloud.
pub(super) fn attempts_do_not_overlap(evidence: &Evidence) -> Vec<Violation> {
    let flagged = |id: &str| evidence.runs.get(id).is_some_and(|run| run.maybe_doubled);
    let mut found = Vec::new();
    for (id, executions) in evidence.witness.runs.iter().filter(|(id, _)| !flagged(id)) {
        for (attempt, other) in &executions.overlaps {
            let detail = format!("{id}: attempt {attempt} began while attempt {other} lived");
            found.push(Violation::new("two attempts at once", detail));
        }
        let mut starts: Vec<u32> = executions.starts().collect();
        starts.sort_unstable();
        if starts.windows(2).any(|pair| pair[0] == pair[1]) {
            found.push(Violation::new(
                "an attempt was executed twice",
                format!("{id}: {:?}", executions.events),
            ));
        }
        for line in &executions.unread {
            found.push(Violation::new("a witness line cannot be read", format!("{id}: {line}")));
        }
    }
    found
}

pub(super) fn at_most_once_is_once(evidence: &Evidence) -> Vec<Violation> {
    let executed =
        |id: &String| evidence.witness.runs.get(id).map_or(0, |executions| executions.starts().count());
    let more = evidence.runs_of(Job::Once).filter(|(id, _)| executed(id) > 1);
    more.map(|(id, _)| {
        Violation::new("at most once was executed again", format!("{id}: {} executions", executed(id)))
    })
    .collect()
}

/// Every success has a last execution that was whole.
pub(super) fn successes_were_executed(evidence: &Evidence) -> Vec<Violation> {
    let successes = evidence.runs.iter().filter(|(_, run)| run.state == "success");
    let unfounded = successes.filter(|(id, run)| {
        let executions = evidence.witness.runs.get(*id);
        let last = executions.and_then(|executions| executions.starts().last());
        let whole = executions.is_some_and(|all| matches!(all.events.last(), Some(Event::End { .. })));
        last.map(u64::from) != Some(run.attempt) || !whole
    });
    unfounded
        .map(|(id, run)| {
            let witnessed = evidence.witness.runs.get(id).map(|executions| &executions.events);
            Violation::new(
                "a success that its witness does not show",
                format!("{id}, attempt {}: {witnessed:?}", run.attempt),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, check};
    use super::*;

    fn executions(evidence: &mut Evidence, id: &str) -> Vec<Event> {
        let executions = evidence.witness.runs.get_mut(id).unwrap();
        let again = Event::Start { attempt: 2, at: 30 };
        executions.events.push(again);
        executions.events.clone()
    }

    #[test]
    fn overlaps_and_repeated_attempts_are_found() {
        check(attempts_do_not_overlap, &sample::good(), 0);
        let mut overlap = sample::good();
        overlap.witness.runs.get_mut("run1").unwrap().overlaps.push((2, 1));
        check(attempts_do_not_overlap, &overlap, 1);
        overlap.runs.get_mut("run1").unwrap().maybe_doubled = true;
        check(attempts_do_not_overlap, &overlap, 0);
        let mut twice = sample::good();
        let first = twice.witness.runs["run1"].events[0];
        twice.witness.runs.get_mut("run1").unwrap().events.push(first);
        check(attempts_do_not_overlap, &twice, 1);
    }

    #[test]
    fn a_second_execution_of_once_is_found() {
        let mut once = sample::good();
        once.runs.get_mut("run1").unwrap().job = Some(Job::Once);
        check(at_most_once_is_once, &once, 0);
        executions(&mut once, "run1");
        check(at_most_once_is_once, &once, 1);
    }

    #[test]
    fn a_success_without_an_execution_is_found() {
        check(successes_were_executed, &sample::good(), 0);
        let mut half = sample::good();
        executions(&mut half, "run1");
        check(successes_were_executed, &half, 1);
        let mut none = sample::good();
        none.witness.runs.clear();
        check(successes_were_executed, &none, 1);
    }
}
