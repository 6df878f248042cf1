//! Jobs that triggers name (`after`, `needs`) and that are not there. Such a trigger never fires; it is accepted, because jobs
//! are applied in any order.

use std::collections::BTreeMap;

use mainspring_model::spec::{Trigger, When};
use mainspring_model::{JobSpec, Namespace};
use mainspring_store::Store;
use mainspring_wire::api::JobWarning;

use crate::error::Result;

/// Which jobs are there, each asked for once.
#[derive(Debug, Default)]
pub(crate) struct KnownJobs(BTreeMap<(Namespace, Box<str>), bool>);

impl KnownJobs {
    /// The jobs that a trigger names and that are not there, each with the field that names it.
    pub(crate) async fn missing<'a>(
        &mut self,
        store: &dyn Store,
        namespace: &Namespace,
        trigger: &'a Trigger,
    ) -> Result<Vec<(String, &'a str)>> {
        let mut missing = Vec::new();
        for (field, job) in named(trigger) {
            if !self.is_there(store, namespace, job).await? {
                missing.push((field, job));
            }
        }
        Ok(missing)
    }

    async fn is_there(&mut self, store: &dyn Store, namespace: &Namespace, job: &str) -> Result<bool> {
        let place = (namespace.clone(), Box::from(job));
        if let Some(known) = self.0.get(&place) {
            return Ok(*known);
        }
        let is_there = store.job_by_name(namespace, job).await?.is_some();
        self.0.insert(place, is_there);
        Ok(is_there)
    }
}

/// A warning for each job that a specification names and that is not there.
pub(crate) async fn warnings(
    store: &dyn Store,
    namespace: &Namespace,
    spec: &JobSpec,
) -> Result<Vec<JobWarning>> {
    let mut known = KnownJobs::default();
    let mut warnings = Vec::new();
    for (index, trigger) in spec.triggers.iter().enumerate() {
        for (field, job) in known.missing(store, namespace, trigger).await? {
            warnings.push(JobWarning {
                path: format!("triggers[{index}].{field}"),
                message: format!(
                    "there is no job `{job}` in `{namespace}`; until there is, the trigger does not fire"
                ),
                missing_job: Some(job.to_owned()),
            });
        }
    }
    Ok(warnings)
}

fn named(trigger: &Trigger) -> impl Iterator<Item = (String, &str)> {
    let after = match &trigger.when {
        When::After { after } => Some(("after".to_owned(), after.job.as_str())),
        When::Cron { .. }
        | When::Every { .. }
        | When::At { .. }
        | When::Delay { .. }
        | When::Webhook { .. } => None,
    };
    let needs = trigger.needs.iter().enumerate();
    after.into_iter().chain(needs.map(|(index, need)| (format!("needs[{index}]"), need.job.as_str())))
}
