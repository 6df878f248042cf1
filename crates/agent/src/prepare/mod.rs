//! From an order to what the sidecar is told: templates rendered, variables set, files fetched.
//!
//! - `launch` is the order to the sidecar, `environment` its variables, `template` the texts in both, `users` as whom it runs.
//! - `fetch` copies artifacts, inputs and outputs, `cache` keeps artifacts for later, `turns` says how many at once.
//!
//! Most orders need nothing fetched and are made ready at once, without IO. The others are made ready in a task of their
//! own, beside everything else.

mod cache;
mod environment;
mod fetch;
mod launch;
mod template;
mod turns;
mod users;

use mainspring_sidecar::protocol::Start;
use mainspring_sidecar::{AttemptKey, Layout};

use crate::core::Order;
pub(crate) use fetch::Fetcher;
pub(crate) use users::Users;

/// The file in an attempt's directory that says where its outputs go.
const PUBLISH: &str = "publish.json";

/// An order that is ready, or needs more than a moment.
pub(crate) enum Prepared {
    /// Ready.
    Now(Box<Start>),
    /// It has artifacts, inputs or outputs: [`Fetcher::prepare`].
    Later,
}

/// Makes an order ready if that takes only a moment. The error is for people and names the field.
pub(crate) fn prepare(order: &Order, layout: &Layout, users: &Users) -> Result<Prepared, String> {
    let spec = &order.spec;
    if !spec.artifacts.is_empty() || !spec.inputs.is_empty() || !spec.outputs.is_empty() {
        return Ok(Prepared::Later);
    }
    let values = template::Values::new(order);
    Ok(Prepared::Now(Box::new(launch::start(order, &values, layout, users)?)))
}

/// Whether an attempt's outputs are to be copied away, as its directory says.
pub(crate) fn publishes(layout: &Layout, key: &AttemptKey) -> bool {
    layout.attempt(key).join(PUBLISH).exists()
}
