//! A cell with nodes and work, driven as a shell drives it, with a store that accepts everything.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mainspring_engine::{
    Cell, Config, Ending, Event, Hello, Message, News, Now, OwnLease, Report, RequestId, ShelfRead,
    Submission, Tenure, TriggersRead, priority_of,
};
use mainspring_model::spec::{Body, Process};
use mainspring_model::{
    AttemptToken, Cause, CellId, Elapsed, Epoch, JobId, JobSpec, Labels, Namespace, Node, NodeId, NodeState,
    Resources, RunHead, RunId, Timestamp, Usage, hash,
};
use mainspring_store::Outcome;

const NAMESPACES: usize = 10;
const SHAPES_PER_JOB: usize = 2;
const CYCLE: Duration = Duration::from_micros(5);
const SESSION: u64 = 1;
const SUBMISSIONS_PER_COMMIT: usize = 1_000;
/// Versions from here on ask for more than a node has.
const VERSION_TOO_LARGE: u32 = 1_000;

/// What the backlog waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Situation {
    /// For a node to be freed.
    Full,
    /// For nodes larger than any.
    Roomy,
}

impl Situation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Full => "full cluster",
            Self::Roomy => "cluster with room",
        }
    }
}

/// Whether a run fits a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Fitting,
    TooLarge,
}

/// A cell and everything around it.
pub(super) struct Cluster {
    cell: Cell,
    situation: Situation,
    now: Timestamp,
    shapes: Vec<Shape>,
    submitted: u64,
    nodes: usize,
    /// Ordered attempts, the oldest first.
    executing: VecDeque<(NodeId, AttemptToken)>,
    finished: u64,
}

/// What the runs of one job version have in common.
struct Shape {
    namespace: Namespace,
    job: JobId,
    version: u32,
    spec: Arc<JobSpec>,
    /// The same, but no node is large enough.
    too_large: Arc<JobSpec>,
    submitted_by: Arc<str>,
}

impl Cluster {
    /// A loaded cell with nodes and no work.
    pub(super) fn new(situation: Situation, nodes: usize, shapes: usize) -> Self {
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        let tenure = Tenure {
            epoch: Epoch(1),
            lease: OwnLease { until: Elapsed::MAX, extends_until: Elapsed::MAX },
            succeeds_other: false,
            nodes: Vec::new(),
            pause: None,
            memories: Vec::new(),
        };
        let mut cluster = Self {
            cell: Cell::new(Config { waiting_max: 1_000_000, ..Config::default() }, tenure, both(now)),
            situation,
            now,
            shapes: Vec::new(),
            submitted: 0,
            nodes,
            executing: VecDeque::new(),
            finished: 0,
        };
        cluster.settle();
        assert!(cluster.cell.is_loaded(), "an empty store is loaded at once");
        for n in 0..nodes {
            cluster.join(n);
        }
        cluster.settle();
        cluster.shapes = (0..shapes).map(Shape::new).collect();
        cluster
    }

    fn join(&mut self, n: usize) {
        let node = Node {
            id: NodeId::new(self.now, n as u128),
            cell: CellId(0),
            name: format!("node-{n}").into(),
            pool: "default".into(),
            labels: Labels::new(),
            capacity: Resources { cpu_milli: 8_000, memory_bytes: 32 << 30, ..Resources::ZERO },
            slots: 16,
            weight: 1,
            handlers: Vec::new(),
            state: NodeState::Up,
            revision: 0,
            joined_at: self.now,
            updated_at: self.now,
        };
        let hello = Hello { node, session: SESSION, beat: 1, held: Vec::new() };
        self.cell.handle(both(self.now), Event::Hello(Box::new(hello)));
    }

    /// Gives the nodes attempts: all they take, or one for each, so that there is room for more.
    pub(super) fn occupy(&mut self) {
        let mut submitted = 0;
        while match self.situation {
            Situation::Full => self.cell.waiting() == 0,
            Situation::Roomy => submitted < self.nodes,
        } {
            let request = self.request(Size::Fitting);
            self.cell.handle(both(self.now), request);
            submitted += 1;
        }
        self.settle();
    }

    /// Submits until so many runs wait, and settles.
    pub(super) fn fill(&mut self, waiting: usize) {
        let size = match self.situation {
            Situation::Full => Size::Fitting,
            Situation::Roomy => Size::TooLarge,
        };
        while self.cell.waiting() < waiting {
            for _ in 0..SUBMISSIONS_PER_COMMIT.min(waiting - self.cell.waiting()) {
                let request = self.request(size);
                self.cell.handle(both(self.now), request);
            }
            self.settle();
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.cell.waiting()
    }

    /// Submissions that are still to be made.
    pub(super) fn requests(&mut self, count: usize) -> Vec<Event> {
        (0..count).map(|_| self.request(Size::Fitting)).collect()
    }

    /// One cycle for each request, then one commit.
    pub(super) fn cycles(&mut self, requests: Vec<Event>) {
        for request in requests {
            self.now = self.now + CYCLE;
            self.cell.handle(both(self.now), request);
            if let Some((node, token)) = self.executing.pop_front() {
                self.finished += 1;
                self.cell.handle(both(self.now), finished(node, token));
            }
        }
        self.cell.handle(both(self.now), Event::Tick);
        self.settle();
    }

    /// What was measured was really done.
    pub(super) fn check(&self) {
        let stats = self.cell.stats();
        assert_eq!(stats.submitted, self.submitted);
        assert_eq!(stats.ended, self.finished);
        assert_eq!(stats.placed, self.finished + self.executing.len() as u64);
        assert_eq!(
            self.cell.waiting() as u64 + stats.placed,
            self.submitted,
            "every run waits or was placed"
        );
        assert_eq!(stats.stale_tokens, 0);
    }

    /// Commits and answers until nothing is left to do.
    fn settle(&mut self) {
        loop {
            self.listen();
            let Some(batch) = self.cell.cut() else { break };
            let outcomes = vec![Outcome::Applied; batch.transaction.writes.len()];
            drop(batch);
            self.cell.committed(both(self.now), &outcomes);
        }
        self.listen();
    }

    fn listen(&mut self) {
        for message in self.cell.take_messages() {
            match message {
                Message::Start(order) => self.executing.push_back((order.node, order.token)),
                Message::Read(query) => {
                    let read = ShelfRead { query, rows: Vec::new(), more: false };
                    self.cell.handle(both(self.now), Event::ShelfRead(Box::new(read)));
                    self.listen();
                }
                Message::ReadTriggers(query) => {
                    let read = TriggersRead { query, rows: Vec::new(), more: false };
                    self.cell.handle(both(self.now), Event::TriggersRead(Box::new(read)));
                    self.listen();
                }
                _ => {}
            }
        }
    }

    fn request(&mut self, size: Size) -> Event {
        self.submitted += 1;
        let n = self.submitted;
        let shape = &self.shapes[(hash::mix(n) % self.shapes.len() as u64) as usize];
        let (spec, version) = match size {
            Size::Fitting => (shape.spec.clone(), shape.version),
            Size::TooLarge => (shape.too_large.clone(), shape.version + VERSION_TOO_LARGE),
        };
        let head = RunHead {
            id: RunId::new(self.now, u128::from(n)),
            namespace: shape.namespace.clone(),
            job: shape.job,
            job_version: version,
            inline_spec: None,
            idempotency_key: None,
            priority: priority_of(&spec),
            created_at: self.now,
            not_before: None,
            deadline: None,
            params: format!(r#"{{"day":"2026-01-01","part":{n}}}"#).into_bytes().into(),
            keys: None,
            submitted_by: shape.submitted_by.clone(),
            fired: None,
            overlap: Default::default(),
        };
        Event::Submit(Box::new(Submission { request: RequestId(n), head, spec, pause: None }))
    }
}

/// Both clocks: here they never differ.
fn both(now: Timestamp) -> Now {
    Now { elapsed: Elapsed::from_micros(now.as_micros()), store: now }
}

fn finished(node: NodeId, token: AttemptToken) -> Event {
    let ending = Ending {
        cause: Cause::Exit { code: 0 },
        stopped: false,
        begun_ago: Some(CYCLE),
        result: None,
        usage: Usage { cpu_us: 1_000, memory_peak_bytes: 1 << 20, silent: false },
    };
    let news = News::Finished(ending);
    Event::Report(Box::new(Report { node, session: SESSION, beat: 2, token, news }))
}

impl Shape {
    fn new(n: usize) -> Self {
        let job = n / SHAPES_PER_JOB;
        let name = format!("job-{job}").parse().expect("a name");
        let mut spec = JobSpec::new(name, Body::Process(Process::new("true")));
        spec.resources.cpu_milli = 250 + 10 * n as u64;
        spec.resources.memory_bytes = (64 + n as u64) << 20;
        let mut too_large = spec.clone();
        too_large.resources.cpu_milli += 1_000_000;
        Self {
            namespace: format!("team-{}", job % NAMESPACES).parse().expect("a namespace"),
            job: JobId::new(Timestamp::ZERO, job as u128),
            version: 1 + (n % SHAPES_PER_JOB) as u32,
            spec: Arc::new(spec),
            too_large: Arc::new(too_large),
            submitted_by: "bench".into(),
        }
    }
}
