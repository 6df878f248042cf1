//! One action on every run that a query finds: first the count, then the question, then the deed.

use std::process::ExitCode;

use indicatif::ProgressBar;
use mainspring_client::api::{BulkAction, BulkRequest, BulkResult};

use crate::ask::confirm;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{count, plain};

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
    action: BulkAction,
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
    let mut request = BulkRequest { action, q, all, preview: true, expected_max: None, cursor: None };
    let preview = context.client.bulk(&request).await?;
    if preview.matched == 0 {
        context.output.say("no run matches");
        context.output.changed(&preview)?;
        return Ok(ExitCode::SUCCESS);
    }
    let more = if preview.next_cursor.is_some() { "at least " } else { "" };
    confirm(&format!("{verb} {more}{}?", count(preview.matched, "run")), yes)?;
    request.preview = false;
    // Not more than were confirmed. Where they come in parts, nobody knows how many there are; and where nobody was asked,
    // all that match are meant: a job that keeps submitting has more at each look, and could never be stopped.
    let is_whole = preview.next_cursor.is_none();
    request.expected_max = (is_whole && !yes).then_some(preview.matched);
    let bar = context.output.things_bar(is_whole.then_some(preview.matched as u64), "runs");
    let total = act_on_all(context, request, &bar).await;
    bar.finish_and_clear();
    let total = total.map_err(|failure| grown(failure, verb))?;
    // The server lists only some of those that could not be.
    let failed = total.matched.saturating_sub(total.done);
    context.output.say(format!("{} done, {failed} could not be", count(total.done, "run")));
    context.output.changed(&total)?;
    if failed > 0 { Err(Failure::silent(Exit::Failed)) } else { Ok(ExitCode::SUCCESS) }
}

/// Part by part, until nothing is left; the answers added up.
async fn act_on_all(
    context: &Context,
    mut request: BulkRequest,
    bar: &ProgressBar,
) -> Result<BulkResult, Failure> {
    let mut total = act_on_part(context, &mut request, bar).await?;
    while request.cursor.is_some() {
        let part = act_on_part(context, &mut request, bar).await?;
        total.matched += part.matched;
        total.done += part.done;
        total.failures.extend(part.failures);
    }
    Ok(total)
}

/// The next part; the request goes on behind it.
async fn act_on_part(
    context: &Context,
    request: &mut BulkRequest,
    bar: &ProgressBar,
) -> Result<BulkResult, Failure> {
    let mut part = context.client.bulk(request).await?;
    bar.suspend(|| {
        for failure in &part.failures {
            context.output.say(format!("{}: {}", failure.id, plain(&failure.detail)));
        }
    });
    bar.inc(part.matched as u64);
    request.cursor = part.next_cursor.take();
    Ok(part)
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
