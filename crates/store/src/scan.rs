//! Runs by a filter that no index answers: a cause, a label, a rare end. Pages are read and looked through until enough
//! passed or so many were looked at; the answer says where to go on even when few passed, so that no request takes
//! longer than its budget, however long the history.
//!
//! Pure: the caller reads what [`Scan::next_query`] asks for and gives it to [`Scan::take`]; between the two it may look
//! up what its filter needs.

use mainspring_model::{Run, RunId, limits};

use crate::page::{Page, RunQuery};

/// Rows of the first read; each following one is twice as long, because few passed so far.
const READ_FIRST: usize = 100;

/// A scan under way.
#[derive(Debug, Clone)]
pub struct Scan {
    query: RunQuery,
    budget: usize,
    read_max: usize,
    found: Vec<Run>,
    /// Where the next read begins.
    after: Option<RunId>,
    is_over: bool,
}

impl Scan {
    /// Looks for `query.limit` runs among those that `query` finds, at at most `budget` of them.
    pub fn new(query: RunQuery, budget: usize) -> Self {
        let read_max = query.limit.clamp(READ_FIRST, limits::PAGE_ROWS_MAX);
        let after = query.after;
        Self { is_over: query.limit == 0, query, budget, read_max, found: Vec::new(), after }
    }

    /// What to read next; none when the scan is over.
    pub fn next_query(&self) -> Option<RunQuery> {
        let limit = self.read_max.min(self.budget);
        (!self.is_over && limit > 0).then(|| RunQuery { after: self.after, limit, ..self.query.clone() })
    }

    /// Takes the answer to [`Scan::next_query`] and keeps what passes.
    pub fn take(&mut self, page: Page<Run>, mut passes: impl FnMut(&Run) -> bool) {
        self.is_over = !page.more || page.rows.is_empty();
        for run in page.rows {
            if self.found.len() == self.query.limit {
                // Full before the end of the page: what follows is the next scan's.
                self.is_over = false;
                self.budget = 0;
                return;
            }
            self.budget = self.budget.saturating_sub(1);
            self.after = Some(run.head.id);
            if passes(&run) {
                self.found.push(run);
            }
        }
        if self.found.len() == self.query.limit {
            self.budget = 0;
        }
        self.read_max = (self.read_max * 2).min(limits::PAGE_ROWS_MAX);
    }

    /// What passed, newest first, and the `after` of the scan that goes on from here; none when nothing follows.
    pub fn finish(self) -> (Vec<Run>, Option<RunId>) {
        (self.found, self.after.filter(|_| !self.is_over))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mainspring_model::{CellId, JobId, Namespace, Payload, RunHead, RunStatus, Timestamp};

    use super::*;

    fn run(n: i64) -> Run {
        let created_at = Timestamp::from_micros(n * 1000);
        let head = RunHead {
            id: RunId::new(created_at, 0),
            namespace: Namespace::default(),
            job: JobId::MIN,
            job_version: 1,
            inline_spec: None,
            idempotency_key: None,
            priority: 0,
            created_at,
            not_before: None,
            deadline: None,
            params: Payload::from([]),
            keys: None,
            submitted_by: "x".into(),
            fired: None,
            overlap: Default::default(),
        };
        Run { head: Arc::new(head), status: RunStatus::arrived(CellId(0), created_at) }
    }

    /// A store with runs 1 to `count`.
    fn answer(query: &RunQuery, count: i64) -> Page<Run> {
        let (first, end) = query.ids();
        let rows = (1..=count).rev().map(run).filter(|run| run.head.id >= first && run.head.id < end);
        let mut rows: Vec<Run> = rows.take(query.limit + 1).collect();
        let more = rows.len() > query.limit;
        rows.truncate(query.limit);
        Page { rows, more }
    }

    /// Scans runs 1 to `count` for multiples of `every` until nothing follows; answers the numbers of each scan.
    fn check(count: i64, every: i64, limit: usize, budget: usize) -> Vec<Vec<i64>> {
        let number = |run: &Run| run.head.created_at.as_micros() / 1000;
        let (mut scans, mut after) = (Vec::new(), None);
        loop {
            let mut scan = Scan::new(RunQuery { after, limit, ..RunQuery::default() }, budget);
            let mut looked_at = 0;
            while let Some(query) = scan.next_query() {
                let page = answer(&query, count);
                looked_at += page.rows.len();
                scan.take(page, |run| number(run) % every == 0);
            }
            assert!(looked_at <= budget, "{looked_at} rows within a budget of {budget}");
            let (rows, next) = scan.finish();
            scans.push(rows.iter().map(number).collect());
            assert!(next.is_none() || next != after, "a scan that goes on has gone on");
            after = next;
            if after.is_none() {
                return scans;
            }
        }
    }

    #[test]
    fn every_run_that_passes_is_found_once_in_order() {
        for (count, every, limit, budget) in [
            (1000, 1, 7, 50),
            (1000, 7, 10, 33),
            (1000, 400, 3, 150),
            (1000, 13, 5000, 100_000),
            (5, 1, 5, 5),
        ] {
            let found: Vec<i64> = check(count, every, limit, budget).concat();
            let expected: Vec<i64> = (1..=count).rev().filter(|n| n % every == 0).collect();
            assert_eq!(found, expected, "{count} {every} {limit} {budget}");
        }
    }

    #[test]
    fn a_page_is_never_longer_than_asked_and_may_be_empty() {
        assert_eq!(check(10, 2, 2, 100), [vec![10, 8], vec![6, 4], vec![2]]);
        assert_eq!(check(9, 9, 5, 3), [vec![9], vec![], vec![]]);
        assert_eq!(check(0, 1, 5, 3), [Vec::<i64>::new()]);
        assert_eq!(check(300, 300, 1, 1000), [vec![300], vec![]]);
    }
}
