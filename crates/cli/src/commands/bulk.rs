//! One action on every run that a query finds: first the count, then the question, then the deed.

use std::process::ExitCode;

use mainspring_client::api::{BulkAction, BulkRequest};

use crate::ask::confirm;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::count;

/// Does `action` to all that `q` finds, after the person said yes.
pub(crate) async fn act(
    context: &Context,
    action: BulkAction,
    verb: &str,
    q: &str,
    yes: bool,
) -> Result<ExitCode, Failure> {
    let q = match context.namespace() {
        Some(namespace) => format!("{q} namespace:{namespace}"),
        None => q.to_owned(),
    };
    let mut request = BulkRequest { action, q, preview: true, expected_max: None, cursor: None };
    let preview = context.client.bulk(&request).await?;
    if preview.matched == 0 {
        context.output.say("no run matches");
        return Ok(ExitCode::SUCCESS);
    }
    let more = if preview.next_cursor.is_some() { "at least " } else { "" };
    confirm(&format!("{verb} {more}{}?", count(preview.matched, "run")), yes)?;
    request.preview = false;
    let (mut done, mut failed) = (0, 0);
    loop {
        let result = context.client.bulk(&request).await?;
        done += result.done;
        failed += result.failures.len();
        for failure in &result.failures {
            context.output.say(format!("{}: {}", failure.id, failure.detail));
        }
        match result.next_cursor {
            Some(cursor) => request.cursor = Some(cursor),
            None => break,
        }
    }
    context.output.say(format!("{} done, {failed} could not be", count(done, "run")));
    if failed > 0 { Err(Failure::silent(Exit::Failed)) } else { Ok(ExitCode::SUCCESS) }
}
