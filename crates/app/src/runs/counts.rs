//! How many runs a query finds, by state and namespace, within a budget of rows.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use mainspring_model::{Namespace, Run, RunId, Timestamp, limits};
use mainspring_store::RunQuery;
use mainspring_wire::api::{NamespaceCount, RunCounts};

use crate::app::App;
use crate::error::Result;
use crate::limits::{COUNT_BUDGET, COUNT_NAMESPACES_MAX};
use crate::operation::Operation;
use crate::principal::Caller;
use crate::query::Filter;

/// What was counted so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    matched: u64,
    states: BTreeMap<String, u64>,
    namespaces: BTreeMap<Namespace, u64>,
    oldest_active: Option<Timestamp>,
}

impl Tally {
    pub(super) fn add(&mut self, run: &Run) {
        self.matched += 1;
        *self.states.entry(run.status.state.name().to_owned()).or_default() += 1;
        *self.namespaces.entry(run.head.namespace.clone()).or_default() += 1;
        if !run.status.state.is_terminal() {
            let made = run.head.created_at;
            self.oldest_active = Some(self.oldest_active.map_or(made, |known| known.min(made)));
        }
    }

    /// The counts; `rest` is the last run that was looked at, if there are more.
    pub(super) fn counts(self, rest: Option<RunId>) -> RunCounts {
        let mut namespaces: Vec<NamespaceCount> = self
            .namespaces
            .into_iter()
            .map(|(namespace, count)| NamespaceCount { namespace, count })
            .collect();
        namespaces.sort_by_key(|one| Reverse(one.count));
        namespaces.truncate(COUNT_NAMESPACES_MAX);
        RunCounts {
            matched: self.matched,
            exact: rest.is_none(),
            states: self.states,
            namespaces,
            oldest_active: self.oldest_active.map(Into::into),
            searched_to: rest.map(|run| run.made_at().into()),
        }
    }
}

impl App {
    /// How many runs a query finds.
    pub async fn count_runs(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        query: &str,
    ) -> Result<RunCounts> {
        let filter = self.filter(caller, Operation::RunCounts, namespace, query).await?;
        self.count_found(&filter, |_| true).await
    }

    /// How many of the runs that a filter finds are wanted.
    pub(super) async fn count_found(
        &self,
        filter: &Filter,
        wanted: impl Fn(&Run) -> bool,
    ) -> Result<RunCounts> {
        let (mut tally, mut after, mut budget) = (Tally::default(), None, COUNT_BUDGET);
        loop {
            let limit = budget.min(limits::PAGE_ROWS_MAX);
            let page = self.store.runs(RunQuery { after, limit, ..filter.query.clone() }).await?;
            let passing = self.passing(filter, &page.rows).await?;
            let found = page.rows.iter().zip(passing).filter(|(run, passes)| *passes && wanted(run));
            found.for_each(|(run, _)| tally.add(run));
            after = page.rows.last().map(|run| run.head.id);
            budget = budget.saturating_sub(page.rows.len());
            if !page.more || budget == 0 {
                return Ok(tally.counts(after.filter(|_| page.more)));
            }
        }
    }
}
