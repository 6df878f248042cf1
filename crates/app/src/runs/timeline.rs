//! What happened to a run, in order: from the moments in its row, its attempts, and its remarkable events.

use mainspring_model::{Reason, Run, RunEvent, RunEventKind, RunId, RunState, Timestamp};
use mainspring_wire::api::{self, TimelineEntry, TimelineKind};

use crate::app::App;
use crate::error::Result;
use crate::operation::Operation;
use crate::principal::Caller;
use crate::words::Words;

impl App {
    /// What happened to a run.
    pub async fn timeline(&self, caller: &Caller, run: RunId) -> Result<Vec<TimelineEntry>> {
        let row = self.find_run(caller, Operation::RunTimeline, run).await?;
        // When an attempt started is written with its end: until then its owner knows.
        let row = self.live(&row).await.map_or(row, |live| live.run);
        let attempts = self.attempts_of(&row).await?;
        let events = self.store.events(run).await?;
        let next = Reason::of_moment(&row.status, self.attempts_max(&row).await);
        let mut told = tell(&row, &attempts, &events, next.as_ref());
        for entry in &mut told {
            if let Some(node) = entry.node
                && let Some(name) = self.node_name(node).await
            {
                for words in [&mut entry.message, &mut entry.message_zh] {
                    *words = words.replace(&node.to_string(), &name);
                }
            }
        }
        Ok(told)
    }
}

/// Everything, by time; of one moment, in the order in which things follow each other.
fn tell(
    row: &Run,
    attempts: &[api::Attempt],
    events: &[RunEvent],
    next: Option<&Reason>,
) -> Vec<TimelineEntry> {
    let (head, status) = (&row.head, &row.status);
    let by = &head.submitted_by;
    let mut entries = vec![TimelineEntry {
        by: Some(by.to_string()),
        ..entry(
            head.created_at,
            TimelineKind::Accepted,
            Words::new(format!("submitted by {by}"), format!("由 {by} 提交")),
        )
    }];
    if let Some(at) = status.eligible_at {
        entries.push(entry(at, TimelineKind::Queued, Words::new("queued", "进入队列")));
    }
    for attempt in attempts {
        entries.extend(of_attempt(attempt));
    }
    entries.extend(events.iter().map(of_event));
    if status.state.is_terminal() {
        let at = status.finished_at.unwrap_or(head.created_at);
        let message = match &status.cause {
            Some(cause) => Words::new(
                format!("{}: {cause}", status.state.name()),
                format!("{}：{}", chinese_state(status.state), cause.message_zh()),
            ),
            None => Words::new(status.state.name(), chinese_state(status.state)),
        };
        let cause = status.cause.as_ref().map(Into::into);
        entries.push(TimelineEntry { cause, ..entry(at, TimelineKind::Ended, message) });
    } else if status.state == RunState::Failed
        && let Some(reason) = next
    {
        let at = status.finished_at.unwrap_or(head.created_at);
        let queued = entry(at, TimelineKind::Queued, Words::new(reason, reason.message_zh()));
        entries.push(TimelineEntry { attempt: Some(status.attempt + 1), ..queued });
    }
    // Whoever accepted it may have a clock that is a little ahead of the owner's.
    let accepted = head.created_at.into();
    for entry in &mut entries {
        entry.at = entry.at.max(accepted);
    }
    entries.sort_by_key(|entry| (entry.at, step(entry), entry.kind));
    entries
}

/// What comes first of one moment: one attempt ends and the next is placed in the same.
fn step(entry: &TimelineEntry) -> u32 {
    match (entry.kind, entry.attempt) {
        (TimelineKind::Ended, _) => u32::MAX,
        (_, attempt) => attempt.unwrap_or(0),
    }
}

fn of_attempt(attempt: &api::Attempt) -> Vec<TimelineEntry> {
    let n = attempt.number;
    let number = match attempt.attempts_max {
        Some(most) => Words::new(format!("attempt {n} of {most}"), format!("第 {n} 次尝试（共 {most} 次）")),
        None => Words::new(format!("attempt {n}"), format!("第 {n} 次尝试")),
    };
    let made = |at: api::Time, kind, en: String, zh: String| TimelineEntry {
        attempt: Some(attempt.number),
        node: attempt.node,
        ..entry(at.0, kind, Words::new(format!("{} {en}", number.en), format!("{}{zh}", number.zh)))
    };
    let mut entries = Vec::new();
    if let Some(at) = attempt.placed_at {
        let node = attempt.node_name.clone().or_else(|| attempt.node.map(|node| node.to_string()));
        let (en, zh) = match node {
            Some(node) => (format!("placed on {node}"), format!("分配到 {node}")),
            None => ("placed".into(), "已分配".into()),
        };
        entries.push(made(at, TimelineKind::Placed, en, zh));
    }
    if let Some(at) = attempt.started_at {
        entries.push(made(at, TimelineKind::Started, "started".into(), "开始".into()));
    }
    if let (Some(at), Some(cause)) = (attempt.finished_at, &attempt.cause) {
        let (en, zh) = (format!("ended: {}", cause.message), format!("结束：{}", cause.message_zh));
        let ended = made(at, TimelineKind::AttemptEnded, en, zh);
        entries.push(TimelineEntry { cause: Some(cause.clone()), ..ended });
    }
    entries
}

fn of_event(event: &RunEvent) -> TimelineEntry {
    let words = event_words(&event.kind);
    let made = |kind| entry(event.at, kind, words.clone());
    match &event.kind {
        RunEventKind::CancelRequested { by } => {
            TimelineEntry { by: Some(by.to_string()), ..made(TimelineKind::CancelRequested) }
        }
        RunEventKind::RetriedNow { by } => {
            TimelineEntry { by: Some(by.to_string()), ..made(TimelineKind::RetriedNow) }
        }
        RunEventKind::Prioritised { by, .. } => {
            TimelineEntry { by: Some(by.to_string()), ..made(TimelineKind::Prioritised) }
        }
        RunEventKind::NodeLost { node, attempt } => {
            TimelineEntry { node: Some(*node), attempt: Some(*attempt), ..made(TimelineKind::NodeLost) }
        }
        RunEventKind::Reattached { node, attempt } => {
            TimelineEntry { node: Some(*node), attempt: Some(*attempt), ..made(TimelineKind::Reattached) }
        }
        RunEventKind::HandedOver { .. } => made(TimelineKind::HandedOver),
        RunEventKind::MaybeDoubled { attempt } => {
            TimelineEntry { attempt: Some(*attempt), ..made(TimelineKind::MaybeDoubled) }
        }
        RunEventKind::Overlapped => made(TimelineKind::Overlapped),
    }
}

fn event_words(event: &RunEventKind) -> Words {
    match event {
        RunEventKind::CancelRequested { by } => {
            Words::new(format!("{by} asked for its end"), format!("{by} 要求结束它"))
        }
        RunEventKind::RetriedNow { by } => {
            Words::new(format!("{by} had it tried again"), format!("{by} 让它立即重试"))
        }
        RunEventKind::Prioritised { by, from, to } => Words::new(
            format!("{by} changed its priority from {from} to {to}"),
            format!("{by} 将优先级从 {from} 改为 {to}"),
        ),
        RunEventKind::NodeLost { node, .. } => Words::new(format!("{node} was lost"), format!("{node} 失联")),
        RunEventKind::Reattached { node, .. } => {
            Words::new(format!("{node} still has it"), format!("{node} 仍在执行它"))
        }
        RunEventKind::HandedOver { to } => Words::new(format!("given to {to}"), format!("交给单元 {}", to.0)),
        RunEventKind::MaybeDoubled { .. } => {
            Words::new("two attempts may have executed at once", "可能有两次尝试同时执行过")
        }
        RunEventKind::Overlapped => Words::new("a newer run replaced it", "被更新的运行取代"),
    }
}

const fn chinese_state(state: RunState) -> &'static str {
    match state {
        RunState::Ready => "待就绪",
        RunState::Waiting => "排队中",
        RunState::Running => "运行中",
        RunState::Failed => "失败待重试",
        RunState::Success => "成功",
        RunState::FinalFailed => "最终失败",
        RunState::Cancelled => "已取消",
        RunState::Skipped => "已跳过",
    }
}

fn entry(at: Timestamp, kind: TimelineKind, words: Words) -> TimelineEntry {
    let Words { en: message, zh: message_zh } = words;
    TimelineEntry {
        at: at.into(),
        kind,
        message,
        message_zh,
        attempt: None,
        node: None,
        by: None,
        cause: None,
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::{CellId, NodeId};

    use super::*;

    #[test]
    fn every_event_is_said_in_both_languages_with_its_facts() {
        let (node, attempt) = (NodeId::new(Timestamp::ZERO, 7), 1);
        for (event, fact) in [
            (RunEventKind::CancelRequested { by: "ann".into() }, "ann".to_owned()),
            (RunEventKind::RetriedNow { by: "ann".into() }, "ann".to_owned()),
            (RunEventKind::Prioritised { by: "ann".into(), from: 1, to: 900 }, "900".to_owned()),
            (RunEventKind::NodeLost { node, attempt }, node.to_string()),
            (RunEventKind::Reattached { node, attempt }, node.to_string()),
            (RunEventKind::HandedOver { to: CellId(3) }, "3".to_owned()),
            (RunEventKind::MaybeDoubled { attempt }, String::new()),
            (RunEventKind::Overlapped, String::new()),
        ] {
            let Words { en, zh } = event_words(&event);
            assert!(en.is_ascii() && en.contains(&fact), "{en}");
            assert!(!zh.is_ascii() && zh.contains(&fact), "{zh}");
        }
    }

    #[test]
    fn an_attempt_is_told_in_both_languages() {
        let at = Some(Timestamp::ZERO.into());
        let cause = mainspring_model::Cause::Exit { code: 2 };
        let attempt = api::Attempt {
            number: 1,
            attempts_max: Some(4),
            node: None,
            node_name: Some("db-1".into()),
            placed_at: at,
            started_at: at,
            finished_at: at,
            cause: Some((&cause).into()),
            usage: None,
        };
        let told = of_attempt(&attempt);
        let said: Vec<_> =
            told.iter().map(|entry| (entry.message.as_str(), entry.message_zh.as_str())).collect();
        assert_eq!(
            said,
            [
                ("attempt 1 of 4 placed on db-1", "第 1 次尝试（共 4 次）分配到 db-1"),
                ("attempt 1 of 4 started", "第 1 次尝试（共 4 次）开始"),
                ("attempt 1 of 4 ended: exit code 2", "第 1 次尝试（共 4 次）结束：退出码 2"),
            ]
        );
    }
}
