//! Who depends on a job: the triggers of its namespace that follow or need it.

use mainspring_model::spec::{Trigger, When};
use mainspring_model::{Job, Namespace};
use mainspring_wire::api::{Dependent, DependentKind, Dependents};

use crate::app::App;
use crate::error::Result;
use crate::limits::SPECS_LOOKED_INTO_MAX;
use crate::operation::Operation;
use crate::principal::Caller;

impl App {
    /// The triggers that follow or need a job. Jobs are looked at by name, and not more than so many.
    pub async fn job_dependents(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
    ) -> Result<Dependents> {
        self.allow(caller, Operation::JobDependents, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        // Triggers name jobs of their own namespace, which comes before those below it.
        let part = self.store.jobs_by_name(Some(namespace), None, SPECS_LOOKED_INTO_MAX).await?;
        let is_last_here = part.rows.last().is_some_and(|job| job.namespace == *namespace);
        let jobs: Vec<Job> = part.rows.into_iter().filter(|job| job.namespace == *namespace).collect();
        let specs = self.current_specs(&jobs).await?;
        let of_job = |job: &Job| {
            let triggers = specs.get(&job.id).map(|spec| &*spec.triggers).unwrap_or_default();
            let dependents = triggers
                .iter()
                .flat_map(|trigger| kinds(trigger, &found.name).map(move |kind| (trigger, kind)));
            let view = |(trigger, kind): (&Trigger, DependentKind)| Dependent {
                job: job.id,
                job_name: job.name.to_string(),
                trigger: trigger.name.to_string(),
                kind,
            };
            dependents.map(view).collect::<Vec<_>>()
        };
        Ok(Dependents { items: jobs.iter().flat_map(of_job).collect(), partial: part.more && is_last_here })
    }
}

/// How a trigger depends on a job.
fn kinds(trigger: &Trigger, job: &str) -> impl Iterator<Item = DependentKind> {
    let follows = matches!(&trigger.when, When::After { after } if after.job.as_str() == job);
    let needs = trigger.needs.iter().any(|need| need.job.as_str() == job);
    let kinds = [(follows, DependentKind::Follows), (needs, DependentKind::Needs)];
    kinds.into_iter().filter_map(|(is_so, kind)| is_so.then_some(kind))
}
