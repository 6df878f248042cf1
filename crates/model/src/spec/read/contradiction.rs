//! Retries that would never be made, or never find a node: what the file asks for and nothing would act on is refused, with
//! what to write instead.

use serde_json::Value;

use super::Reader;
use crate::spec::{Action, Balancer, Delivery, Dispatch, Placement, Problem, Retry, RetryNode, Sticky};

/// The parts of a job that say whether and where a retry goes.
pub(super) struct Parts<'a> {
    pub(super) retry: &'a Retry,
    pub(super) delivery: Delivery,
    pub(super) dispatch: &'a Dispatch,
    pub(super) placement: &'a Placement,
}

/// Refuses what contradicts something else. `written` is the file's `retry`.
pub(super) fn refuse(reader: &mut Reader, written: &Value, parts: &Parts<'_>) {
    if parts.delivery == Delivery::AtMostOnce {
        refuse_all_retries(reader, written, parts.retry);
    } else {
        if parts.retry.max == 0 && written.get("backoff").is_some() {
            say(
                reader,
                "retry.backoff",
                "`max: 0` never retries, so nothing waits",
                "leave one of the two out",
            );
        }
        refuse_no_other(reader, parts);
    }
}

/// At-most-once means one attempt: whatever else the file says about retries is never used.
fn refuse_all_retries(reader: &mut Reader, written: &Value, retry: &Retry) {
    let message = "`delivery: at_most_once` makes one attempt and never retries";
    let max = written.as_u64().or_else(|| written.get("max")?.as_u64());
    if max.is_some_and(|max| max > 0) {
        say(reader, "retry", message, "leave it out");
    }
    for field in ["backoff", "max_elapsed", "node"] {
        if written.get(field).is_some() {
            say(reader, &format!("retry.{field}"), message, "leave it out");
        }
    }
    for (at, _) in retry.rules.iter().enumerate().filter(|(_, rule)| rule.then == Action::Retry) {
        say(reader, &format!("retry.rules[{at}].then"), message, "write `fail`");
    }
}

/// A retry that must go elsewhere needs a second node.
fn refuse_no_other(reader: &mut Reader, parts: &Parts<'_>) {
    if parts.retry.node != RetryNode::Other {
        return;
    }
    let Dispatch::Unicast { balancer } = parts.dispatch;
    let message = match balancer {
        Some(Balancer::Node(_)) => "`dispatch.balancer` names one node, so there is no other",
        Some(Balancer::Failover(nodes)) if nodes.len() == 1 => {
            "`dispatch.balancer` names one node, so there is no other"
        }
        _ if parts.placement.sticky == Some(Sticky::Require) => {
            "`placement.sticky: require` goes to one node, so there is no other"
        }
        _ => return,
    };
    say(reader, "retry.node", message, "write `other_unless_only_one`, or leave it out");
}

fn say(reader: &mut Reader, path: &str, message: &str, hint: &str) {
    reader.report(Problem::new(path, message).with_hint(hint));
}
