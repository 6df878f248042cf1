//! The words that are not error codes and still want a page: why a run waits, why an attempt ended, and what our own exit
//! codes say.
//!
//! There is one sample of each reason and cause of the model, and the pages match on them without a `_` arm: a new one does
//! not compile before it has a page.

use mainspring_client::api;
use mainspring_model::{
    Cause, NoNode, NodeFilter, NodeId, Reason, RunState, Shortage, TimeoutKind, Timestamp,
};
use serde_json::{Value, json};

use crate::exit::{self, Exit};

/// A page of the glossary.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) word: String,
    /// What kind of word it is.
    pub(crate) kind: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) next: &'static str,
    /// With what a command that waits for a run ends.
    pub(crate) exit_code: Option<u8>,
}

impl Page {
    /// For programs.
    pub(crate) fn value(&self) -> Value {
        let Self { word, kind, meaning, next, exit_code } = self;
        let mut value = json!({ "code": word, "kind": kind, "help": meaning });
        if !next.is_empty() {
            value["next"] = json!(next);
        }
        if let Some(code) = exit_code {
            value["exit_code"] = json!(code);
        }
        value
    }
}

/// Every page: reasons, causes, exit codes.
pub(crate) fn pages() -> Vec<Page> {
    let reasons = reasons().into_iter().map(|reason| {
        let (meaning, next) = of_reason(&reason);
        Page { word: reason.name().to_owned(), kind: "reason", meaning, next, exit_code: None }
    });
    let causes = causes().into_iter().map(|cause| {
        let (meaning, next) = of_cause(&cause);
        let code = exit::of_cause(RunState::FinalFailed, Some(&api::Cause::from(&cause)));
        // The code of an `exit` is the task's own.
        let exit_code = (cause.name() != "exit" && cause.name() != "signal").then_some(code);
        Page { word: cause.name().to_owned(), kind: "cause", meaning, next, exit_code }
    });
    let exits = Exit::ALL.into_iter().map(|exit| Page {
        word: exit.number().to_string(),
        kind: "exit code",
        meaning: exit.meaning(),
        next: "",
        exit_code: None,
    });
    reasons.chain(causes).chain(exits).collect()
}

fn reasons() -> Vec<Reason> {
    let (until, key, by, note) = (Timestamp::ZERO, "", "somebody", "");
    let shortage = Shortage { dimension: "slots".into(), wanted: 1, seen: None };
    let no_node =
        NoNode { nodes: 0, pool: "default".into(), filter: NodeFilter::Pool { others: Default::default() } };
    vec![
        Reason::BeginTime { until },
        Reason::Backoff { until, next_attempt: 2, attempts_max: 3 },
        Reason::Concurrency { key: key.into(), running: 1, limit: 1 },
        Reason::RateLimit { key: key.into(), limit: 1, until },
        Reason::Resources { matching: 1, shortage },
        Reason::NoNode(Box::new(no_node)),
        Reason::Suspect { losses: 1, nodes: 1, node: None },
        Reason::Priority { position: 1 },
        Reason::Paused { by: by.into(), note: note.into() },
        Reason::CellPaused { by: by.into(), note: note.into() },
        Reason::Quarantined { losses: 1 },
        Reason::Overflow,
    ]
}

fn of_reason(reason: &Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::BeginTime { .. } => (
            "The run waits for its time: it was submitted with a moment before which it does not begin.",
            "nothing to do; `mainspring why RUN` says when it is queued",
        ),
        Reason::Backoff { .. } => (
            "The last attempt failed, and the next is due later: each failure makes the pause longer.",
            "`mainspring retry RUN` skips the wait; `retry.backoff` in the job file sets it",
        ),
        Reason::Concurrency { .. } => (
            "As many runs of the job, or of its key, run as `concurrency.limit` allows.",
            "wait for one of them to end, or raise `concurrency.limit`",
        ),
        Reason::RateLimit { .. } => (
            "As many runs of the job, or of its key, were started in this period as `rate_limit` allows.",
            "nothing to do: the next starts with the next period; raise `rate_limit` for more",
        ),
        Reason::Resources { .. } => (
            "Nodes match, and all of them are full: slots, CPU, memory or something countable is used up.",
            "wait for a run on them to end, add a node, or ask for less; `mainspring nodes` shows the load",
        ),
        Reason::NoNode(_) => (
            "No node may take the run: none is in its pool, carries its labels, offers its handler, is large enough, or takes \
             work.",
            "`mainspring why RUN` says what is missing; `mainspring nodes -o wide` shows pools, labels and handlers; a drained \
             node works again after `mainspring node resume NODE`",
        ),
        Reason::Suspect { .. } => (
            "The job was lost with its node. It does not share a node with another such job, so that the next loss says whose \
             fault it is.",
            "nothing to do: it starts when that job ends on its own; another node lets it start now",
        ),
        Reason::Priority { .. } => (
            "Others come first: they are more important, or it is their turn.",
            "wait, add a node, or submit it anew with a higher `priority`",
        ),
        Reason::Paused { .. } => ("The job is paused.", "`mainspring resume JOB` lets its runs start"),
        Reason::CellPaused { .. } => (
            "The whole cell is paused: none of its runs start.",
            "`mainspring resume --cell CELL` lets them start",
        ),
        Reason::Quarantined { .. } => (
            "The job took so many nodes down with it that it is kept off them.",
            "find out why, then `mainspring retry RUN` lets it go on",
        ),
        Reason::Overflow => (
            "More runs wait than the scheduler keeps in memory; this one is read in when its turn comes.",
            "nothing to do",
        ),
    }
}

fn causes() -> Vec<Cause> {
    let node = NodeId::new(Timestamp::ZERO, 0);
    vec![
        Cause::Exit { code: 1 },
        Cause::Signal { signal: 9 },
        Cause::Oom,
        Cause::Timeout { limit: TimeoutKind::Run },
        Cause::Lost { node },
        Cause::Vanished { node },
        Cause::Refused { message: "".into() },
        Cause::StartFailed { message: "".into() },
        Cause::Error { class: "".into(), message: "".into() },
        Cause::Drained { node },
        Cause::Cancelled { by: "".into() },
        Cause::Overlap,
        Cause::Quarantined { losses: 1 },
    ]
}

fn of_cause(cause: &Cause) -> (&'static str, &'static str) {
    match cause {
        Cause::Exit { .. } => (
            "The task ended by itself, with this exit code; anything but 0 is a failure.",
            "`mainspring logs RUN` shows what it wrote",
        ),
        Cause::Signal { .. } => (
            "A signal ended the task, and it was not us who sent it. Commands that wait end with 128 and its number.",
            "`mainspring logs RUN` shows what it wrote; 11 is a crash, 9 often the kernel",
        ),
        Cause::Oom => (
            "The task used more memory than it may.",
            "raise `resources.memory` in the job file; `mainspring describe RUN` shows what it used",
        ),
        Cause::Timeout { .. } => (
            "A time limit passed: in the queue, at the start, of one attempt, between heartbeats, or of the whole run.",
            "`mainspring describe RUN` says which; `timeout` in the job file sets them",
        ),
        Cause::Lost { .. } => (
            "The node was silent for too long while it held the attempt. It is tried elsewhere, and does not count as a retry.",
            "`mainspring nodes` shows the node; look at its machine",
        ),
        Cause::Vanished { .. } => (
            "The node lives, and did not see how the attempt ended, as after a reboot.",
            "nothing to do: it is tried again, and does not count as a retry",
        ),
        Cause::Refused { .. } => (
            "The node refused the order before anything was executed.",
            "the message says why; it is tried elsewhere",
        ),
        Cause::StartFailed { .. } => (
            "The task could not be started: no such program, user or directory, or an artifact with another digest.",
            "the message says what; mend the job, or the node",
        ),
        Cause::Error { .. } => (
            "A handler in your own process reported an error.",
            "the message is the handler's; `retry` in the job file may treat classes of errors apart",
        ),
        Cause::Drained { .. } => (
            "The node was emptied, and the task had not ended when its time was up.",
            "nothing to do: it is tried elsewhere; `mainspring node drain --patience` gives more time",
        ),
        Cause::Cancelled { .. } => ("Somebody ended the run.", "`mainspring rerun RUN` runs it again"),
        Cause::Overlap => (
            "The job's overlap policy skipped the run or ended it, because another one of the job ran.",
            "`overlap` in the job file decides; `mainspring run JOB --force` begins beside others",
        ),
        Cause::Quarantined { .. } => (
            "The job took so many nodes down with it that it was given up.",
            "find out why it takes its node down, then `mainspring rerun RUN`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_page_of_each_word() {
        let mut words: Vec<(&str, String)> = pages().into_iter().map(|page| (page.kind, page.word)).collect();
        let all = words.len();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), all);
        // The numbers of causes leave no gap, so a cause without a sample shows here.
        let numbers: Vec<u8> = causes().iter().map(Cause::number).collect();
        assert_eq!(numbers, (1..=numbers.len() as u8).collect::<Vec<_>>());
    }
}
