//! Nodes: their half of the protocol, as far as a scenario needs it.

use mainspring_engine::{Ending, Event, Heartbeat, Held, Hello, News, Order, Report, Stage};
use mainspring_model::{
    AttemptToken, Cause, Labels, Node, NodeId, NodeState, Payload, Progress, Resources, RunId, Timestamp,
    limits,
};

use super::{CELL, World};

/// A node that lives.
pub(crate) struct Agent {
    pub(crate) node: Node,
    pub(crate) session: u64,
    pub(crate) beat: u64,
    pub(crate) next_beat_at: Timestamp,
    pub(crate) held: Vec<(AttemptToken, Stage)>,
}

impl Agent {
    fn held(&self) -> Vec<Held> {
        self.held.iter().map(|(token, stage)| Held { token: *token, stage: *stage }).collect()
    }
}

impl World {
    /// A node with 4 slots, 4 cores and 4 GiB joins.
    pub(crate) fn node(&mut self, name: &str) -> NodeId {
        self.node_with(name, |_| {})
    }

    /// A node joins, as described.
    pub(crate) fn node_with(&mut self, name: &str, change: impl FnOnce(&mut Node)) -> NodeId {
        let id = NodeId::new(self.now, self.agents.len() as u128 + 1);
        let mut node = Node {
            id,
            cell: CELL,
            name: name.into(),
            pool: "default".into(),
            labels: Labels::new(),
            capacity: Resources { cpu_milli: 4_000, memory_bytes: 4 << 30, ..Resources::ZERO },
            slots: 4,
            weight: 1,
            handlers: Vec::new(),
            state: NodeState::Up,
            revision: 0,
            joined_at: self.now,
            updated_at: self.now,
        };
        change(&mut node);
        let agent = Agent { node, session: 0, beat: 0, next_beat_at: self.now, held: Vec::new() };
        self.agents.insert(id, agent);
        self.connect(id);
        id
    }

    /// The node says hello on a new connection, with all it holds.
    pub(crate) fn connect(&mut self, id: NodeId) {
        let now = self.now;
        let agent = self.agent(id);
        agent.session += 1;
        agent.beat += 1;
        agent.next_beat_at = now + limits::HEARTBEAT_EVERY;
        let (node, session, beat, held) = (agent.node.clone(), agent.session, agent.beat, agent.held());
        self.handle(Event::Hello(Box::new(Hello { node, session, beat, held })));
    }

    /// Every node connects again.
    pub(crate) fn connect_all(&mut self) {
        for id in self.agents.keys().copied().collect::<Vec<_>>() {
            self.connect(id);
        }
    }

    /// The node falls silent. What it held stays with it.
    pub(crate) fn silence(&mut self, id: NodeId) -> Agent {
        self.agents.remove(&id).expect("a node that lives")
    }

    /// A silent node is back, and says hello.
    pub(crate) fn revive(&mut self, agent: Agent) {
        let id = agent.node.id;
        self.agents.insert(id, agent);
        self.connect(id);
    }

    pub(crate) fn agent(&mut self, id: NodeId) -> &mut Agent {
        self.agents.get_mut(&id).expect("a node that lives")
    }

    /// The node beats now.
    pub(crate) fn beat(&mut self, id: NodeId) {
        let now = self.now;
        let agent = self.agent(id);
        agent.beat += 1;
        agent.next_beat_at = now + limits::HEARTBEAT_EVERY;
        let heartbeat = Heartbeat { node: id, session: agent.session, beat: agent.beat, held: agent.held() };
        self.handle(Event::Heartbeat(heartbeat));
    }

    pub(super) fn beat_due(&mut self) {
        let due: Vec<NodeId> = self
            .agents
            .iter()
            .filter(|(_, agent)| agent.next_beat_at <= self.now)
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            self.beat(id);
        }
    }

    /// An obedient node accepts and starts what it is ordered.
    pub(super) fn obey(&mut self, order: &Order) {
        if self.agents.get(&order.node).is_none_or(|agent| agent.session != order.session) {
            return;
        }
        self.report(order.node, order.token, News::Accepted);
        self.report(order.node, order.token, News::Started);
    }

    /// The node tells something, without anything following by itself.
    pub(crate) fn report(&mut self, node: NodeId, token: AttemptToken, news: News) {
        let agent = self.agent(node);
        let stage = match &news {
            News::Accepted => Some(Stage::Accepted),
            News::Started | News::Progressed { .. } => Some(Stage::Executing(std::time::Duration::ZERO)),
            News::Finished(_) => Some(Stage::Over),
        };
        if let Some(stage) = stage {
            agent.held.retain(|held| held.0 != token);
            agent.held.push((token, stage));
        }
        let report = Report { node, session: agent.session, beat: agent.beat + 1, token, news };
        self.cell.handle(self.both(), Event::Report(Box::new(report)));
    }

    /// The current attempt of a run and the node that has it.
    pub(crate) fn attempt(&self, run: RunId) -> (NodeId, AttemptToken) {
        let status = self.cell.run(run).expect("a run in memory").status;
        (status.node.expect("a run that was placed"), status.token(run))
    }

    pub(crate) fn accept(&mut self, run: RunId) {
        let (node, token) = self.attempt(run);
        self.report(node, token, News::Accepted);
        self.settle();
    }

    pub(crate) fn start(&mut self, run: RunId) {
        let (node, token) = self.attempt(run);
        self.report(node, token, News::Started);
        self.settle();
    }

    pub(crate) fn progress(&mut self, run: RunId, permille: u16, checkpoint: Option<&[u8]>) {
        let (node, token) = self.attempt(run);
        let progress = Some(Progress { permille, message: "on the way".into() });
        self.report(node, token, News::Progressed { progress, checkpoint: checkpoint.map(Payload::from) });
        self.settle();
    }

    /// The run's attempt ends well.
    pub(crate) fn finish(&mut self, run: RunId) {
        self.end(run, Cause::Exit { code: 0 });
    }

    /// The run's attempt ends with this cause.
    pub(crate) fn end(&mut self, run: RunId, cause: Cause) {
        let (node, token) = self.attempt(run);
        self.report(node, token, News::Finished(ending(cause)));
        self.settle();
    }

    /// The run's attempt ends because the owner said stop.
    pub(crate) fn stopped(&mut self, run: RunId) {
        let (node, token) = self.attempt(run);
        let ending = Ending { stopped: true, ..ending(Cause::Signal { signal: 15 }) };
        self.report(node, token, News::Finished(ending));
        self.settle();
    }
}

/// An ordinary ending.
pub(crate) fn ending(cause: Cause) -> Ending {
    Ending::of(cause)
}
