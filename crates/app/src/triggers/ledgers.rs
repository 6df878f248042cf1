//! The ledgers of many triggers as one list, and counted. Every ledger is a range of records of its own, so the newest lines of
//! each are read and merged; how many ledgers and lines one request looks at has a limit, and the answer says `partial`.

use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use mainspring_engine::{Occurrence, Outcome, TriggerKey, TriggerRow};
use mainspring_model::{BackfillId, JobId, Namespace, Timestamp};
use mainspring_store::{RecordQuery, Store};
use mainspring_wire::api::{JobOccurrence, OccurrenceCounts, Occurrences};

use super::history::{Moments, view};
use crate::app::App;
use crate::error::Result;
use crate::limits::{LEDGER_TRIGGERS_LOOKED_AT_MAX, LEDGERS_READ_MAX, LINES_LOOKED_AT_MAX, PAGE_MAX};
use crate::operation::Operation;
use crate::paging::PageRequest;
use crate::principal::Caller;

/// Ledgers that are read at the same time.
const AT_ONCE: usize = 16;
/// Lines of a ledger that are read for a list.
const LINES_FIRST: usize = 20;
/// Fired later than this is late, when nobody says.
const LATE_DEFAULT: Duration = Duration::from_secs(60);

/// Rows of triggers, and whether there are more.
pub(super) struct Rows {
    pub(super) rows: Vec<TriggerRow>,
    pub(super) partial: bool,
}

impl App {
    /// What became of planned moments of all triggers that the caller may see, the newest first.
    pub async fn list_occurrences(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        moments: &Moments,
        request: &PageRequest,
    ) -> Result<Occurrences> {
        moments.check()?;
        let (limit, after): (usize, Option<Position>) = (request.rows()?, request.after()?);
        let Rows { rows, partial } =
            self.ledgers(caller, Operation::OccurrenceList, namespace, moments.from).await?;
        let ledgers = rows.into_iter().map(|row| Ledger::new(row, after.as_ref(), moments.until));
        let mut lines = Merged::read(&*self.store, ledgers.collect()).await?;
        let (mut found, mut looked_at, mut last, mut is_more) = (Vec::new(), 0, None, false);
        while let Some((row, line)) = lines.next(&*self.store).await? {
            if moments.from.is_some_and(|from| line.planned < from) {
                break;
            }
            if found.len() == limit || looked_at == LINES_LOOKED_AT_MAX {
                is_more = true;
                break;
            }
            looked_at += 1;
            last = Some(Position::of(&row.key, &line));
            if moments.passes(&line) {
                found.push((row, line));
            }
        }
        let keys: Vec<(JobId, u32)> = found.iter().map(|(row, _)| (row.key.job, row.state.version)).collect();
        let specs = self.find_versions(&keys).await?;
        let item = |(row, line): (Arc<TriggerRow>, Occurrence)| JobOccurrence {
            namespace: row.state.namespace.clone(),
            job: row.key.job,
            job_name: specs
                .get(&(row.key.job, row.state.version))
                .map_or_else(String::new, |spec| spec.name.to_string()),
            trigger: row.key.name.to_string(),
            occurrence: view(line),
        };
        Ok(Occurrences {
            items: found.into_iter().map(item).collect(),
            next_cursor: last.filter(|_| is_more).map(|last| last.to_string()),
            partial,
        })
    }

    /// How many planned moments became what.
    pub async fn count_occurrences(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        moments: &Moments,
        late_ms: Option<u64>,
    ) -> Result<OccurrenceCounts> {
        moments.check()?;
        let late = late_ms.map_or(LATE_DEFAULT, Duration::from_millis);
        let Rows { rows, partial } =
            self.ledgers(caller, Operation::OccurrenceCount, namespace, moments.from).await?;
        let mut counts = OccurrenceCounts { partial, ..OccurrenceCounts::default() };
        let mut left = LINES_LOOKED_AT_MAX;
        let mut open: Vec<Ledger> =
            rows.into_iter().map(|row| Ledger::new(row, None, moments.until)).collect();
        while !open.is_empty() && left > 0 {
            let rest = open.split_off(AT_ONCE.min(open.len()));
            let read = open.iter_mut().map(|ledger| ledger.fill(&*self.store, PAGE_MAX.min(left)));
            join_all(read).await.into_iter().collect::<Result<Vec<()>>>()?;
            for ledger in &mut open {
                left = left.saturating_sub(ledger.lines.len());
                for line in ledger.lines.drain(..) {
                    match moments.from.is_some_and(|from| line.planned < from) {
                        true => ledger.is_read = true,
                        false => count(&mut counts, &line, late),
                    }
                }
            }
            open.retain(|ledger| !ledger.is_read);
            open.extend(rest);
        }
        counts.partial |= !open.is_empty();
        Ok(counts)
    }

    /// The triggers that the caller may see and that may have accounted for moments from this one on, the most recent first.
    async fn ledgers(
        &self,
        caller: &Caller,
        operation: Operation,
        namespace: Option<&Namespace>,
        from: Option<Timestamp>,
    ) -> Result<Rows> {
        let has_lines =
            |row: &TriggerRow| row.state.moved.is_some() || from.is_none_or(|from| row.state.cursor >= from);
        let Rows { mut rows, mut partial } =
            self.trigger_rows(caller, operation, namespace, has_lines).await?;
        rows.sort_by_key(|row| std::cmp::Reverse(row.state.cursor));
        partial |= rows.len() > LEDGERS_READ_MAX;
        rows.truncate(LEDGERS_READ_MAX);
        Ok(Rows { rows, partial })
    }

    /// The triggers that the caller may see and that pass, among as many as one request looks at.
    pub(super) async fn trigger_rows(
        &self,
        caller: &Caller,
        operation: Operation,
        namespace: Option<&Namespace>,
        passes: impl Fn(&TriggerRow) -> bool,
    ) -> Result<Rows> {
        self.places(caller, operation, namespace).await?;
        let mine = |row: &TriggerRow| {
            let place = &row.state.namespace;
            namespace.is_none_or(|outer| place.is_within(outer))
                && caller.principal.may(operation, Some(place))
        };
        let mut query = RecordQuery { limit: PAGE_MAX, ..RecordQuery::all(TriggerRow::KIND, PAGE_MAX) };
        let (mut rows, mut looked_at) = (Vec::new(), 0);
        loop {
            let page = self.store.records(query.clone()).await?;
            looked_at += page.rows.len();
            rows.extend(page.rows.iter().filter_map(TriggerRow::read).filter(|row| mine(row) && passes(row)));
            match page.rows.last().filter(|_| page.more) {
                None => return Ok(Rows { rows, partial: false }),
                Some(_) if looked_at >= LEDGER_TRIGGERS_LOOKED_AT_MAX => {
                    return Ok(Rows { rows, partial: true });
                }
                Some(last) => query.after = Some(last.key.clone()),
            }
        }
    }
}

fn count(counts: &mut OccurrenceCounts, line: &Occurrence, late: Duration) {
    if line.by_hand || line.backfill.is_some() {
        return;
    }
    let count = line.count.unwrap_or(1);
    counts.partial |= line.count.is_none();
    match line.outcome {
        Outcome::Fired => {
            counts.fired += count;
            counts.late += u64::from(line.at.since(line.planned) > late);
        }
        Outcome::Merged => counts.merged += count,
        Outcome::Skipped => counts.skipped += count,
        Outcome::Missed => counts.missed += count,
    }
}

/// Where a list of many ledgers is: later moments come first; of one moment, by job, trigger and backfill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    planned: Timestamp,
    job: JobId,
    name: Arc<str>,
    backfill: Option<BackfillId>,
}

impl Position {
    fn of(key: &TriggerKey, line: &Occurrence) -> Self {
        Self { planned: line.planned, job: key.job, name: key.name.clone(), backfill: line.backfill }
    }

    /// Before which line a ledger goes on after this position.
    fn before(&self, key: &TriggerKey) -> (Timestamp, Option<BackfillId>) {
        match (key.job, &key.name).cmp(&(self.job, &self.name)) {
            std::cmp::Ordering::Less => (self.planned + Duration::from_micros(1), None),
            std::cmp::Ordering::Equal => (self.planned, self.backfill),
            std::cmp::Ordering::Greater => (self.planned, None),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backfill = self.backfill.map(|backfill| backfill.to_string()).unwrap_or_default();
        write!(f, "{}:{}:{backfill}:{}", self.planned.as_micros(), self.job, self.name)
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let parts: Vec<&str> = text.splitn(4, ':').collect();
        let [planned, job, backfill, name] = parts[..] else { return Err(()) };
        let backfill = if backfill.is_empty() { None } else { Some(backfill.parse().map_err(drop)?) };
        let planned = Timestamp::from_micros(planned.parse().map_err(drop)?);
        Ok(Self { planned, job: job.parse().map_err(drop)?, name: name.into(), backfill })
    }
}

/// A ledger that is read from its newest line on.
struct Ledger {
    row: Arc<TriggerRow>,
    lines: VecDeque<Occurrence>,
    before: Option<(Timestamp, Option<BackfillId>)>,
    /// Nothing follows the lines.
    is_read: bool,
}

impl Ledger {
    fn new(row: TriggerRow, after: Option<&Position>, until: Option<Timestamp>) -> Self {
        let after = after.map(|after| after.before(&row.key));
        let until = until.map(|until| (until, None));
        let before = match (after, until) {
            (Some(after), Some(until)) => Some(after.min(until)),
            (after, until) => after.or(until),
        };
        Self { row: Arc::new(row), lines: VecDeque::new(), before, is_read: false }
    }

    /// Reads the next lines.
    async fn fill(&mut self, store: &dyn Store, limit: usize) -> Result<()> {
        let page = store.records(self.row.key.occurrences(self.before, limit)).await?;
        self.lines.extend(page.rows.iter().filter_map(Occurrence::read));
        self.before = self.lines.back().map(|line| (line.planned, line.backfill)).or(self.before);
        self.is_read = !page.more || self.lines.is_empty();
        Ok(())
    }
}

/// Lines of many ledgers in one order.
struct Merged {
    ledgers: Vec<Ledger>,
    heads: BinaryHeap<(Position, usize)>,
}

impl Merged {
    async fn read(store: &dyn Store, ledgers: Vec<Ledger>) -> Result<Self> {
        let filled = stream::iter(ledgers)
            .map(|mut ledger| async move { ledger.fill(store, LINES_FIRST).await.map(|()| ledger) });
        let ledgers: Vec<Ledger> = filled.buffer_unordered(AT_ONCE).try_collect().await?;
        let mut merged = Self { heads: BinaryHeap::with_capacity(ledgers.len()), ledgers };
        (0..merged.ledgers.len()).for_each(|at| merged.show(at));
        Ok(merged)
    }

    /// The next line of a ledger takes part.
    fn show(&mut self, at: usize) {
        let ledger = &self.ledgers[at];
        if let Some(line) = ledger.lines.front() {
            self.heads.push((Position::of(&ledger.row.key, line), at));
        }
    }

    async fn next(&mut self, store: &dyn Store) -> Result<Option<(Arc<TriggerRow>, Occurrence)>> {
        let Some((_, at)) = self.heads.pop() else { return Ok(None) };
        let ledger = &mut self.ledgers[at];
        let line = ledger.lines.pop_front();
        if ledger.lines.is_empty() && !ledger.is_read {
            ledger.fill(store, PAGE_MAX).await?;
        }
        let row = ledger.row.clone();
        self.show(at);
        Ok(line.map(|line| (row, line)))
    }
}
