//! The users: they submit runs, repeat what was not answered, cancel some, and remember every promise.

use std::collections::BTreeSet;

use mainspring_engine::{Answer, Event, LoadedRun, RequestId};
use mainspring_model::{CellId, ErrorCode, RunHead, RunId, RunState, Timestamp};
use mainspring_store_mem::MemCore;

use crate::checker::Violation;
use crate::jobs::{Nature, SUBMITTED, SimJob};
use crate::plan::{BUSY_UNTIL, Plan, SECOND};
use crate::rng::Rng;
use crate::trace::Trace;
use crate::world::ToScheduler;

const PATIENCE: i64 = 3 * SECOND;
/// A run without a key is sent once: what became of it is not known.
const KEYED_PERCENT: u64 = 95;

/// A run that a user wants.
#[derive(Debug)]
struct Wish {
    job: usize,
    keyed: bool,
    k: usize,
    submit_at: i64,
    not_before: Option<i64>,
    deadline: Option<i64>,
    cancel_at: Option<i64>,
    tried_at: Option<i64>,
    tries: u32,
    acknowledged: Option<RunId>,
}

/// All users.
#[derive(Debug)]
pub(crate) struct Client {
    wishes: Vec<Wish>,
    jobs: Vec<SimJob>,
    rng: Rng,
    cancelled: BTreeSet<u64>,
}

impl Client {
    pub(crate) fn new(plan: &Plan, jobs: &[SimJob]) -> Self {
        let mut rng = Rng::new(plan.seed, "client");
        let wishes = (0..plan.runs)
            .map(|_| {
                let submit_at = rng.range(SECOND, BUSY_UNTIL);
                let job = pick_job(&mut rng, jobs);
                let not_before = rng.chance(15).then(|| submit_at + rng.range(0, 60 * SECOND));
                let deadline = rng.chance(12).then(|| submit_at + rng.range(2 * SECOND, 90 * SECOND));
                let cancel_at = rng.chance(8).then(|| submit_at + rng.range(0, 20 * SECOND));
                let keyed = rng.chance(KEYED_PERCENT);
                let k = rng.index(3);
                Wish {
                    job,
                    keyed,
                    k,
                    submit_at,
                    not_before,
                    deadline,
                    cancel_at,
                    tried_at: None,
                    tries: 0,
                    acknowledged: None,
                }
            })
            .collect();
        Self { wishes, jobs: jobs.to_vec(), rng, cancelled: BTreeSet::new() }
    }

    /// What the users do now.
    pub(crate) fn act(&mut self, now: i64, schedulers: usize) -> Vec<(usize, ToScheduler)> {
        let mut doings = Vec::new();
        for (request, wish) in self.wishes.iter_mut().enumerate() {
            let request = request as u64;
            let again = match wish.tried_at {
                None => wish.submit_at <= now,
                Some(at) => wish.keyed && at + PATIENCE <= now,
            };
            if wish.acknowledged.is_none() && again {
                wish.tried_at = Some(now);
                wish.tries += 1;
                doings.push((self.rng.index(schedulers), ToScheduler::Submit { request }));
            }
            if wish.acknowledged.is_some()
                && wish.cancel_at.is_some_and(|at| at <= now)
                && !self.cancelled.contains(&request)
            {
                // To everybody: only the owner listens. Repeated until answered.
                for scheduler in 0..schedulers {
                    doings.push((scheduler, ToScheduler::Cancel { request: CANCEL + request }));
                }
            }
        }
        doings
    }

    /// The run that a request asks for. Every try has an id of its own, as every real request has.
    pub(crate) fn head(&self, now: i64, request: u64, rng: &mut Rng) -> (RunHead, usize) {
        let wish = &self.wishes[request as usize];
        let sim = &self.jobs[wish.job];
        let at = Timestamp::from_micros(now);
        let id = RunId::new(at, rng.bits());
        let head = RunHead {
            id,
            namespace: sim.job.namespace.clone(),
            job: sim.job.id,
            job_version: 1,
            inline_spec: None,
            idempotency_key: wish.keyed.then(|| format!("wish-{request}").into()),
            priority: mainspring_engine::priority_of(&sim.spec),
            created_at: at,
            not_before: wish.not_before.map(Timestamp::from_micros),
            deadline: wish.deadline.map(Timestamp::from_micros),
            params: format!("{{\"k\":\"k{}\"}}", wish.k).into_bytes().into(),
            keys: None,
            submitted_by: "client".into(),
            fired: None,
            overlap: Default::default(),
        };
        (head, wish.job)
    }

    /// The cancel request as an event, with the row that the server reads when the run is not in memory.
    pub(crate) fn cancel_event(&self, request: u64, core: &MemCore, cells: u16) -> Option<(CellId, Event)> {
        let wish = &self.wishes[(request - CANCEL) as usize];
        let run = core.run(wish.acknowledged?)?.clone();
        let sim = &self.jobs[wish.job];
        let id = run.head.id;
        let home = CellId::of(&run.head.namespace, cells);
        let cell = if run.status.state.is_terminal() { home } else { run.status.cell };
        let row = Box::new(LoadedRun { run, spec: sim.readable.then(|| sim.spec.clone()), pause: None });
        let kill = request.is_multiple_of(2);
        Some((
            cell,
            Event::Cancel { request: RequestId(request), run: id, row: Some(row), by: "user".into(), kill },
        ))
    }

    /// A scheduler answered.
    pub(crate) fn answered(
        &mut self,
        now: i64,
        request: u64,
        answer: &Answer,
        trace: &mut Trace,
    ) -> Result<(), Violation> {
        if request >= CANCEL {
            let settled = match answer {
                Answer::Done => true,
                Answer::Refused { code, .. } => *code == ErrorCode::IllegalState,
                Answer::Submitted { .. } => false,
            };
            if settled {
                self.cancelled.insert(request - CANCEL);
            }
            return Ok(());
        }
        let wish = &mut self.wishes[request as usize];
        let Answer::Submitted { run, .. } = answer else {
            // Refused is known not to be done: ask again, key or not.
            if wish.acknowledged.is_none() {
                wish.tried_at = None;
            }
            return Ok(());
        };
        trace.say(now, format_args!("client: wish {request} is {run}"));
        if let Some(earlier) = wish.acknowledged
            && earlier != *run
            && wish.keyed
        {
            return Err(Violation {
                invariant: "I5",
                what: format!("one key was acknowledged as {earlier} and as {run}"),
                about: vec![run.to_string(), earlier.to_string()],
            });
        }
        wish.acknowledged = Some(*run);
        Ok(())
    }

    /// Everything that was wished for has been asked.
    pub(crate) fn is_done(&self, now: i64) -> bool {
        now > BUSY_UNTIL + SECOND && self.wishes.iter().all(|wish| wish.acknowledged.is_some() || !wish.keyed)
    }

    /// Every acknowledged run has ended, but for those that cannot.
    pub(crate) fn all_ended(&self, core: &MemCore) -> bool {
        self.unfinished(core).is_empty()
    }

    /// Acknowledged runs that should have ended and have not.
    pub(crate) fn unfinished(&self, core: &MemCore) -> Vec<RunId> {
        let acknowledged = self.wishes.iter().filter_map(|wish| wish.acknowledged.map(|run| (wish, run)));
        acknowledged
            .filter(|(wish, run)| match core.run(*run).map(|row| row.status.state) {
                None => true,
                Some(state) => !state.is_terminal() && !self.may_wait(wish, state),
            })
            .map(|(_, run)| run)
            .collect()
    }

    /// What can be placed nowhere waits for ever, and a job that kills its nodes is kept off them; but not behind a deadline.
    fn may_wait(&self, wish: &Wish, state: RunState) -> bool {
        let nature = self.jobs[wish.job].nature;
        wish.deadline.is_none()
            && matches!(nature, Nature::Impossible | Nature::KillsNode)
            && state == RunState::Waiting
    }

    /// Of 100 submissions, so many were acknowledged.
    pub(crate) fn acknowledged_percent(&self) -> u64 {
        let acknowledged = self.wishes.iter().filter(|wish| wish.acknowledged.is_some()).count();
        (acknowledged * 100 / self.wishes.len().max(1)) as u64
    }
}

/// Requests from here on are cancels.
const CANCEL: u64 = 1 << 32;

fn pick_job(rng: &mut Rng, jobs: &[SimJob]) -> usize {
    loop {
        let job = rng.index(jobs.len().min(SUBMITTED));
        let rare = !jobs[job].readable || matches!(jobs[job].nature, Nature::KillsNode | Nature::Impossible);
        if !rare || rng.chance(15) {
            return job;
        }
    }
}
