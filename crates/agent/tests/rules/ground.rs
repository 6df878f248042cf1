//! A node in a test: a clock that the test moves, words in and out in a short notation.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use mainspring_agent::core::{Core, Input, KnownTask, Output, Profile, TaskEnd};
use mainspring_model::{AttemptToken, Cause, Epoch, JobId, NodeId, RunId, Timestamp, Usage};
use mainspring_wire::agent::held::Stage;
use mainspring_wire::agent::node_word::Word as Said;
use mainspring_wire::agent::owner_word::Word;
use mainspring_wire::agent::report::News;
use mainspring_wire::agent::{
    Beat, Forget, Held, NodeWord, OwnerWord, Redirect, Spec, SpecKey, Start, Stop, Welcome, WhoAreYou,
};

pub(super) const NODE: NodeId = NodeId::from_bytes([7; 16]);
const HELLO: &str = r#"{"name":"hello","process":"/bin/true"}"#;
const KEPT: &str = r#"{"name":"kept","process":"/bin/true","on_disconnect":"keep"}"#;

pub(super) struct Node {
    pub(super) core: Core,
    now: Timestamp,
    session: u64,
    beat: u64,
    /// Whether the sidecar answers when it is asked.
    pub(super) sidecar_answers: bool,
}

pub(super) fn token(run: u128) -> AttemptToken {
    AttemptToken { run: RunId::new(Timestamp::from_micros(1_000_000), run), number: 1, epoch: Epoch(1) }
}

pub(super) fn exit(code: i32) -> TaskEnd {
    let begun_ago = Some(Duration::from_secs(1));
    TaskEnd { cause: Cause::Exit { code }, stopped: false, begun_ago, result: None, usage: Usage::default() }
}

pub(super) fn killed() -> TaskEnd {
    TaskEnd { cause: Cause::Signal { signal: 9 }, stopped: true, ..exit(0) }
}

impl Node {
    /// A node whose sidecar answers, connected to nobody.
    pub(super) fn new() -> Self {
        let profile = Profile {
            node: NODE,
            name: "n".into(),
            pool: "default".into(),
            labels: HashMap::new(),
            cpu_milli: 4_000,
            memory_bytes: 1 << 30,
            named_milli: HashMap::new(),
            slots: 8,
            weight: 1,
            version: "test".into(),
        };
        let mut node = Self {
            core: Core::new(profile, Duration::from_secs(60)),
            now: Timestamp::from_micros(1_000_000_000),
            session: 0,
            beat: 0,
            sidecar_answers: true,
        };
        node.does(Input::Attached(Vec::new()), &[]);
        node
    }

    /// As [`Self::new`], connected and welcomed.
    pub(super) fn welcomed() -> Self {
        let mut node = Self::new();
        node.connect();
        node.welcome();
        node
    }

    /// The machine is suspended: the clock goes on, and the agent learns of nothing.
    pub(super) fn suspend(&mut self, span: Duration) {
        self.now = self.now + span;
    }

    /// The time passes; ticks come when they are wanted.
    pub(super) fn pass(&mut self, seconds: f64) -> Vec<String> {
        let until = self.now + Duration::from_secs_f64(seconds);
        let mut done = Vec::new();
        while let Some(at) = self.core.wakes_at().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.core.handle(self.now, Input::Tick);
            done.extend(self.take());
        }
        self.now = until;
        done
    }

    /// Everything stands still for so long.
    pub(super) fn stand_still(&mut self, seconds: u64) -> Vec<String> {
        self.now = self.now + Duration::from_secs(seconds);
        self.act(Input::Tick)
    }

    pub(super) fn connect(&mut self) -> Vec<String> {
        self.session += 1;
        self.act(Input::Connected { session: self.session })
    }

    pub(super) fn welcome(&mut self) -> Vec<String> {
        self.welcome_with(5, 15)
    }

    pub(super) fn welcome_with(&mut self, heartbeat_every: u64, lost_after: u64) -> Vec<String> {
        let welcome = Welcome {
            session: self.session,
            beat: self.beat,
            epoch: 1,
            heartbeat_every_us: heartbeat_every * 1_000_000,
            lost_after_us: lost_after * 1_000_000,
        };
        self.hear(Word::Welcome(welcome))
    }

    pub(super) fn beat(&mut self) -> Vec<String> {
        self.hear(Word::Beat(Beat { session: self.session, beat: self.beat }))
    }

    pub(super) fn start(&mut self, run: u128) -> Vec<String> {
        self.start_on(run, self.session, self.beat, HELLO)
    }

    pub(super) fn start_kept(&mut self, run: u128) -> Vec<String> {
        self.start_on(run, self.session, self.beat, KEPT)
    }

    pub(super) fn start_on(&mut self, run: u128, session: u64, seen_beat: u64, spec: &str) -> Vec<String> {
        let key = SpecKey::new(JobId::from_bytes([spec.len() as u8; 16]), 1, None);
        let json = Bytes::copy_from_slice(spec.as_bytes());
        let said = self.hear(Word::Spec(Spec { key: Some(key.clone()), json }));
        assert!(said.is_empty(), "{said:?}");
        self.start_unspecified(run, session, seen_beat, key)
    }

    pub(super) fn start_unspecified(
        &mut self,
        run: u128,
        session: u64,
        seen_beat: u64,
        key: SpecKey,
    ) -> Vec<String> {
        let token = Some(token(run).into());
        self.hear(Word::Start(Start { session, seen_beat, token, spec: Some(key), ..Start::default() }))
    }

    pub(super) fn stop(&mut self, run: u128) -> Vec<String> {
        self.stop_on(run, self.session)
    }

    pub(super) fn stop_on(&mut self, run: u128, session: u64) -> Vec<String> {
        self.hear(Word::Stop(Stop { session, token: Some(token(run).into()), grace_us: 3_000_000 }))
    }

    pub(super) fn forget(&mut self, run: u128) -> Vec<String> {
        self.hear(Word::Forget(Forget { token: Some(token(run).into()), stale: false }))
    }

    pub(super) fn redirect(&mut self) -> Vec<String> {
        self.hear(Word::Redirect(Redirect { url: "http://b".into() }))
    }

    pub(super) fn who_are_you(&mut self) -> Vec<String> {
        self.hear(Word::WhoAreYou(WhoAreYou {}))
    }

    pub(super) fn prepared(&mut self, run: u128) -> Vec<String> {
        self.act(Input::Prepared { token: token(run), outcome: Ok(false) })
    }

    pub(super) fn started(&mut self, run: u128) -> Vec<String> {
        self.act(Input::Started { token: token(run) })
    }

    pub(super) fn ended(&mut self, run: u128, end: TaskEnd) -> Vec<String> {
        self.act(Input::Ended { token: token(run), end })
    }

    pub(super) fn attached(&mut self, known: Vec<KnownTask>) -> Vec<String> {
        self.act(Input::Attached(known))
    }

    /// From the order to the task.
    pub(super) fn execute(&mut self, run: u128) {
        self.start(run);
        self.prepared(run);
        self.started(run);
    }

    fn hear(&mut self, word: Word) -> Vec<String> {
        self.act(Input::Heard(OwnerWord { word: Some(word) }))
    }

    pub(super) fn act(&mut self, input: Input) -> Vec<String> {
        self.core.handle(self.now, input);
        self.take()
    }

    pub(super) fn does(&mut self, input: Input, expected: &[&str]) {
        assert_eq!(self.act(input), expected);
    }

    pub(super) fn session(&self) -> u64 {
        self.session
    }

    fn take(&mut self) -> Vec<String> {
        let mut outputs = self.core.take();
        let asked = outputs.extract_if(.., |output| matches!(output, Output::Probe)).count();
        if asked > 0 && self.sidecar_answers {
            self.core.handle(self.now, Input::Answered);
            outputs.append(&mut self.core.take());
        }
        outputs.into_iter().map(|output| self.short(output)).collect()
    }

    /// What is done in a few characters; times are seconds from now.
    fn short(&mut self, output: Output) -> String {
        let run = |token: AttemptToken| u128::from_be_bytes(*token.run.as_bytes()) & 0xff;
        match output {
            Output::Say(word) => self.said(word),
            Output::Prepare(order) => format!("prepare {}", run(order.token)),
            Output::Abandon(token) => format!("abandon {}", run(token)),
            Output::Launch { token, deadline } => match deadline {
                Some(deadline) => {
                    format!("launch {} for {}s", run(token), deadline.since(self.now).as_secs())
                }
                None => format!("launch {} for ever", run(token)),
            },
            Output::Stop { token, grace } => format!("stop {} in {}s", run(token), grace.as_secs()),
            Output::Extend { deadline } => format!("extend {}s", deadline.since(self.now).as_secs()),
            Output::Probe => "probe".to_owned(),
            Output::ReplaceSidecar => "replace sidecar".to_owned(),
            Output::Publish(token) => format!("publish {}", run(token)),
            Output::Forgotten(token) => format!("forgotten {}", run(token)),
            Output::LogHave(_) => "log have".to_owned(),
            Output::Welcomed => "welcomed".to_owned(),
            Output::Reconnect { to: None } => "reconnect".to_owned(),
            Output::Reconnect { to: Some(to) } => format!("reconnect to {to}"),
            Output::Farewell => "farewell".to_owned(),
            Output::Malformed(malformed) => format!("malformed {}", malformed.field),
        }
    }

    fn said(&mut self, word: NodeWord) -> String {
        match word.word.expect("a word") {
            Said::Hello(hello) => {
                self.beat = hello.beat;
                format!("hello session {} slots {}{}", hello.session, hello.slots, held(&hello.held))
            }
            Said::Heartbeat(heartbeat) => {
                self.beat = heartbeat.beat;
                let usage =
                    heartbeat.usage.map(|usage| format!(" cpu {}", usage.cpu_milli)).unwrap_or_default();
                format!("beat {}{}{usage}", heartbeat.beat, held(&heartbeat.held))
            }
            Said::Report(report) => {
                assert_eq!(report.session, self.session);
                let run = run_of(report.token.as_ref());
                match report.news.expect("news") {
                    News::Accepted(_) => format!("accepted {run}"),
                    News::Started(_) => format!("started {run}"),
                    News::Progressed(progressed) => {
                        format!("progressed {run} {}", progressed.progress.expect("progress").permille)
                    }
                    News::Finished(finished) => {
                        let cause = finished.cause.expect("a cause").told_by(NODE).expect("a cause");
                        let stopped = if finished.stopped { " stopped" } else { "" };
                        format!("finished {run} {}{stopped}", cause.name())
                    }
                }
            }
            Said::Goodbye(_) => "goodbye".to_owned(),
            Said::Log(_) => "log".to_owned(),
        }
    }
}

fn held(held: &[Held]) -> String {
    let one = |held: &Held| {
        let stage = match held.stage.as_ref().expect("a stage") {
            Stage::Accepted(_) => "accepted",
            Stage::ExecutingUs(_) => "executing",
            Stage::Over(_) => "over",
        };
        format!(" {}:{stage}", run_of(held.token.as_ref()))
    };
    held.iter().map(one).collect()
}

fn run_of(token: Option<&mainspring_wire::agent::Token>) -> u8 {
    token.expect("a token").run[15]
}
