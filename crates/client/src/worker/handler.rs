//! Functions by name, and how they fail.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::Context;

/// A function that failed: the class is for retry rules, the message for people.
///
/// Every error type becomes one with `?`, of the class `error`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskError {
    pub(crate) class: String,
    pub(crate) message: String,
}

impl TaskError {
    /// An error of a class of your own, such as `DuplicateOrder`.
    pub fn new(class: impl Into<String>, message: impl Into<String>) -> Self {
        Self { class: class.into(), message: message.into() }
    }
}

impl<E: std::error::Error> From<E> for TaskError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        Self::new("error", message)
    }
}

/// The JSON of a result, or the failure.
pub(super) type Outcome = Result<Vec<u8>, TaskError>;
pub(super) type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;
/// A function without its types.
pub(super) type Handler = Arc<dyn Fn(Context) -> Running + Send + Sync>;

/// Takes a function's types away: input is read from the parameters, the result is written as JSON.
pub(super) fn erase<F, I, O, R>(function: F) -> Handler
where
    F: Fn(Context, I) -> R + Send + Sync + 'static,
    I: DeserializeOwned,
    O: Serialize,
    R: Future<Output = Result<O, TaskError>> + Send + 'static,
{
    Arc::new(move |context: Context| -> Running {
        let input = match context.input::<I>() {
            Ok(input) => input,
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let running = function(context, input);
        Box::pin(async move {
            let result = running.await?;
            serde_json::to_vec(&result).map_err(|error| TaskError::new("invalid_result", error.to_string()))
        })
    })
}
