//! Rendering a job's key templates with a run's parameters, once, when the run is accepted. The rendered
//! keys are stored with the run, so a new owner groups it as the old one did.

use mainspring_model::spec::{Balancer, Budget, Dispatch, Template};
use mainspring_model::{JobSpec, RunKeys, limits};

/// The keys of a run, or none when the job has no key template. The error names the field. Schedulers that
/// insert a run for a cell they do not own call it too.
pub fn render(spec: &JobSpec, params: &[u8]) -> Result<Option<Box<RunKeys>>, String> {
    let concurrency = spec.concurrency.as_ref().and_then(|concurrency| concurrency.key.as_ref());
    let rate = spec.rate_limit.as_ref().and_then(|rate| rate.key.as_ref());
    let Dispatch::Unicast { balancer } = &spec.dispatch;
    let hash = match balancer {
        Some(Balancer::ConsistentHash(key)) => Some(key),
        _ => None,
    };
    if concurrency.is_none() && rate.is_none() && hash.is_none() {
        return Ok(None);
    }
    let params: serde_json::Value = if params.is_empty() {
        serde_json::Value::Object(serde_json::Map::new())
    } else {
        serde_json::from_slice(params).map_err(|error| format!("params: not JSON: {error}"))?
    };
    let mut budget = Budget::default();
    let mut one = |field, template| one(field, template, &params, &mut budget);
    Ok(Some(Box::new(RunKeys {
        concurrency: one("concurrency.key", concurrency)?,
        rate: one("rate_limit.key", rate)?,
        hash: one("dispatch.balancer.consistent_hash", hash)?,
    })))
}

fn one(
    field: &str,
    template: Option<&Template>,
    params: &serde_json::Value,
    budget: &mut Budget,
) -> Result<Box<str>, String> {
    let Some(template) = template else { return Ok("".into()) };
    let key = template.render(params, budget).map_err(|wrong| format!("{field}: {wrong}"))?;
    if key.len() > limits::RENDERED_KEY_BYTES_MAX {
        return Err(format!(
            "{field}: the key has {} bytes, at most {} are allowed",
            key.len(),
            limits::RENDERED_KEY_BYTES_MAX
        ));
    }
    Ok(key.into())
}
