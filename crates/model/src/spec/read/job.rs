//! Reading the whole job, and the checks between its parts.
//!
//! Every part is read before the result is put together, so that a problem in one never hides another.
//! Checks within one part are made where that part is read.

use serde_json::Value;

use super::Reader;
use super::body::body;
use super::contradiction::{self, Parts};
use super::data::{artifacts, labels, paths};
use super::dispatch::dispatch;
use super::fields::Fields;
use super::parameter::parameters;
use super::placement::{placement, resources};
use super::policy::{concurrency, priority, rate_limit, retention, timeouts};
use super::retry::retry;
use super::scalar::{choice, parsed, text, word};
use super::trigger::{check_circles, check_parameters, triggers};
use crate::limits::DESCRIPTION_BYTES_MAX;
use crate::spec::nearest::nearest;
use crate::spec::{Body, Delivery, JobSpec, OnDisconnect, Parameters, Problem};

pub(super) fn job(reader: &mut Reader, value: &Value) -> Option<JobSpec> {
    if value.is_null() {
        reader.problem_with_hint("the file is empty", "a job is `name: hello` and `script: echo hello`");
        return None;
    }
    let mut fields = reader.fields("job", value)?;
    let name = fields.required("name", parsed);
    let namespace = fields.optional("namespace", parsed);
    let owner = fields.optional("owner", word);
    let description = fields
        .optional("description", |reader, value| text(reader, value, DESCRIPTION_BYTES_MAX).map(Into::into));
    let labels = fields.or_default("labels", labels);
    let body = body(&mut fields);
    let artifacts = fields.or_default("artifacts", artifacts);
    let inputs = fields.or_default("inputs", paths);
    let outputs = fields.or_default("outputs", paths);
    let parameters = fields.or_default("parameters", parameters);
    let triggers = fields.or_default("triggers", triggers);
    let retry = fields.or_default("retry", retry);
    let timeout = fields.or_default("timeout", timeouts);
    let concurrency = fields.optional("concurrency", concurrency).flatten();
    let rate_limit = fields.optional("rate_limit", rate_limit);
    let dispatch = fields.or_default("dispatch", dispatch);
    let placement = fields.or_default("placement", placement);
    let resources = fields.or_default("resources", resources);
    let priority = fields.or_default("priority", priority);
    let deliveries = [("at_least_once", Delivery::AtLeastOnce), ("at_most_once", Delivery::AtMostOnce)];
    let delivery = fields.or_default("delivery", choice("delivery", &deliveries));
    let answers = [("stop", OnDisconnect::Stop), ("keep", OnDisconnect::Keep)];
    let on_disconnect = fields.or_default("on_disconnect", choice("on_disconnect", &answers));
    let retention = fields.or_default("retention", retention);

    if matches!(body, Some(Body::Handler(_))) {
        refuse_files(
            &mut fields,
            [
                ("artifacts", artifacts.is_empty()),
                ("inputs", inputs.is_empty()),
                ("outputs", outputs.is_empty()),
            ],
        );
    }
    fields.finish();
    let parts = Parts { retry: &retry, delivery, dispatch: &dispatch, placement: &placement };
    contradiction::refuse(reader, &value["retry"], &parts);
    check_parameters(reader, &triggers, &parameters);
    if let Some(name) = &name {
        check_circles(reader, &triggers, name);
    }
    refuse_unknown_names(reader, &parameters);
    Some(JobSpec {
        name: name?,
        namespace,
        owner,
        description,
        labels,
        body: body?,
        artifacts,
        inputs,
        outputs,
        parameters,
        triggers,
        retry,
        timeout,
        concurrency,
        rate_limit,
        dispatch,
        placement,
        resources,
        priority,
        delivery,
        on_disconnect,
        retention,
    })
}

/// What a template names must be one of the job's parameters: nothing else will be there.
fn refuse_unknown_names(reader: &mut Reader, parameters: &Parameters) {
    // If they cannot be read, nobody knows their names.
    if reader.problems.iter().any(|problem| problem.path.starts_with("parameters")) {
        return;
    }
    for (path, name) in std::mem::take(&mut reader.named) {
        let mut parts = name.split('.');
        let problem = match (parts.next(), parts.next()) {
            (Some("params"), None) => continue,
            (Some("params"), Some(parameter)) if parameters.0.contains_key(parameter) => continue,
            (Some("params"), Some(parameter)) => {
                let known = parameters.0.keys().map(|known| &**known);
                let hint = match nearest(parameter, known) {
                    Some(near) => format!("did you mean `params.{near}`?"),
                    None => format!("declare `{parameter}` under `parameters`"),
                };
                Problem::new(path, format!("the job has no parameter `{parameter}`")).with_hint(hint)
            }
            _ => Problem::new(path, format!("`{name}` is not known here"))
                .with_hint("templates know `params`, as in `{{ params.NAME }}`"),
        };
        reader.report(problem);
    }
}

/// A handler's files are its own affair: nothing would bring or take them.
fn refuse_files(fields: &mut Fields<'_, '_>, files: [(&'static str, bool); 3]) {
    for (field, _) in files.into_iter().filter(|(_, is_empty)| !is_empty) {
        fields.problem(field, "a handler runs in a process of yours, so no files are fetched or kept for it");
    }
}
