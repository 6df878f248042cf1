//! Reads by keyset: a page and where it ended. A page costs its own rows, however long the history. A limit
//! over [`mainspring_model::limits::PAGE_ROWS_MAX`] is invalid (see [`crate::check::rows`]).

use mainspring_model::{CellId, JobId, Namespace, RunId, RunState, Shelf, Timestamp};

/// Rows, and whether more follow.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The rows, in order.
    pub rows: Vec<T>,
    /// Whether the store had more than the limit allowed.
    pub more: bool,
}

/// Active runs of a cell on one shelf, ordered by (rank, id).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShelfQuery {
    /// The cell.
    pub cell: CellId,
    /// The shelf.
    pub shelf: Shelf,
    /// Only what comes after this.
    pub after: Option<(i64, RunId)>,
    /// Only ranks up to and including this.
    pub rank_max: Option<i64>,
    /// At most so many rows.
    pub limit: usize,
}

/// Runs for people, ordered by id: newest first, unless asked for the other way. A run was made when its id says
/// ([`RunId::made_at`], whole milliseconds), so that a span of time is a range of ids: see [`RunQuery::ids`].
///
/// These are the filters that a store answers by an index, but for one: ended runs in some states are found by looking
/// through all ended ones. A filter that few pass, that one or the caller's own, is put through [`crate::Scan`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunQuery {
    /// In this namespace and all below it.
    pub namespace: Option<Namespace>,
    /// Of this job.
    pub job: Option<JobId>,
    /// In one of these states; empty is any.
    pub states: Vec<RunState>,
    /// Made at or after.
    pub from: Option<Timestamp>,
    /// Made before.
    pub until: Option<Timestamp>,
    /// Oldest first.
    pub oldest_first: bool,
    /// Only what comes after this in the order: older, or newer when the oldest come first.
    pub after: Option<RunId>,
    /// At most so many rows.
    pub limit: usize,
}

/// Where a job stands in the order of names: its namespace, then its name, both byte by byte.
pub type JobPlace = (Namespace, Box<str>);

/// Roll-ups by hour, ordered by (hour, job).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterQuery {
    /// In this namespace and all below it.
    pub namespace: Option<Namespace>,
    /// Of this job.
    pub job: Option<JobId>,
    /// Hours that begin at or after.
    pub from: Timestamp,
    /// Hours that begin before.
    pub until: Timestamp,
    /// Only what comes after this in the order.
    pub after: Option<(Timestamp, JobId)>,
    /// At most so many rows.
    pub limit: usize,
}

impl RunQuery {
    /// The ids that `from`, `until` and `after` allow: at or above the first, below the second.
    pub fn ids(&self) -> (RunId, RunId) {
        let first = self.from.map_or(RunId::MIN, first_id_at);
        let until = self.until.map_or(RunId::MAX, first_id_at);
        match (self.after, self.oldest_first) {
            (None, _) => (first, until),
            (Some(after), false) => (first, after.min(until)),
            (Some(after), true) => (first.max(following(after)), until),
        }
    }
}

/// The smallest id larger than `id`.
fn following(id: RunId) -> RunId {
    let more = u128::from_be_bytes(*id.as_bytes()).saturating_add(1);
    RunId::from_bytes(more.to_be_bytes()).min(RunId::MAX)
}

/// The smallest id of a run made at `at` or later.
pub fn first_id_at(at: Timestamp) -> RunId {
    const MILLIS_MAX: i64 = (1 << 48) - 1;
    // Ids know whole milliseconds: one made at 5.000 ms is before 5.001 ms, so the bound is rounded up.
    let micros = at.as_micros().max(0);
    let millis = micros / 1000 + i64::from(micros % 1000 != 0);
    if millis > MILLIS_MAX { RunId::MAX } else { RunId::from_bytes(((millis as u128) << 80).to_be_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_time_is_a_range_of_ids() {
        let id = |micros| RunId::new(Timestamp::from_micros(micros), u128::MAX / 3);
        for (from, made, within) in [
            (i64::MIN, 0, true),
            (0, 0, true),
            (5_000, 5_000, true),
            (5_000, 4_999, false),
            (5_001, 5_900, false),
            (5_001, 6_000, true),
            (i64::MAX, 1 << 50, false),
        ] {
            let bound = first_id_at(Timestamp::from_micros(from));
            assert_eq!(id(made) >= bound, within, "made at {made}, from {from}");
            assert_eq!(id(made).made_at() >= Timestamp::from_micros(from), within);
        }
    }

    #[test]
    fn the_cursor_and_the_end_both_bound_the_page() {
        let at = Timestamp::from_micros(9_000);
        let early = RunId::new(Timestamp::from_micros(1_000), 0);
        let query = |after| RunQuery { until: Some(at), after, limit: 1, ..RunQuery::default() };
        assert_eq!(query(None).ids(), (RunId::MIN, first_id_at(at)));
        assert_eq!(query(Some(early)).ids(), (RunId::MIN, early));
        assert_eq!(query(Some(RunId::MAX)).ids(), (RunId::MIN, first_id_at(at)));
        let turned = |after| RunQuery { oldest_first: true, ..query(after) };
        let (first, end) = turned(Some(early)).ids();
        assert!(first > early && end == first_id_at(at), "what was seen is not seen again");
        assert_eq!(turned(None).ids(), query(None).ids());
    }
}
