//! One action on every run that a query finds: first the count, then the question, then the deed.

use std::process::ExitCode;
use std::time::Duration;

use mainspring_client::api::{BulkAction, BulkOperation, BulkRequest, BulkState};
use serde_json::Value;

use crate::ask::confirm;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{count, plain};

/// The first look at an operation comes soon, the following ones ever later.
const LOOK_FIRST: Duration = Duration::from_millis(20);
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is done.
#[derive(Debug, Clone)]
pub(crate) struct Deed {
    pub(crate) action: BulkAction,
    /// The priority that runs get.
    pub(crate) priority: Option<Value>,
}

impl From<BulkAction> for Deed {
    fn from(action: BulkAction) -> Self {
        Self { action, priority: None }
    }
}

/// Which runs are meant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which<'a> {
    /// Those that a query finds.
    Query(&'a str),
    /// All of them.
    All,
}

impl<'a> Which<'a> {
    /// What the flags say; none when neither is there. A query without a word is refused: it is more often a variable that is
    /// not set than a wish.
    pub(crate) fn of(query: Option<&'a str>, all: bool) -> Result<Option<Self>, Failure> {
        match query {
            _ if all => Ok(Some(Self::All)),
            Some(query) if query.trim().is_empty() => {
                Err(Failure::usage("--query: a query without a word finds every run")
                    .hint("name at least one word, such as `job:etl`, or say --all"))
            }
            query => Ok(query.map(Self::Query)),
        }
    }
}

/// Does `action` to all that are meant, after the person said yes.
pub(crate) async fn act(
    context: &Context,
    deed: impl Into<Deed>,
    verb: &str,
    which: Which<'_>,
    yes: bool,
) -> Result<ExitCode, Failure> {
    let (q, all) = match (which, context.namespace()) {
        (Which::Query(q), Some(namespace)) => (format!("{q} namespace:{namespace}"), false),
        (Which::Query(q), None) => (q.to_owned(), false),
        (Which::All, Some(namespace)) => (format!("namespace:{namespace}"), false),
        (Which::All, None) => (String::new(), true),
    };
    let Deed { action, priority } = deed.into();
    let request =
        BulkRequest { action, q, runs: Vec::new(), all, priority, preview: true, expected_max: None };
    let counts = context.client.preview_bulk(&request).await?.counts;
    if counts.matched == 0 {
        context.output.say("no run matches");
        context.output.changed(&counts)?;
        return Ok(ExitCode::SUCCESS);
    }
    let more = if counts.exact { "" } else { "at least " };
    confirm(&format!("{verb} {more}{}?", count(counts.matched as usize, "run")), yes)?;
    // Not more than were confirmed. Where not all were counted, nobody knows how many there are; and where nobody was asked,
    // all that match are meant: a job that keeps submitting has more at each look, and could never be stopped.
    let expected_max = (counts.exact && !yes).then_some(counts.matched);
    let request = BulkRequest { expected_max, ..request };
    let started = context.client.start_bulk(&request).await.map_err(|error| grown(error.into(), verb))?;
    let over = follow(context, started).await?;
    for failure in &over.failures {
        context.output.say(format!("{}: {}", failure.id, plain(&failure.detail)));
    }
    let stopped = if over.state == BulkState::Stopped { "; it was stopped" } else { "" };
    let done = count(over.done as usize, "run");
    context.output.say(format!("{done} done, {} could not be{stopped}", over.failed));
    context.output.changed(&over)?;
    let is_whole = over.failed == 0 && over.state == BulkState::Done;
    if is_whole { Ok(ExitCode::SUCCESS) } else { Err(Failure::silent(Exit::Failed)) }
}

/// Looks at an operation until it is over. It goes on without whoever looks.
async fn follow(context: &Context, mut operation: BulkOperation) -> Result<BulkOperation, Failure> {
    let bar = context.output.things_bar(operation.exact.then_some(operation.matched), "runs");
    let mut pause = LOOK_FIRST;
    while operation.state == BulkState::Running {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_EVERY);
        operation = context.client.bulk_operation(operation.id).await.map_err(|error| {
            let id = operation.id;
            Failure::from(error).hint(format!("the operation {id} goes on without this command"))
        })?;
        bar.set_position(operation.done + operation.failed);
    }
    bar.finish_and_clear();
    Ok(operation)
}

/// More runs match than were counted: nothing was done, and the count is to be confirmed anew.
fn grown(failure: Failure, verb: &str) -> Failure {
    if failure.exit != Exit::Conflict {
        return failure;
    }
    failure.hint(format!(
        "nothing was done, because more match by now; `mainspring {}` counts them anew",
        verb.to_lowercase()
    ))
}
