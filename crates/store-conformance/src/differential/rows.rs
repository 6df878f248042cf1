//! Random rows over few ids, keys and names. Any row is legal on its own; whether it fits is the stores' to say.

use std::sync::Arc;

use mainspring_model::{
    Attempt, CancelRequest, CellId, CounterKey, Counts, Epoch, Job, JobVersion, Member, MemberId, Namespace,
    Node, NodeState, Place, Progress, Run, RunEvent, RunExtra, RunKeys, RunState, RunStatus, Shelf,
    Timestamp, Usage,
};
use mainspring_store::{Record, RecordKey, RecordKind};

use super::seeded::Seeded;
use crate::fixture::{
    at_micros, attempt, counter_key, event, every_cause, every_event, every_reason, job, job_id, job_version,
    member_id, namespace, node, node_id, pause, run_id, run_with,
};

pub(super) const RUNS: u64 = 48;
pub(super) const JOBS: u64 = 6;
pub(super) const NODES: u64 = 5;
pub(super) const CELLS: u64 = 3;
const SPACES: [&str; 5] = ["acme", "acme/data", "acme2", "a_b", "axb/c"];
const KEYS: [&str; 9] = ["", "k", "K", "k ", "\u{e9}", "e\u{301}", "k\0", "🚀", "k%"];

/// Keys that are prefixes of each other, and bytes at the edges.
const RECORD_KEYS: [&[u8]; 9] =
    [b"a", b"a/", b"a/1", b"a/2", b"a0", b"\0", b"\xff", b"\xff\xff", b"\xc3\xa9"];

pub(super) fn record_kind(random: &mut Seeded) -> RecordKind {
    random.pick(&[RecordKind(0), RecordKind(7), RecordKind(u16::MAX)])
}

pub(super) fn record_key(random: &mut Seeded) -> RecordKey {
    random.pick(&RECORD_KEYS).into()
}

pub(super) fn record_row(random: &mut Seeded, kind: RecordKind, key: RecordKey, revision: u64) -> Record {
    Record { kind, key, revision, expires_at: random.maybe(50, moment), value: bytes(random) }
}

pub(super) fn space(random: &mut Seeded) -> Namespace {
    namespace(random.pick(&SPACES))
}

pub(super) fn key(random: &mut Seeded) -> Box<str> {
    random.pick(&KEYS).into()
}

pub(super) fn cell(random: &mut Seeded) -> CellId {
    CellId(random.below(CELLS) as u16)
}

pub(super) fn member(random: &mut Seeded) -> MemberId {
    member_id(random.below(3))
}

/// Mostly near the fixture's moments, now and then at the edge of time.
pub(super) fn moment(random: &mut Seeded) -> Timestamp {
    match random.below(20) {
        0 => Timestamp::from_micros(i64::MIN),
        1 => Timestamp::MAX,
        2 => Timestamp::from_micros(-1),
        3 => Timestamp::ZERO,
        _ => at_micros(random.below(RUNS * 1000) as i64),
    }
}

pub(super) fn rank(random: &mut Seeded) -> i64 {
    match random.below(12) {
        0 => i64::MIN,
        1 => i64::MAX,
        n => n as i64 - 6,
    }
}

fn bytes(random: &mut Seeded) -> Arc<[u8]> {
    let length = if random.percent(5) { 5000 } else { random.below(40) };
    (0..length).map(|_| random.number() as u8).collect()
}

pub(super) fn run(random: &mut Seeded, epoch: Epoch) -> Run {
    let job = random.below(JOBS);
    run_with(random.below(RUNS), |head, status| {
        head.namespace = space(random);
        head.job = job_id(job);
        head.job_version = random.number() as u32;
        head.inline_spec = random.maybe(20, bytes);
        head.idempotency_key = random.maybe(40, key);
        head.priority = random.number() as u16;
        head.created_at = moment(random);
        head.not_before = random.maybe(30, moment);
        head.deadline = random.maybe(30, moment);
        head.params = bytes(random);
        head.keys = random.maybe(30, |random| {
            Box::new(RunKeys { concurrency: "c".into(), rate: key(random), hash: key(random) })
        });
        let version = 1 + random.below(3);
        *status = self::status(random, version, epoch);
    })
}

pub(super) fn status(random: &mut Seeded, version: u64, epoch: Epoch) -> RunStatus {
    let state = random.pick(&RunState::ALL);
    let place = Place { shelf: random.pick(&Shelf::ALL), rank: rank(random) };
    RunStatus {
        cell: cell(random),
        version,
        epoch,
        state,
        place: (!state.is_terminal()).then_some(place),
        attempt: random.number() as u32,
        attempt_epoch: Epoch(random.below(9)),
        losses: random.below(9) as u32,
        node: random.maybe(50, |random| node_id(random.below(NODES))),
        eligible_at: random.maybe(50, moment),
        placed_at: random.maybe(50, moment),
        started_at: random.maybe(50, moment),
        finished_at: random.maybe(50, moment),
        cause: random.maybe(40, |random| random.pick(&every_cause())),
        reason: random.maybe(40, |random| Box::new(random.pick(&every_reason()))),
        extra: random.maybe(30, |random| Box::new(extra(random))),
    }
}

/// Never without anything in it: a store may keep such an extra as none.
fn extra(random: &mut Seeded) -> RunExtra {
    RunExtra {
        cancel: random.maybe(30, |random| CancelRequest { by: key(random), at: moment(random), kill: true }),
        failed_nodes: (0..random.below(4)).map(node_id).collect(),
        progress: random.maybe(30, |random| Progress { permille: 7, message: key(random) }),
        checkpoint: random.maybe(30, bytes),
        result: random.maybe(30, bytes),
        usage: Usage {
            cpu_us: 1 + random.below(1 << 40),
            memory_peak_bytes: random.below(1 << 50),
            silent: random.below(2) == 1,
        },
        begun_at: random.maybe(30, moment),
        queued_at: random.maybe(30, moment),
        maybe_doubled: random.percent(30),
        hops: random.below(9) as u16,
        priority: random.maybe(30, |random| random.below(1 << 16) as u16),
    }
}

pub(super) fn job_row(random: &mut Seeded, n: u64, revision: u64) -> Job {
    Job {
        namespace: space(random),
        name: key(random),
        current_version: random.below(5) as u32,
        revision,
        pause: random.maybe(30, |random| pause(random.pick(&KEYS))),
        updated_at: moment(random),
        ..job(n)
    }
}

pub(super) fn node_row(random: &mut Seeded, n: u64, revision: u64) -> Node {
    let states =
        [NodeState::Up, NodeState::Lost, NodeState::Left, NodeState::Draining { deadline: moment(random) }];
    Node {
        cell: cell(random),
        name: key(random),
        slots: random.number() as u32,
        handlers: (0..random.below(3)).map(|n| format!("handler-{n}").into()).collect(),
        state: random.pick(&states),
        revision,
        updated_at: moment(random),
        ..node(n)
    }
}

pub(super) fn attempt_row(random: &mut Seeded) -> Attempt {
    let (run, number) = (run_id(random.below(RUNS)), random.below(3) as u32);
    Attempt {
        started_at: random.maybe(50, moment),
        cause: random.pick(&every_cause()),
        ..attempt(run, number)
    }
}

pub(super) fn event_row(random: &mut Seeded) -> RunEvent {
    let (run, version) = (run_id(random.below(RUNS)), random.below(3));
    let ordinal = random.below(2) as u16;
    RunEvent { at: moment(random), kind: random.pick(&every_event()), ..event(run, version, ordinal) }
}

pub(super) fn version_row(random: &mut Seeded) -> JobVersion {
    let (job, version) = (random.below(JOBS), random.below(4) as u32);
    JobVersion { created_at: moment(random), created_by: key(random), ..job_version(job, version) }
}

/// A job belongs to one namespace, so its roll-ups do.
pub(super) fn counts(random: &mut Seeded) -> (CounterKey, Counts) {
    let job = random.below(JOBS);
    let space = namespace(SPACES[job as usize % SPACES.len()]);
    let key = CounterKey { namespace: space, ..counter_key(job, random.below(8) as i64 - 2) };
    let counts = Counts {
        success: random.below(5),
        attempts: random.below(5),
        running_us: random.below(1 << 40),
        ..Counts::default()
    };
    (key, counts)
}

pub(super) fn member_row(random: &mut Seeded) -> Member {
    Member {
        id: member(random),
        address: key(random),
        seen_at: moment(random),
        load: random.below(1 << 50),
        software: "1".into(),
    }
}
