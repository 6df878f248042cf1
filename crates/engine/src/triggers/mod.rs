//! Triggers: what fires by itself, and the ledger of what was planned.
//!
//! In memory a trigger is its row: where it stands and when it is due. What it says is read from the store a moment before it
//! is due, and forgotten after. A firing is a run, a line of the ledger and the trigger's row in one transaction (I3); the
//! run's id follows from the trigger and the planned moment, so a second firing of it cannot exist (I1).
//!
//! - `row` is where a trigger stands, `ledger` what became of each moment; `merge` is what a new version of a job makes of rows.
//! - `catch_up` decides which moments fire: pure.
//! - `due` looks at a trigger whose time has come; `fire` makes its run.
//! - `backfill` makes up for moments of the past.
//! - `news` tells of what others changed; `calendars` hears of calendars that did.
//! - `call` takes calls of webhooks; `open` are those that have not begun.
//! - `needs` holds a moment back until other jobs have succeeded.
//! - `pending` are the ends that were not followed yet; `ends` follows them; `read` takes rows in; `command` does what people ask; `cut` writes.

mod backfill;
mod calendars;
mod call;
mod catch_up;
mod command;
mod cursor;
mod cut;
mod due;
mod ends;
mod fire;
mod ledger;
mod merge;
mod needs;
mod news;
mod open;
mod pending;
mod read;
mod row;

use std::collections::BTreeMap;
use std::sync::Arc;

use mainspring_model::{BackfillId, Calendars, JobId, JobSpec, Namespace, RunHead, RunId, Timestamp, hash};
use mainspring_store::Record;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::activity::NextFiring;
use crate::event::RequestId;
use crate::message::Answer;
use crate::pool::Pool;
use crate::timers::{Armed, Subject, Timers};

pub use backfill::{Backfill, MomentsQuery, MomentsRead, Tally};
pub use calendars::{calendar_news, calendar_news_key};
pub use call::HookCall;
pub use command::TriggerCommand;
pub use cursor::{Jumped, Moved};
pub(crate) use cut::{Line, PER_BATCH_MAX};
pub use ends::TriggerPaused;
pub use ledger::{Occurrence, Outcome};
pub use merge::{Merged, merge, news_key};
pub use needs::Success;
pub use pending::End;
pub use row::{Follows, TriggerKey, TriggerRow, TriggerState};

/// What is wanted of a trigger, and whom to answer.
type Asked = Vec<(RequestId, Wanted)>;

/// Why a trigger should fire now.
#[derive(Debug)]
enum Wanted {
    /// Somebody says so.
    ByHand(Box<str>),
    /// Its webhook was called.
    Call(Box<HookCall>),
}

/// An answer that waits until the row is written.
#[derive(Debug)]
enum Owed {
    /// About what holds whatever the trigger says from then on.
    Answer(RequestId, Box<Answer>),
    /// To a move of the cursor, which begins anew where the trigger does.
    Moved(cursor::Move),
}

impl Owed {
    fn done(request: RequestId) -> Self {
        Self::Answer(request, Box::new(Answer::Done))
    }

    fn request(&self) -> RequestId {
        match self {
            Self::Answer(request, _) => *request,
            Self::Moved(wanted) => wanted.request,
        }
    }

    fn answer(self) -> (RequestId, Answer) {
        match self {
            Self::Answer(request, answer) => (request, *answer),
            Self::Moved(wanted) => (wanted.request, Answer::Done),
        }
    }
}

/// A trigger in memory. There may be a million.
#[derive(Debug)]
pub(crate) struct Entry {
    row: TriggerRow,
    /// What its job says, while that is needed.
    spec: Option<Arc<JobSpec>>,
    armed: Armed,
    dirty: bool,
    in_flight: bool,
    /// Its last run waits and was never placed.
    waits: bool,
    /// Its row was changed by somebody else: it is read again before anything happens.
    stale: bool,
    /// Whoever wants it to fire now.
    asked: Option<Box<Asked>>,
}

const _: () = assert!(size_of::<Entry>() <= 208, "a trigger would cost more memory");

/// The triggers of a cell.
#[derive(Debug, Default)]
pub(crate) struct Triggers {
    entries: Pool<Entry>,
    by_key: BTreeMap<(JobId, u64), u32>,
    /// When each is looked at. Apart from other deadlines, so that thousands in one moment are taken bit by bit.
    pub(crate) timers: Timers,
    /// Those that follow the ends of a job.
    followers: FxHashMap<(Namespace, Box<str>), FxHashSet<u32>>,
    /// What those that need other jobs know of them.
    needs: needs::Needs,
    /// Each namespace and each name once: many are called alike.
    namespaces: FxHashSet<Namespace>,
    names: FxHashSet<Arc<str>>,
    /// Specifications to be read, and who waits for those under way.
    to_read: Vec<(JobId, u32)>,
    wanted: FxHashMap<(JobId, u32), Vec<u32>>,
    /// Ends that were not followed yet.
    pub(crate) pending: pending::Pending,
    /// Those whose cursor somebody wants elsewhere, and what the ledger says where it was moved back.
    moves: FxHashMap<u32, Vec<cursor::Move>>,
    books: FxHashMap<u32, cursor::Book>,
    /// What ended while the cell was being loaded.
    early: Vec<ends::Ended>,
    /// Since when this owner looks.
    since: Timestamp,
    /// Runs of calls that were read before the cell was loaded.
    pub(crate) early_calls: Vec<u32>,
    /// Runs of calls that are being inserted, by the key of the delivery.
    unbegun: FxHashMap<Box<str>, RunId>,
    /// The runs of deliveries that have begun since, and of those that turned out to be earlier ones.
    settled: open::Settled,
    /// The calls of triggers of which some have not begun.
    open: FxHashMap<u32, open::Open>,
    /// The calendars of those whose specification is known, and when they were read.
    calendars: FxHashMap<u32, (Timestamp, Calendars)>,
    /// Those of which something is being read that may be old.
    reread: FxHashSet<u32>,
    /// What was heard of calendars, and of jobs.
    calendar_news: news::News,
    news: news::News,
    /// Jobs whose rows are being read, and whether that is old by now.
    reading: FxHashMap<JobId, bool>,
    /// Requests that wait until the rows of a job, as they are now, are in memory.
    confirming: FxHashMap<JobId, Vec<RequestId>>,
    /// Backfills whose moments are being asked for.
    asking: FxHashMap<(u32, BackfillId), Vec<Timestamp>>,
    /// Backfills whose active runs may have ended under another owner.
    unsure: FxHashSet<(u32, BackfillId)>,
    /// The last moment that stands for a firing by hand, of those that follow ends.
    by_hand: FxHashMap<u32, Timestamp>,
    /// Who is answered when the row is written: with the next write of it, and with the one under way.
    replies: FxHashMap<u32, (Vec<Owed>, Vec<Owed>)>,
    /// What is wanted of triggers that were not known, while their job is read.
    unknown: FxHashMap<JobId, Vec<(RequestId, TriggerKey, TriggerCommand)>>,
}

impl Triggers {
    fn place(job: JobId, name: &str) -> (JobId, u64) {
        (job, hash::bytes(name.as_bytes()))
    }

    /// The revision of a trigger's row, once what is changed is written.
    pub(crate) fn revision(&self, key: &TriggerKey) -> Option<u64> {
        let ix = self.find(key.job, &key.name)?;
        let entry = &self.entries[ix];
        let changes = entry.dirty || self.moves.contains_key(&(ix as u32));
        Some(entry.row.revision + u64::from(changes))
    }

    /// How many triggers a job has, and the next planned moment of those that are not paused.
    pub(crate) fn next_of(&self, job: JobId) -> (usize, Option<NextFiring>) {
        let of_job = self.of_job(job);
        let next =
            of_job.iter().map(|ix| &self.entries[*ix].row).filter_map(|TriggerRow { key, state, .. }| {
                let planned = state.next.filter(|_| state.pause.is_none())?;
                let fires_at = state.fires_at.unwrap_or(planned);
                Some(NextFiring { trigger: key.name.as_ref().into(), planned, fires_at })
            });
        let next = next.min_by_key(|next| (next.fires_at, next.planned));
        (of_job.len(), next)
    }

    fn find(&self, job: JobId, name: &str) -> Option<usize> {
        let ix = *self.by_key.get(&Self::place(job, name))? as usize;
        (*self.entries[ix].row.key.name == *name).then_some(ix)
    }

    fn of_job(&self, job: JobId) -> Vec<usize> {
        self.by_key.range((job, 0)..=(job, u64::MAX)).map(|(_, ix)| *ix as usize).collect()
    }

    fn insert(&mut self, mut row: TriggerRow) -> usize {
        if row.state.is_called {
            // The ledger may have calls that the row does not count.
            row.state.moved.get_or_insert_default().put = true;
        }
        row.state.namespace = match self.namespaces.get(&row.state.namespace) {
            Some(known) => known.clone(),
            None => {
                self.namespaces.insert(row.state.namespace.clone());
                row.state.namespace
            }
        };
        row.key.name = match self.names.get(&row.key.name) {
            Some(known) => known.clone(),
            None => {
                self.names.insert(row.key.name.clone());
                row.key.name
            }
        };
        let place = Self::place(row.key.job, &row.key.name);
        let follows = Self::followed(&row.state);
        let ix = self.entries.insert(Entry {
            row,
            spec: None,
            armed: Armed::NOT,
            dirty: false,
            in_flight: false,
            waits: false,
            stale: false,
            asked: None,
        });
        self.by_key.insert(place, ix as u32);
        self.needs.insert(ix, &self.entries[ix].row.state);
        if let Some(job) = follows {
            self.followers.entry(job).or_default().insert(ix as u32);
        }
        ix
    }

    /// Takes a trigger out. Answers what is owed to those who wanted something of it.
    fn remove(&mut self, ix: usize) -> Vec<Owed> {
        let entry = &mut self.entries[ix];
        self.timers.disarm(&mut entry.armed, Subject::Trigger(ix));
        let asked = entry.asked.take().into_iter().flat_map(|asked| *asked);
        let held = self.open.remove(&(ix as u32)).into_iter().flat_map(|open| open.waiting);
        let mut owed: Vec<Owed> = asked.chain(held).map(|(request, _)| Owed::done(request)).collect();
        let place = Self::place(entry.row.key.job, &entry.row.key.name);
        let wanted = (entry.row.key.job, entry.row.state.version);
        if let Some(job) = Self::followed(&entry.row.state)
            && let Some(followers) = self.followers.get_mut(&job)
        {
            followers.remove(&(ix as u32));
            if followers.is_empty() {
                self.followers.remove(&job);
            }
        }
        self.by_key.remove(&place);
        self.needs.remove(ix, &self.entries[ix].row.state);
        self.calendars.remove(&(ix as u32));
        self.reread.remove(&(ix as u32));
        self.books.remove(&(ix as u32));
        self.asking.retain(|(of, _), _| *of != ix as u32);
        self.unsure.retain(|(of, _)| *of != ix as u32);
        self.by_hand.remove(&(ix as u32));
        if let Some(waiting) = self.wanted.get_mut(&wanted) {
            waiting.retain(|have| *have != ix as u32);
        }
        self.entries.remove(ix);
        let moves = self.moves.remove(&(ix as u32)).unwrap_or_default();
        owed.extend(moves.into_iter().map(Owed::Moved));
        let (waiting, under_way) = self.replies.remove(&(ix as u32)).unwrap_or_default();
        owed.extend(waiting.into_iter().chain(under_way));
        owed
    }

    /// The job whose ends a trigger follows.
    fn followed(state: &TriggerState) -> Option<(Namespace, Box<str>)> {
        state.after().map(|after| (state.namespace.clone(), after.job.as_str().into()))
    }

    /// Whether something follows the end of this run.
    pub(crate) fn follow(&self, head: &RunHead, job_name: &str) -> bool {
        let fired_by = head.fired.as_ref().and_then(|fired| self.find(head.job, &fired.trigger));
        self.followers.contains_key(&(head.namespace.clone(), job_name.into()))
            || self.needs.contains(&head.namespace, job_name)
            || head.fired.as_ref().is_some_and(|fired| fired.backfill.is_some())
            || fired_by.is_some_and(|ix| self.entries[ix].row.state.delay_us > 0)
    }

    /// How many are in memory.
    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }
}

/// A specification that was asked for.
#[derive(Debug, Clone)]
pub struct SpecRead {
    /// The job.
    pub job: JobId,
    /// The version.
    pub version: u32,
    /// What it says, or none when that is missing or damaged.
    pub spec: Option<Arc<JobSpec>>,
    /// Whether the job is paused.
    pub pause: Option<mainspring_model::JobPause>,
    /// The calendars that its triggers name, as far as they can be read.
    pub calendars: Calendars,
    /// The last successes of the jobs that its triggers need.
    pub successes: Vec<Success>,
}

/// Rows that were asked for.
#[derive(Debug, Clone)]
pub struct TriggersRead {
    /// What was asked.
    pub query: mainspring_store::RecordQuery,
    /// The records.
    pub rows: Vec<Record>,
    /// Whether more follow.
    pub more: bool,
}
