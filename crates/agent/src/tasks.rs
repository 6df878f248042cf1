//! What the sidecar's events mean to the rules of a node.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use mainspring_model::{AttemptToken, Cause, NodeId, TimeoutKind, Usage, limits};
use mainspring_sidecar::AttemptKey;
use mainspring_sidecar::protocol::{End, Finished, Output, Refusal, Standing, StopCause};
use rustc_hash::FxHashMap;

use crate::core::{KnownStage, KnownTask, TaskEnd};

/// The sidecar's journal as it is read after connecting: complete when the end of every attempt that is over was told.
#[derive(Debug, Default)]
pub(crate) struct Roll {
    listed: Option<Vec<mainspring_sidecar::protocol::Listed>>,
    finished: FxHashMap<AttemptKey, Box<Finished>>,
}

/// The sidecar's journal, read.
pub(crate) struct Known {
    /// Attempts that execute or ended.
    pub(crate) tasks: Vec<KnownTask>,
    /// How far their logs go, and whether that is the end.
    pub(crate) logs: Vec<(AttemptToken, u64, bool)>,
    /// Directories without an attempt.
    pub(crate) leftovers: Vec<AttemptKey>,
}

impl Roll {
    pub(crate) fn listed(&mut self, listed: Vec<mainspring_sidecar::protocol::Listed>) {
        self.listed = Some(listed);
    }

    pub(crate) fn finished(&mut self, finished: Box<Finished>) {
        self.finished.insert(finished.key, finished);
    }

    /// The journal, if all of it was told.
    pub(crate) fn complete(
        &mut self,
        node: NodeId,
        publishes: impl Fn(&AttemptKey) -> bool,
    ) -> Option<Known> {
        let listed = self.listed.as_ref()?;
        let over = |standing: &Standing| matches!(standing, Standing::Finished);
        if listed.iter().any(|listed| over(&listed.standing) && !self.finished.contains_key(&listed.key)) {
            return None;
        }
        let mut known = Known { tasks: Vec::new(), logs: Vec::new(), leftovers: Vec::new() };
        for listed in self.listed.take()? {
            let Standing::Running { started_at_us, deadline_us, log_end, .. } = listed.standing else {
                if listed.standing == Standing::Retained {
                    known.leftovers.push(listed.key);
                }
                continue;
            };
            if self.finished.contains_key(&listed.key) {
                continue; // It ended after it was listed.
            }
            let token = AttemptToken::from(listed.key);
            known.logs.push((token, log_end, false));
            known.tasks.push(KnownTask {
                token,
                stage: KnownStage::Executing(span(started_at_us, wall_us())),
                keep: deadline_us.is_none(),
                publishes: publishes(&listed.key),
            });
        }
        for (key, finished) in self.finished.drain() {
            let stage = KnownStage::Over(end_of(&finished, node));
            known.tasks.push(KnownTask { token: key.into(), stage, keep: false, publishes: publishes(&key) });
            known.logs.push((key.into(), finished.log_end, true));
        }
        Some(known)
    }
}

/// How the sidecar saw an attempt end.
pub(crate) fn end_of(finished: &Finished, node: NodeId) -> TaskEnd {
    let mut cause = match (&finished.end, finished.stopped_by) {
        (End::NotExecuted(message), _) => Cause::StartFailed { message: message.as_str().into() },
        (End::Exited(0), _) => Cause::Exit { code: 0 },
        (_, Some(StopCause::LeaseOver | StopCause::Shutdown)) => Cause::Lost { node },
        (_, Some(StopCause::Timeout)) => Cause::Timeout { limit: TimeoutKind::Run },
        (_, _) if finished.oom => Cause::Oom,
        (End::Exited(code), _) => Cause::Exit { code: *code },
        (End::Signalled(signal), _) => Cause::Signal { signal: *signal },
        (End::Lost, _) => Cause::Vanished { node },
    };
    if cause.is_success()
        && let Some((class, message)) = bad_result(finished)
    {
        cause = Cause::Error { class: class.into(), message: message.into() };
    }
    let executed = !matches!(finished.end, End::NotExecuted(_));
    TaskEnd {
        cause,
        stopped: matches!(
            finished.stopped_by,
            Some(StopCause::Requested | StopCause::LeaseOver | StopCause::Shutdown)
        ),
        begun_ago: executed.then(|| span(finished.started_at_us, wall_us())),
        result: finished.result.clone().filter(|result| check_json(result).is_ok()),
        usage: Usage {
            cpu_us: finished.cpu_user_us.saturating_add(finished.cpu_system_us),
            memory_peak_bytes: finished.memory_peak_bytes,
            silent: finished.log_end == 0,
        },
    }
}

/// What follows from an order that the sidecar did not take.
pub(crate) fn refused(refusal: Refusal, message: String, node: NodeId) -> TaskEnd {
    let message = message.into_boxed_str();
    let cause = match refusal {
        Refusal::Late | Refusal::NoRoom | Refusal::ShuttingDown => Cause::Refused { message },
        Refusal::Invalid | Refusal::CannotExecute => Cause::StartFailed { message },
        Refusal::AlreadyOver => Cause::Vanished { node },
    };
    // What is over already may have said something.
    let usage = Usage { silent: refusal != Refusal::AlreadyOver, ..Usage::default() };
    TaskEnd { cause, stopped: false, begun_ago: None, result: None, usage }
}

/// Reads a line of a progress file: a JSON object with `fraction` and `message`, or a fraction and words, or words alone. How
/// far in thousandths, if it says so, and the words.
pub(crate) fn progress(line: &str) -> (Option<u16>, Box<str>) {
    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct Line {
        fraction: Option<f64>,
        message: String,
    }
    let line = line.trim();
    let told = match serde_json::from_str::<Line>(line) {
        Ok(told) if line.starts_with('{') => told,
        _ => {
            let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            match fraction(first) {
                Some(fraction) => Line { fraction: Some(fraction), message: rest.trim().to_owned() },
                None => Line { fraction: None, message: line.to_owned() },
            }
        }
    };
    let mut message = told.message;
    message.truncate(message.floor_char_boundary(limits::MESSAGE_BYTES_MAX));
    let permille = told.fraction.map(|fraction| (fraction.clamp(0.0, 1.0) * 1000.0).round() as u16);
    (permille, message.into())
}

/// How far something is: `42%`, `3/7` or `0.42`. A count such as `7` does not say of how many.
fn fraction(word: &str) -> Option<f64> {
    let number = |text: &str| text.parse::<f64>().ok();
    if let Some(percent) = word.strip_suffix('%') {
        return Some(number(percent)? / 100.0);
    }
    match word.split_once('/') {
        Some((done, all)) => Some(number(done)? / number(all).filter(|all| *all > 0.0)?),
        None => number(word).filter(|fraction| (0.0..=1.0).contains(fraction)),
    }
}

/// What is wrong with the result of a task that ended well: whoever relies on it should not find out later.
fn bad_result(finished: &Finished) -> Option<(&'static str, String)> {
    match finished.output {
        Output::Taken => {}
        Output::TooLong => {
            let message = format!("the result is longer than {} bytes", limits::RESULT_BYTES_MAX);
            return Some(("result_too_large", message));
        }
        Output::Unreadable => {
            let message = "$MAINSPRING_OUTPUT is no plain file that can be read: a link, a pipe or a folder is not taken";
            return Some(("result_unreadable", message.to_owned()));
        }
    }
    let result = finished.result.as_ref().filter(|result| !result.is_empty())?;
    let wrong = check_json(result).err()?;
    Some(("result_not_json", format!("$MAINSPRING_OUTPUT holds no JSON: {wrong}")))
}

fn check_json(result: &Bytes) -> Result<(), String> {
    // A text that is passed over is not looked at by the parser.
    let text = std::str::from_utf8(result).map_err(|error| error.to_string())?;
    let read = serde_json::from_str::<serde::de::IgnoredAny>(text);
    read.map(drop).map_err(|error| error.to_string())
}

fn span(from_us: i64, to_us: i64) -> Duration {
    Duration::from_micros(u64::try_from(to_us.saturating_sub(from_us)).unwrap_or(0))
}

pub(crate) fn wall_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_in_several_spellings() {
        for (line, permille, message) in [
            ("0.5", Some(500), ""),
            ("1 all", Some(1000), "all"),
            ("42% of the tables", Some(420), "of the tables"),
            ("120% of the tables", Some(1000), "of the tables"),
            (r#"{"fraction": 0.25, "message": "half way to half"}"#, Some(250), "half way to half"),
            (r#"{"message": "still there"}"#, None, "still there"),
            ("3/4 tables", Some(750), "tables"),
            ("0/0", None, "0/0"),
            ("in/out 5", None, "in/out 5"),
            ("loading", None, "loading"),
            ("7 files", None, "7 files"),
            ("-1", None, "-1"),
            ("NaN", None, "NaN"),
        ] {
            assert_eq!(progress(line), (permille, message.into()), "{line}");
        }
    }

    fn finished(end: End, stopped_by: Option<StopCause>) -> Finished {
        Finished {
            key: AttemptKey { run: [1; 16], attempt: 1, epoch: 1 },
            end,
            stopped_by,
            oom: false,
            survivors: 0,
            cpu_user_us: 3,
            cpu_system_us: 4,
            memory_peak_bytes: 5,
            started_at_us: 100,
            finished_at_us: 350,
            log_end: 0,
            log_dropped_bytes: 0,
            result: Some(Bytes::from_static(b"not json")),
            output: Output::Taken,
        }
    }

    #[test]
    fn endings_have_the_cause_of_whoever_ended_them() {
        let node = NodeId::from_bytes([7; 16]);
        let check = |end, stopped_by, cause: Cause, stopped: bool| {
            let end = end_of(&finished(end, stopped_by), node);
            assert_eq!((end.cause, end.stopped, end.result), (cause, stopped, None));
        };
        check(End::Exited(3), None, Cause::Exit { code: 3 }, false);
        check(End::Signalled(15), Some(StopCause::Requested), Cause::Signal { signal: 15 }, true);
        check(End::Signalled(9), Some(StopCause::LeaseOver), Cause::Lost { node }, true);
        let message = "$MAINSPRING_OUTPUT holds no JSON: expected ident at line 1 column 2".into();
        let unfit = Cause::Error { class: "result_not_json".into(), message };
        check(End::Exited(0), Some(StopCause::LeaseOver), unfit, true);
        check(End::Signalled(9), Some(StopCause::Timeout), Cause::Timeout { limit: TimeoutKind::Run }, false);
        check(End::Lost, None, Cause::Vanished { node }, false);
        let failed = end_of(&finished(End::NotExecuted("no such file".into()), None), node);
        assert_eq!(failed.begun_ago, None);
        // Long before it is told: since then, not for as long as it took.
        let ago = end_of(&finished(End::Exited(0), None), node).begun_ago.unwrap();
        assert!(ago > Duration::from_secs(86_400), "{ago:?}");
    }
}
