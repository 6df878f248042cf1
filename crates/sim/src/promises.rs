//! What a commit may not do to a run's state, its deadline and its checkpoint. Free functions over
//! what changed; the checker asks them for every change.

use std::time::Duration;

use mainspring_model::{AttemptToken, Cause, JobSpec, Payload, RunHead, RunStatus, TimeoutKind, Timestamp};

use crate::checker::{Verdict, fail};

/// A cell looks at its timers between other things: an owner that stood still may have placed a run before it did.
const LATE_MAX: Duration = Duration::from_secs(9);

/// What a task writes down to be continued from: who it is, and how far it got.
pub(crate) fn checkpoint(token: AttemptToken, step: u32) -> Payload {
    format!("{} {step}", token.number).into_bytes().into()
}

/// The attempt that wrote a checkpoint. How far it was is not compared: words of one connection come in order in the product,
/// and not here.
fn written_by(checkpoint: &Payload) -> u32 {
    let text = std::str::from_utf8(checkpoint).expect("what a task wrote");
    text.split(' ').next().and_then(|attempt| attempt.parse().ok()).expect("what a task wrote")
}

pub(crate) fn kept(status: &RunStatus) -> Option<&Payload> {
    status.extra.as_ref().and_then(|extra| extra.checkpoint.as_ref())
}

/// I9: a checkpoint is written by the attempt that is current, is never lost, and never goes back to an earlier attempt's.
pub(crate) fn continues(head: &RunHead, before: &RunStatus, after: &RunStatus) -> Verdict {
    let (old, new) = (kept(before), kept(after));
    if old == new {
        return Ok(());
    }
    let Some(new) = new else { return fail("I9", head.id, "the checkpoint is lost".into()) };
    let by = written_by(new);
    if by < before.attempt || by > after.attempt || old.is_some_and(|old| written_by(old) > by) {
        let what = format!("attempt {by} wrote a checkpoint while {} was current", after.attempt);
        return fail("I9", head.id, what);
    }
    Ok(())
}

/// A deadline holds on the owner's clock: nothing is placed behind it, and nothing is given up before it.
pub(crate) fn in_time(head: &RunHead, spec: &JobSpec, after: &RunStatus) -> Verdict {
    let Some(deadline) = head.deadline else { return Ok(()) };
    if after.placed_at.is_some_and(|placed_at| placed_at > deadline + LATE_MAX) {
        return fail("deadline", head.id, "placed behind its deadline".into());
    }
    let given_up = after.cause == Some(Cause::Timeout { limit: TimeoutKind::Total });
    if given_up && spec.timeout.total.is_none() && after.finished_at.is_none_or(|at: Timestamp| at < deadline)
    {
        return fail("deadline", head.id, "given up before its deadline".into());
    }
    Ok(())
}

/// I7, I8: only legal paths, each by one version, and nothing after the end.
pub(crate) fn legal(head: &RunHead, before: &RunStatus, after: &RunStatus) -> Verdict {
    if before.state.is_terminal() {
        return fail("I7", head.id, format!("{:?} became {:?}", before.state, after.state));
    }
    if !before.state.reaches(after.state) {
        return fail("I8", head.id, format!("{:?} cannot become {:?}", before.state, after.state));
    }
    if after.version != before.version + 1 || after.attempt < before.attempt {
        let what = format!(
            "version {} → {}, attempt {} → {}",
            before.version, after.version, before.attempt, after.attempt
        );
        return fail("I8", head.id, what);
    }
    if after.state.is_terminal() && (after.cause.is_none() || after.place.is_some()) {
        return fail("I8", head.id, format!("{:?} without a cause, or still on a shelf", after.state));
    }
    Ok(())
}
