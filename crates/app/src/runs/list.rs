//! Listing runs by a query. What no index answers is looked at row by row, within a budget.

use std::collections::BTreeSet;
use std::sync::Arc;

use mainspring_model::{ErrorCode, JobId, JobSpec, Namespace, Run, RunId};
use mainspring_store::{RunQuery, Scan};
use mainspring_wire::api::{self, Page};

use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::SCAN_BUDGET;
use crate::operation::Operation;
use crate::paging::PageRequest;
use crate::principal::Caller;
use crate::query::{Filter, Named, Query, Word};

impl App {
    /// Runs that a query finds, newest first, in a namespace and below or in all that the caller may see.
    pub async fn list_runs(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        query: &str,
        request: &PageRequest,
    ) -> Result<Page<api::Run>> {
        let filter = self.filter(caller, Operation::RunList, namespace, query).await?;
        let (rows, next) = self.scan(&filter, request.rows()?, request.after()?, SCAN_BUDGET).await?;
        let next_cursor = next.map(|run| run.to_string());
        Ok(Page { items: self.describe_all(&rows).await?, next_cursor })
    }

    /// The filter of a query, over what the caller may do this to.
    pub(super) async fn filter(
        &self,
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
        Ok(Filter::new(&query, self.now(), jobs, visible))
    }

    /// Up to `limit` runs that pass, and where to go on.
    pub(super) async fn scan(
        &self,
        filter: &Filter,
        limit: usize,
        after: Option<RunId>,
        budget: usize,
    ) -> Result<(Vec<Run>, Option<RunId>)> {
        let query = RunQuery { after, limit, ..filter.query.clone() };
        let mut scan = Scan::new(query, budget);
        while let Some(query) = scan.next_query() {
            let page = self.store.runs(query).await?;
            let specs: Vec<Option<Arc<JobSpec>>> = match filter.needs_specs {
                true => self.specs_of(&page.rows).await?,
                false => Vec::new(),
            };
            let mut specs = specs.into_iter();
            scan.take(page, |run| {
                let spec = specs.next().flatten();
                filter.passes(run, spec.as_deref())
            });
        }
        Ok(scan.finish())
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
