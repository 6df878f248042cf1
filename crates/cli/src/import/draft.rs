//! A job file before it is read back: only what the translators write, in the order in which a person reads.
//!
//! Fields that are templates in a job file hold templates here too: see `literal.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_model::duration_text;
use serde::Serialize;
use serde_json::{Value, json};

/// A job.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Draft {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) process: Option<Task>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) script: Option<Task>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) triggers: Vec<Trigger>,
    /// Neither cron nor a timer tries again.
    pub(super) retry: u32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) timeout: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) resources: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) concurrency: Option<Value>,
}

/// A process or a script, by which of `command` and `text` it has.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Task {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interpreter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) args: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stdin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
}

/// When it fires.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Trigger {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cron: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) every: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delay: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) zone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) days: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dst: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) jitter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) misfire: Option<Value>,
}

impl Draft {
    /// Puts the task where it belongs.
    pub(super) fn set_task(&mut self, task: Task) {
        match task.command.is_some() {
            true => self.process = Some(task),
            false => self.script = Some(task),
        }
    }

    /// Gives names to triggers of one kind.
    pub(super) fn name_triggers(&mut self) {
        let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
        for trigger in &mut self.triggers {
            let kind = trigger.kind();
            let number = seen.entry(kind).or_default();
            *number += 1;
            if *number > 1 {
                trigger.name = Some(format!("{kind}-{number}"));
            }
        }
    }
}

impl Trigger {
    fn kind(&self) -> &'static str {
        match (&self.cron, &self.every) {
            (Some(_), _) => "cron",
            (None, Some(_)) => "every",
            (None, None) => "delay",
        }
    }
}

/// Nothing is made up for.
pub(super) fn misfire_skip() -> Option<Value> {
    Some(json!("skip"))
}

/// A duration as job files write it.
pub(super) fn duration(span: Duration) -> String {
    duration_text::format(span)
}
