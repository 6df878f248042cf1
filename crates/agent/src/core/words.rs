//! What a node says, as it travels.

use std::collections::HashMap;
use std::time::Duration;

use mainspring_model::{AttemptToken, Node, Progress, Timestamp};
use mainspring_wire::agent::held::Stage as HeldStage;
use mainspring_wire::agent::node_word::Word;
use mainspring_wire::agent::report::News;
use mainspring_wire::agent::{
    Finished, Goodbye, Heartbeat, Held, Hello, NodeWord, Progressed, Report, Started, bytes_of,
};

use super::attempt::Stage;
use super::{Core, Ending};

impl Core {
    pub(super) fn hello_word(&self, now: Timestamp, session: u64, beat: u64) -> NodeWord {
        let profile = &self.profile;
        word(Word::Hello(Hello {
            node: bytes_of(profile.node.as_bytes()),
            session,
            beat,
            name: profile.name.clone(),
            pool: profile.pool.clone(),
            labels: self.labels(),
            cpu_milli: profile.cpu_milli,
            memory_bytes: profile.memory_bytes,
            named_milli: profile.named_milli.clone(),
            slots: if self.pulse.is_unwell() { 0 } else { profile.slots },
            weight: profile.weight,
            handlers: Vec::new(),
            held: self.held_words(now),
            version: profile.version.clone(),
        }))
    }

    /// Those of its profile; people see there why a node takes nothing.
    fn labels(&self) -> HashMap<String, String> {
        let mut labels = self.profile.labels.clone();
        if self.pulse.is_unwell() {
            labels.insert(Node::UNWELL_LABEL.to_owned(), "sidecar".to_owned());
        }
        labels
    }

    pub(super) fn heartbeat_word(&self, now: Timestamp, session: u64, beat: u64) -> NodeWord {
        let (held, usage) = (self.held_words(now), self.usage);
        word(Word::Heartbeat(Heartbeat { session, beat, held, usage }))
    }

    fn held_words(&self, now: Timestamp) -> Vec<Held> {
        let mut all: Vec<(AttemptToken, HeldStage)> = self
            .held
            .iter()
            .map(|(token, held)| {
                let stage = match held.stage {
                    Stage::Preparing | Stage::Launching { .. } => HeldStage::Accepted(true),
                    Stage::Executing { since } | Stage::Publishing { since, .. } => {
                        HeldStage::ExecutingUs(micros(now.since(since)))
                    }
                    Stage::Over { .. } => HeldStage::Over(true),
                };
                (*token, stage)
            })
            .collect();
        all.sort_unstable_by_key(|(token, _)| *token);
        let held = |(token, stage): (AttemptToken, _)| Held { token: Some(token.into()), stage: Some(stage) };
        all.into_iter().map(held).collect()
    }
}

pub(super) fn started(session: u64, beat: u64, token: AttemptToken) -> NodeWord {
    report(session, beat, token, News::Started(Started {}))
}

pub(super) fn progressed(session: u64, beat: u64, token: AttemptToken, progress: Progress) -> NodeWord {
    let progress = mainspring_wire::agent::Progress {
        permille: u32::from(progress.permille),
        message: progress.message.into(),
    };
    report(session, beat, token, News::Progressed(Progressed { progress: Some(progress), checkpoint: None }))
}

pub(super) fn finished(
    now: Timestamp,
    session: u64,
    beat: u64,
    token: AttemptToken,
    ending: &Ending,
) -> NodeWord {
    let finished = Finished {
        cause: Some((&ending.cause).into()),
        stopped: ending.stopped,
        begun_us_ago: ending.begun_at.map(|at| micros(now.since(at))),
        result: ending.result.clone(),
        cpu_us: ending.usage.cpu_us,
        memory_peak_bytes: ending.usage.memory_peak_bytes,
        silent: ending.usage.silent,
    };
    report(session, beat, token, News::Finished(finished))
}

pub(super) fn goodbye(session: u64) -> NodeWord {
    word(Word::Goodbye(Goodbye { session }))
}

fn report(session: u64, beat: u64, token: AttemptToken, news: News) -> NodeWord {
    word(Word::Report(Report { session, beat, token: Some(token.into()), news: Some(news) }))
}

fn word(word: Word) -> NodeWord {
    NodeWord { word: Some(word) }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
