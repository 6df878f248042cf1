//! Which calendars a job's triggers heed, and which jobs heed a calendar.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainspring_cron::Calendar;
use mainspring_engine::TriggerRow;
use mainspring_model::spec::Trigger;
use mainspring_model::{Calendars, ErrorCode, JobId, JobSpec, Namespace};
use mainspring_store::{RecordQuery, Store, Versions};

use super::{Document, key};
use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::PAGE_MAX;
use crate::record;

/// Calendars that are read together: each of them once.
#[derive(Debug, Default)]
pub struct CalendarShelf(BTreeMap<(Namespace, Box<str>), Option<Arc<Calendar>>>);

impl CalendarShelf {
    /// The calendars that the triggers of a job name, as far as they are there and can be read.
    pub async fn of_job(
        &mut self,
        store: &dyn Store,
        namespace: &Namespace,
        spec: &JobSpec,
    ) -> mainspring_store::Result<Calendars> {
        self.named(store, namespace, spec.triggers.iter()).await
    }

    async fn named<'a>(
        &mut self,
        store: &dyn Store,
        namespace: &Namespace,
        triggers: impl Iterator<Item = &'a Trigger>,
    ) -> mainspring_store::Result<Calendars> {
        let names: BTreeSet<&str> =
            triggers.flat_map(|trigger| &trigger.calendar).map(|name| name.as_str()).collect();
        let mut found: Vec<(Box<str>, Arc<Calendar>)> = Vec::new();
        for name in names {
            let place = (namespace.clone(), Box::from(name));
            let calendar = match self.0.get(&place) {
                Some(known) => known.clone(),
                None => match nearest(store, namespace, name).await {
                    Err(error) if !error.is_transient() => {
                        tracing::warn!(%namespace, calendar = name, %error, "a calendar cannot be read");
                        None
                    }
                    found => found?.map(|(_, calendar)| Arc::new(calendar)),
                },
            };
            found.extend(calendar.clone().map(|calendar| (name.into(), calendar)));
            self.0.insert(place, calendar);
        }
        Ok(found.into_iter().collect())
    }
}

/// The calendar of this name in the namespace or above it, and where it lives.
async fn nearest(
    store: &dyn Store,
    namespace: &Namespace,
    name: &str,
) -> mainspring_store::Result<Option<(Namespace, Calendar)>> {
    let mut place = Some(namespace.clone());
    while let Some(at) = place {
        if let Some(row) = store.record(record::CALENDAR, &key(&at, name)).await? {
            let document: Option<Document> = record::decode(&row).ok();
            return Ok(document
                .and_then(|document| document.spec.read().ok())
                .map(|calendar| (at, calendar)));
        }
        place = at.parent();
    }
    Ok(None)
}

impl App {
    /// The calendars that a new job file names, all of which have to be there.
    pub(crate) async fn calendars_of(&self, namespace: &Namespace, spec: &JobSpec) -> Result<Calendars> {
        let calendars = CalendarShelf::default().of_job(&*self.store, namespace, spec).await?;
        for (index, trigger) in spec.triggers.iter().enumerate() {
            let missing = trigger.calendar.iter().find(|name| calendars.get(name.as_str()).is_none());
            if let Some(name) = missing {
                let path = format!("triggers[{index}].calendar");
                let message =
                    format!("there is no calendar `{name}` in `{namespace}` or above; make it first");
                return Err(Error::field(ErrorCode::InvalidSpec, path, message));
            }
        }
        Ok(calendars)
    }

    /// The calendars that a trigger names which no job may have.
    pub(crate) async fn calendars_named(
        &self,
        namespace: &Namespace,
        trigger: &Trigger,
    ) -> Result<Calendars> {
        let mut shelf = CalendarShelf::default();
        let calendars = shelf.named(&*self.store, namespace, std::iter::once(trigger)).await?;
        match trigger.calendar.iter().find(|name| calendars.get(name.as_str()).is_none()) {
            None => Ok(calendars),
            Some(name) => {
                let message = format!("there is no calendar `{name}` in `{namespace}` or above");
                Err(Error::field(ErrorCode::InvalidSpec, "trigger.calendar", message))
            }
        }
    }

    /// The jobs whose triggers heed this very calendar. Found by reading where all triggers stand, and what those say that name
    /// calendars: it is done when somebody removes one.
    pub(super) async fn heeding(&self, namespace: &Namespace, name: &str) -> Result<Vec<Arc<JobSpec>>> {
        let mut jobs: BTreeMap<(JobId, u32), Namespace> = BTreeMap::new();
        let mut query = RecordQuery::all(TriggerRow::KIND, PAGE_MAX);
        loop {
            let page = self.store.records(query.clone()).await?;
            for row in page.rows.iter().filter_map(TriggerRow::read) {
                if row.state.heeds && row.state.namespace.is_within(namespace) {
                    jobs.insert((row.key.job, row.state.version), row.state.namespace);
                }
            }
            match page.rows.last().filter(|_| page.more) {
                Some(last) => query.after = Some(last.key.clone()),
                None => break,
            }
        }
        let keys: Vec<(JobId, u32)> = jobs.keys().copied().collect();
        let mut heeding = Vec::new();
        for keys in keys.chunks(PAGE_MAX) {
            for version in Versions::read(&*self.store, keys).await?.readable {
                let mut named = version.spec.triggers.iter().flat_map(|trigger| &trigger.calendar);
                let Some(place) = jobs.get(&(version.job, version.version)) else { continue };
                if !named.any(|known| known.as_str() == name) {
                    continue;
                }
                let heeded = nearest(&*self.store, place, name).await?;
                if heeded.is_none_or(|(at, _)| at == *namespace) {
                    heeding.push(version.spec);
                }
            }
        }
        Ok(heeding)
    }
}
