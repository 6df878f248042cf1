//! Looking at a job file without putting it: whoever may read jobs may ask whether a text is one.

use mainspring_model::Namespace;
use mainspring_model::spec::{self, Format};
use mainspring_model::{ErrorCode, JobSpec};
use mainspring_wire::api::{FieldProblem, Validation};

use super::put::{check_place, tree};
use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::principal::Caller;
use crate::triggers::warnings;

impl App {
    /// Every problem of a job file that would be put as this job, or as the one that it names.
    pub async fn validate_job(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: Option<&str>,
        (text, format): (&str, Format),
    ) -> Result<Validation> {
        self.allow(caller, Operation::JobValidate, Some(namespace)).await?;
        let spec = match spec::parse(text, format) {
            Ok(spec) => spec,
            Err(errors) => return Ok(refused(Error::spec("", &errors).located(text, format).fields, None)),
        };
        let mut problems = Vec::new();
        let found = match self.find_job(namespace, job.unwrap_or(spec.name.as_str())).await {
            Ok(found) => Some(found),
            Err(error) if error.code == ErrorCode::NotFound => None,
            Err(error) => return Err(error),
        };
        let place = check_place(&spec, namespace, job.unwrap_or(spec.name.as_str()), found.as_ref());
        for checked in [
            place,
            self.check_schedules(&spec, namespace).await,
            self.check_artifacts(namespace, &spec, "").await,
        ] {
            match checked {
                Ok(()) => {}
                Err(error) if error.fields.is_empty() => return Err(error),
                Err(error) => problems.extend(error.located(text, format).fields),
            }
        }
        if !problems.is_empty() {
            return Ok(refused(problems, Some(&spec)));
        }
        let warnings = warnings(&*self.store, namespace, &spec).await?;
        Ok(Validation { valid: true, problems, warnings, spec: Some(tree(&spec)) })
    }
}

fn refused(problems: Vec<FieldProblem>, spec: Option<&JobSpec>) -> Validation {
    Validation { valid: false, problems, warnings: Vec::new(), spec: spec.map(tree) }
}
