//! Listing jobs: by words of the name, by labels, in the order in which they were made or by name. What no index answers is
//! looked at job by job, within a budget; the answer says where to go on.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use mainspring_model::{ErrorCode, Job, JobId, JobSpec, Namespace, Selector};
use mainspring_store::{JobPlace, Page as Part};
use mainspring_wire::api::{self, JobOrder, JobWith, Page};

use super::put::tree;
use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::{HEALTH_JOBS_MAX, JOBS_LOOKED_AT_MAX, JOBS_TEXT_CHARS_MAX, SPECS_LOOKED_INTO_MAX};
use crate::operation::Operation;
use crate::paging::PageRequest;
use crate::principal::Caller;

/// Which jobs, and what of them.
#[derive(Debug, Clone, Default)]
pub struct JobsQuery {
    /// Here and in all below; without it, everywhere that the caller may look.
    pub namespace: Option<Namespace>,
    /// Words that are all part of `namespace/name`.
    pub q: Option<String>,
    /// A selector over the labels of the current version.
    pub label: Option<String>,
    /// The order.
    pub order: JobOrder,
    /// With what they say.
    pub with_spec: bool,
    /// What else.
    pub with: Option<JobWith>,
    /// Which part.
    pub page: PageRequest,
}

/// What a job must be like.
struct Filter {
    words: Vec<String>,
    labels: Selector,
}

/// Where a page ends, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Id(JobId),
    Name(JobPlace),
}

impl App {
    /// Jobs of a namespace and all below; without one, all that the caller may see.
    pub async fn list_jobs(&self, caller: &Caller, query: &JobsQuery) -> Result<Page<api::Job>> {
        let places = self.places(caller, Operation::JobList, query.namespace.as_ref()).await?;
        let limit = rows(query)?;
        let filter = Filter::of(query)?;
        let mut after: Option<Place> = query.page.after()?.map(|Cursor(place)| place);
        if after.as_ref().is_some_and(|place| matches!(place, Place::Id(_)) != (query.order == JobOrder::Id))
        {
            return Err(Error::field(ErrorCode::InvalidRequest, "cursor", "belongs to another `order`"));
        }
        // Who sees several places reads all and keeps what is theirs.
        let only = if let [only] = places.as_slice() { only.clone() } else { None };
        let (mut found, mut looked_at, mut last_seen) = (Vec::new(), 0, None);
        let is_more = 'pages: loop {
            let part = self.jobs_part(query.order, only.as_ref(), after, filter.read_at_once(limit)).await?;
            after = part.rows.last().map(|job| Place::of(query.order, job));
            let mine = |job: &Job| caller.principal.may(Operation::JobList, Some(&job.namespace));
            let mine: Vec<Job> = part.rows.into_iter().filter(mine).collect();
            let specs = if filter.labels.is_empty() { None } else { Some(self.current_specs(&mine).await?) };
            for job in mine {
                if found.len() == limit || looked_at == filter.budget() {
                    break 'pages true;
                }
                looked_at += 1;
                last_seen = Some(Place::of(query.order, &job));
                if filter.passes(&job, specs.as_ref().map(|specs| specs.get(&job.id).map(|spec| &**spec))) {
                    found.push(job);
                }
            }
            if !part.more {
                break false;
            }
            if found.len() == limit {
                break true;
            }
        };
        let next_cursor = last_seen.filter(|_| is_more).map(|place| Cursor(place).to_string());
        Ok(Page { items: self.with_details(found, query).await?, next_cursor })
    }

    async fn jobs_part(
        &self,
        order: JobOrder,
        namespace: Option<&Namespace>,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Part<Job>> {
        Ok(match (order, after) {
            (JobOrder::Name, after) => {
                let after = if let Some(Place::Name(place)) = after { Some(place) } else { None };
                self.store.jobs_by_name(namespace, after, limit).await?
            }
            (JobOrder::Id, after) => {
                let after = if let Some(Place::Id(id)) = after { Some(id) } else { None };
                self.store.jobs(namespace, after, limit).await?
            }
        })
    }

    async fn with_details(&self, jobs: Vec<Job>, query: &JobsQuery) -> Result<Vec<api::Job>> {
        let mut items: Vec<api::Job> = jobs.iter().map(Into::into).collect();
        if query.with_spec || query.with.is_some() {
            // One that cannot be read is listed without.
            let specs = self.current_specs(&jobs).await?;
            for item in &mut items {
                let Some(spec) = specs.get(&item.id) else { continue };
                item.labels = spec.labels.clone();
                item.spec = query.with_spec.then(|| tree(spec));
            }
        }
        if query.with == Some(JobWith::Health) {
            for (item, health) in items.iter_mut().zip(self.health_of(&jobs).await?) {
                item.health = Some(health);
            }
        }
        Ok(items)
    }

    /// What the current versions of jobs say, where that can be read.
    pub(super) async fn current_specs(&self, jobs: &[Job]) -> Result<BTreeMap<JobId, Arc<JobSpec>>> {
        let keys: Vec<(JobId, u32)> = jobs.iter().map(|job| (job.id, job.current_version)).collect();
        let specs = self.find_versions(&keys).await?;
        Ok(specs.into_iter().map(|((job, _), spec)| (job, spec)).collect())
    }
}

/// How many jobs a page has.
fn rows(query: &JobsQuery) -> Result<usize> {
    match query.with {
        Some(JobWith::Health) if query.page.limit.is_some_and(|limit| limit > HEALTH_JOBS_MAX) => {
            let message = format!("a page with health has 1 to {HEALTH_JOBS_MAX} jobs");
            Err(Error::field(ErrorCode::InvalidRequest, "limit", message))
        }
        _ => query.page.rows(),
    }
}

impl Filter {
    fn of(query: &JobsQuery) -> Result<Self> {
        let text = query.q.as_deref().unwrap_or_default();
        if text.chars().count() > JOBS_TEXT_CHARS_MAX {
            let message = format!("at most {JOBS_TEXT_CHARS_MAX} characters");
            return Err(Error::field(ErrorCode::InvalidRequest, "q", message));
        }
        let words = text.split_whitespace().map(str::to_lowercase).collect();
        let labels = query.label.as_deref().unwrap_or_default().trim();
        let labels = match labels {
            "" => Selector::default(),
            labels => labels.parse().map_err(|error: mainspring_model::selector::SelectorError| {
                Error::field(ErrorCode::InvalidRequest, "label", error.to_string())
            })?,
        };
        Ok(Self { words, labels })
    }

    /// How many jobs are looked at for one answer.
    fn budget(&self) -> usize {
        match (self.words.is_empty(), self.labels.is_empty()) {
            (true, true) => usize::MAX,
            (false, true) => JOBS_LOOKED_AT_MAX,
            (_, false) => SPECS_LOOKED_INTO_MAX,
        }
    }

    /// How many jobs are read at once: more than a page where few may pass.
    fn read_at_once(&self, limit: usize) -> usize {
        if self.words.is_empty() && self.labels.is_empty() { limit } else { limit.max(1_000) }
    }

    /// `spec` is none when no label is asked for, and none within when it cannot be read.
    fn passes(&self, job: &Job, spec: Option<Option<&JobSpec>>) -> bool {
        let place = format!("{}/{}", job.namespace, job.name);
        self.words.iter().all(|word| place.contains(word.as_str()))
            && spec.is_none_or(|spec| spec.is_some_and(|spec| self.labels.matches(&spec.labels)))
    }
}

impl Place {
    fn of(order: JobOrder, job: &Job) -> Self {
        match order {
            JobOrder::Id => Self::Id(job.id),
            JobOrder::Name => Self::Name((job.namespace.clone(), job.name.clone())),
        }
    }
}

/// A place as a cursor: an id, or the path of a job, which has a slash.
struct Cursor(Place);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Id(id) => write!(f, "{id}"),
            Place::Name((namespace, name)) => write!(f, "{namespace}/{name}"),
        }
    }
}

impl FromStr for Cursor {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        Ok(Self(match text.rsplit_once('/') {
            Some((namespace, name)) => Place::Name((namespace.parse().map_err(drop)?, name.into())),
            None => Place::Id(text.parse().map_err(drop)?),
        }))
    }
}
