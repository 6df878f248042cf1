//! The machines of the history. They take every order, and each attempt goes as the character of its job says.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_engine::{Ending, Event, Held, Hello, Message, News, Order, Report, Stage};
use mainspring_model::label::Labels;
use mainspring_model::resource::Resources;
use mainspring_model::{AttemptToken, Cause, Node, NodeId, NodeState, Timestamp, Usage};

use crate::chance::Chance;
use crate::character::{Character, Performance, Which};
use crate::output;
use crate::owner::CELL;

const NAMES: [&str; 3] = ["linden-1", "linden-2", "linden-3"];
/// How long a task that is asked to stop takes for it.
const STOPS_IN: Duration = Duration::from_millis(380);

/// All of them, and what they are about to do.
pub(crate) struct Machines {
    seed: u64,
    until: Timestamp,
    nodes: Vec<Node>,
    session: u64,
    held: BTreeMap<AttemptToken, Task>,
    agenda: BTreeMap<(Timestamp, AttemptToken), Step>,
    /// The output of attempts that are over.
    pub(crate) logs: Vec<(AttemptToken, Vec<u8>)>,
}

struct Task {
    node: NodeId,
    started: Timestamp,
    ends: Timestamp,
    stopped: bool,
    performance: Performance,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Starts,
    Ends,
}

impl Machines {
    pub(crate) fn new(seed: u64, until: Timestamp) -> Self {
        let nodes = NAMES.iter().enumerate().map(|(index, name)| machine(seed, index, name)).collect();
        let (held, agenda, logs) = Default::default();
        Self { seed, until, nodes, session: 0, held, agenda, logs }
    }

    /// They introduce themselves, with room for so many tasks. Without room they take nothing more.
    pub(crate) fn hello(&mut self, now: Timestamp, slots: u32) -> Vec<Event> {
        self.session += 1;
        let session = self.session;
        let hello = |node: &Node| {
            let held = self.held.iter().filter(|(_, task)| task.node == node.id);
            let held = held.map(|(token, task)| Held { token: *token, stage: task.stage(now) }).collect();
            Event::Hello(Box::new(Hello {
                node: Node { slots, ..node.clone() },
                session,
                beat: session,
                held,
            }))
        };
        self.nodes.iter().map(hello).collect()
    }

    /// They end, and hold nothing.
    pub(crate) fn goodbye(&self) -> Vec<Event> {
        let session = self.session;
        self.nodes.iter().map(|node| Event::Goodbye { node: node.id, session }).collect()
    }

    /// When one of them does something next.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.agenda.first_key_value().map(|((at, _), _)| *at)
    }

    /// What is done now.
    pub(crate) fn act(&mut self, now: Timestamp) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(first) = self.agenda.first_entry().filter(|first| first.key().0 <= now) {
            let ((at, token), step) = first.remove_entry();
            events.extend(match step {
                Step::Starts => self.start(at, token),
                Step::Ends => self.end(at, token),
            });
        }
        events
    }

    /// Everything that executes is over by now: the history ends.
    pub(crate) fn finish(&mut self, now: Timestamp) -> Vec<Event> {
        self.agenda.clear();
        let tokens: Vec<AttemptToken> = self.held.keys().copied().collect();
        let begun = |(token, started): &(AttemptToken, Timestamp)| (*started < now).then_some(*token);
        let started: Vec<_> = tokens.iter().map(|token| (*token, self.held[token].started)).collect();
        started.iter().filter_map(begun).filter_map(|token| self.end(now, token)).collect()
    }

    /// What the owner says.
    pub(crate) fn hear(&mut self, now: Timestamp, message: Message) {
        match message {
            Message::Start(order) => self.order(now, &order),
            Message::Stop { token, .. } => {
                let Some(task) = self.held.get_mut(&token).filter(|task| !task.stopped) else { return };
                self.agenda.remove(&(task.ends, token));
                (task.stopped, task.ends) = (true, now + STOPS_IN);
                self.agenda.insert((task.ends, token), Step::Ends);
            }
            _ => {}
        }
    }

    fn order(&mut self, now: Timestamp, order: &Order) {
        let Order { node, token, head, spec, .. } = order;
        if self.held.contains_key(token) {
            return;
        }
        let moment = head.fired.as_ref().map_or(head.created_at, |fired| fired.planned);
        let which = Which { job: spec.name.as_str(), moment, attempt: token.number, until: self.until };
        let performance = Character::of(which.job).perform(self.seed, which);
        let mut chance = Chance::new(self.seed, &format!("{token}"));
        let started = now + Duration::from_micros(chance.within(9_000, 70_000));
        let ends = started + performance.takes;
        self.held.insert(*token, Task { node: *node, started, ends, stopped: false, performance });
        self.agenda.insert((started, *token), Step::Starts);
        self.agenda.insert((ends, *token), Step::Ends);
    }

    fn start(&self, _at: Timestamp, token: AttemptToken) -> Option<Event> {
        let task = self.held.get(&token)?;
        Some(self.report(task.node, token, News::Started))
    }

    fn end(&mut self, at: Timestamp, token: AttemptToken) -> Option<Event> {
        let task = self.held.remove(&token)?;
        let took = at.since(task.started);
        let Performance { cause, cpu_us, memory_bytes, lines, result, .. } = task.performance;
        let cause = if task.stopped { Cause::Signal { signal: 15 } } else { cause };
        self.logs.push((token, output::frames(&lines, task.started, took)));
        let ending = Ending {
            cause,
            stopped: task.stopped,
            begun_ago: Some(took),
            result: result.filter(|_| !task.stopped).map(|result| result.into_bytes().into()),
            usage: Usage { cpu_us, memory_peak_bytes: memory_bytes, silent: lines.is_empty() },
        };
        Some(self.report(task.node, token, News::Finished(ending)))
    }

    fn report(&self, node: NodeId, token: AttemptToken, news: News) -> Event {
        let session = self.session;
        Event::Report(Box::new(Report { node, session, beat: session + 1, token, news }))
    }
}

impl Task {
    fn stage(&self, now: Timestamp) -> Stage {
        match now > self.started {
            true => Stage::Executing(now.since(self.started)),
            false => Stage::Accepted,
        }
    }
}

fn machine(seed: u64, index: usize, name: &str) -> Node {
    let mut chance = Chance::new(seed, name);
    let bits = u128::from(chance.within(0, u64::MAX - 1)) << 64 | index as u128;
    let mut labels = Labels::new();
    for (key, value) in [("demo", "true"), ("zone", ["berlin-a", "berlin-b"][index % 2])] {
        // Both are labels, as the test of the company shows.
        drop(labels.insert(key, value));
    }
    Node {
        id: NodeId::new(Timestamp::ZERO, bits),
        cell: CELL,
        name: name.into(),
        pool: "default".into(),
        labels,
        capacity: Resources { cpu_milli: 4_000, memory_bytes: 8 << 30, ..Resources::default() },
        slots: 16,
        weight: 1,
        handlers: Vec::new(),
        state: NodeState::Up,
        revision: 0,
        joined_at: Timestamp::ZERO,
        updated_at: Timestamp::ZERO,
    }
}
