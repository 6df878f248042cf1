//! Logs: the output of every successful attempt is complete and in order, each line once.
//!
//! Output reaches the servers after the end of its run, so a log that is not whole is read again for a while.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::api::Api;
use crate::checks::Violation;
use crate::evidence::Evidence;
use crate::http::Request;

/// How long a log may take to arrive when nothing is broken any more: far longer than the usual second.
const ARRIVAL_LIMIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Reads the log of every success, and tells those that are not whole.
pub(crate) fn check(api: &Api, evidence: &Evidence) -> Result<Vec<Violation>> {
    let deadline = Instant::now() + ARRIVAL_LIMIT;
    let mut violations = Vec::new();
    for (id, run) in evidence.runs.iter().filter(|(_, run)| run.state == "success") {
        let Some(job) = run.job else { continue };
        loop {
            let Some(fault) = fault(&text_of(api, id, run.attempt)?, job.lines()) else { break };
            if Instant::now() > deadline {
                let detail = format!("{id} of {}, attempt {}: {fault}", job.name(), run.attempt);
                violations.push(Violation::new("the log of a success is not whole", detail));
                break;
            }
            thread::sleep(LOOK_EVERY);
        }
    }
    Ok(violations)
}

fn text_of(api: &Api, run: &str, attempt: u64) -> Result<String> {
    let path = format!("/v1/runs/{run}/logs?attempt={attempt}&stream=stdout");
    Ok(api.read(&Request::get(path).header("Accept", "text/plain"))?.body)
}

/// What is wrong with a log that has so many numbered lines.
fn fault(text: &str, lines: usize) -> Option<String> {
    let number = |line: &str| line.strip_prefix("line ")?.split(' ').next()?.parse::<usize>().ok();
    let mut next = 1;
    for line in text.lines() {
        match number(line) {
            Some(found) if found == next => next += 1,
            Some(found) => return Some(format!("line {found} comes where line {next} of {lines} should be")),
            None => {
                return Some(format!(
                    "a line that was not written comes where line {next} should be: {line:?}"
                ));
            }
        }
    }
    (next != lines + 1).then(|| format!("it ends after line {} of {lines}, {} bytes", next - 1, text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_repetitions_and_early_ends_are_found() {
        let check =
            |text: &str, good| assert_eq!(fault(text, 3).is_none(), good, "{text}: {:?}", fault(text, 3));
        check("line 1\nline 2 xxx\nline 3\n", true);
        check("line 1\nline 3\n", false);
        check("line 1\nline 2\nline 2\nline 3\n", false);
        check("line 1\nline 2\n", false);
        check("line 1\nline 2\nline 3\nline 4\n", false);
        check("line 1\nli", false);
        check("", false);
    }
}
