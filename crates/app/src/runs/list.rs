//! Listing runs by a query. What no index answers is looked at row by row, within a budget.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainspring_model::{
    CellId, ErrorCode, JobId, JobSpec, Namespace, Reason, Run, RunId, RunStatus, Timestamp,
};
use mainspring_store::{RunQuery, Scan};
use mainspring_wire::api::{RunOrder, RunPage};
use rustc_hash::FxHashMap;

use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::SCAN_BUDGET;
use crate::operation::Operation;
use crate::paging::PageRequest;
use crate::principal::Caller;
use crate::query::{Filter, Named, Query, Word};

/// In front of a cursor that leads to what comes before.
const BACKWARD: char = '~';

/// Where a page begins, and whether it leads towards the beginning of the list.
struct Place {
    after: Option<RunId>,
    is_backward: bool,
}

impl Place {
    fn of(request: &PageRequest) -> Result<Self> {
        let backward = request.cursor.as_deref().and_then(|cursor| cursor.strip_prefix(BACKWARD));
        let is_backward = backward.is_some();
        let cursor = backward.map(Into::into).or_else(|| request.cursor.clone());
        Ok(Self { after: PageRequest { cursor, ..PageRequest::default() }.after()?, is_backward })
    }
}

/// Those that are not over, by the cell whose owner knows about them.
pub(super) fn active_by_cell(rows: &[Run]) -> BTreeMap<CellId, Vec<RunId>> {
    let mut active: BTreeMap<CellId, Vec<RunId>> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.status.state.is_terminal()) {
        active.entry(row.status.cell).or_default().push(row.head.id);
    }
    active
}

impl App {
    /// Runs that a query finds, in a namespace and below or in all that the caller may see.
    pub async fn list_runs(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        query: &str,
        order: RunOrder,
        request: &PageRequest,
    ) -> Result<RunPage> {
        let filter = self.filter(caller, Operation::RunList, namespace, query).await?;
        let place = Place::of(request)?;
        let oldest_first = (order == RunOrder::OldestFirst) != place.is_backward;
        let (mut rows, on) =
            self.scan(&filter, oldest_first, request.rows()?, place.after, SCAN_BUDGET).await?;
        if place.is_backward {
            rows.reverse();
        }
        let ends = (rows.first().map(|run| run.head.id), rows.last().map(|run| run.head.id));
        let (previous, next) = match place.is_backward {
            // Where it came from is there still.
            true => (on, ends.1.or(place.after)),
            // What was made since the page was read comes before it.
            false => (ends.0.or(place.after), on),
        };
        Ok(RunPage {
            items: self.describe_all(&rows).await?,
            next_cursor: next.map(|run| run.to_string()),
            prev_cursor: previous.map(|run| format!("{BACKWARD}{run}")),
            searched_to: on.map(|run| run.made_at().into()),
        })
    }

    /// The filter of a query, over what the caller may do this to.
    pub(super) async fn filter(
        &self,
        caller: &Caller,
        operation: Operation,
        namespace: Option<&Namespace>,
        query: &str,
    ) -> Result<Filter> {
        self.filter_at(self.now(), caller, operation, namespace, query).await
    }

    /// The same of a query that was asked at `now`.
    pub(super) async fn filter_at(
        &self,
        now: Timestamp,
        caller: &Caller,
        operation: Operation,
        namespace: Option<&Namespace>,
        query: &str,
    ) -> Result<Filter> {
        let query: Query = query.parse().map_err(|error: crate::query::QueryError| {
            Error::field(ErrorCode::InvalidQuery, "q", error.to_string())
        })?;
        let places = self.places(caller, operation, namespace).await?;
        let visible: Vec<Namespace> =
            if places.contains(&None) { Vec::new() } else { places.into_iter().flatten().collect() };
        let mut jobs = Vec::new();
        for term in &query.terms {
            if let Word::Job(names) = &term.word {
                jobs.push(self.jobs_named(names, &visible).await?);
            }
        }
        Ok(Filter::new(&query, now, jobs, visible))
    }

    /// Up to `limit` runs that pass, and where to go on.
    pub(super) async fn scan(
        &self,
        filter: &Filter,
        oldest_first: bool,
        limit: usize,
        after: Option<RunId>,
        budget: usize,
    ) -> Result<(Vec<Run>, Option<RunId>)> {
        let query = RunQuery { oldest_first, after, limit, ..filter.query.clone() };
        let mut scan = Scan::new(query, budget);
        while let Some(query) = scan.next_query() {
            let page = self.store.runs(query).await?;
            let mut passing = self.passing(filter, &page.rows).await?.into_iter();
            scan.take(page, |_| passing.next().unwrap_or_default());
        }
        Ok(scan.finish())
    }

    /// Which of these runs pass.
    pub(super) async fn passing(&self, filter: &Filter, rows: &[Run]) -> Result<Vec<bool>> {
        let specs: Vec<Option<Arc<JobSpec>>> = match filter.needs_specs {
            true => self.specs_of(rows).await?,
            false => Vec::new(),
        };
        let reasons = if filter.needs_reasons { self.reasons_of(rows).await } else { FxHashMap::default() };
        let passes = |(index, run): (usize, &Run)| {
            let spec = specs.get(index).and_then(Option::as_deref);
            match reasons.get(&run.head.id) {
                Some(reason) => {
                    let status = RunStatus { reason: Some(Box::new(reason.clone())), ..run.status.clone() };
                    filter.passes(&Run { head: Arc::clone(&run.head), status }, spec)
                }
                None => filter.passes(run, spec),
            }
        };
        Ok(rows.iter().enumerate().map(passes).collect())
    }

    /// Why those that wait do, as far as owners here know.
    async fn reasons_of(&self, rows: &[Run]) -> FxHashMap<RunId, Reason> {
        let mut reasons = FxHashMap::default();
        for (cell, runs) in active_by_cell(rows) {
            let known = self.cells.live(cell, &runs).await.unwrap_or_default();
            reasons.extend(known.into_iter().filter_map(|live| Some((live.run.head.id, live.reason?))));
        }
        reasons
    }

    /// The jobs with these names, or ids, in the namespaces; empty is all namespaces.
    async fn jobs_named(&self, words: &[String], visible: &[Namespace]) -> Result<Named> {
        let (ids, names): (Vec<&String>, Vec<&String>) =
            words.iter().partition(|word| word.parse::<JobId>().is_ok());
        let mut named = Named::default();
        named.jobs.extend(ids.into_iter().filter_map(|id| id.parse::<JobId>().ok()));
        named.others.extend(names.into_iter().cloned());
        let only = match visible {
            [only] => Some(only),
            _ => None,
        };
        let (mut after, mut more, mut known) = (None, !named.others.is_empty(), BTreeSet::new());
        while more {
            let page = self.store.jobs(only, after, mainspring_model::limits::PAGE_ROWS_MAX).await?;
            let seen =
                |place: &Namespace| visible.is_empty() || visible.iter().any(|mine| place.is_within(mine));
            for job in page.rows.iter().filter(|job| seen(&job.namespace)) {
                if named.others.iter().any(|name| **name == *job.name) {
                    named.jobs.push(job.id);
                    known.insert(job.name.to_string());
                }
            }
            after = page.rows.last().map(|job| job.id);
            more = page.more;
        }
        named.others.retain(|name| !known.contains(name));
        Ok(named)
    }
}
