//! Why an attempt or a run ended, for readers: the kind, a sentence, and the numbers that the kind has.

use mainspring_model::{Cause as Model, NodeId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why an attempt or a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cause {
    /// The kind: `exit`, `signal`, `oom`, `timeout`, `lost`, `vanished`, `refused`, `start_failed`, `error`, `drained`,
    /// `cancelled`, `overlap` or `quarantined`.
    pub kind: String,
    /// A sentence.
    pub message: String,
    /// The sentence in Chinese.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message_zh: String,
    /// The exit code of `exit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The number of `signal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The limit of `timeout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The node of `lost`, `vanished` and `drained`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The class of `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Who, of `cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The losses of `quarantined`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<u32>,
}

impl From<&Model> for Cause {
    fn from(cause: &Model) -> Self {
        let mut this = Self {
            kind: cause.name().into(),
            message: cause.to_string(),
            message_zh: cause.message_zh(),
            exit_code: None,
            signal: None,
            limit: None,
            node: None,
            class: None,
            by: None,
            losses: None,
        };
        match cause {
            Model::Exit { code } => this.exit_code = Some(*code),
            Model::Signal { signal } => this.signal = Some(*signal),
            Model::Timeout { limit } => this.limit = Some(limit.name().into()),
            Model::Lost { node } | Model::Vanished { node } | Model::Drained { node } => {
                this.node = Some(*node);
            }
            Model::Error { class, .. } => this.class = Some(class.to_string()),
            Model::Cancelled { by } => this.by = Some(by.to_string()),
            Model::Quarantined { losses } => this.losses = Some(*losses),
            Model::Oom | Model::Refused { .. } | Model::StartFailed { .. } | Model::Overlap => {}
        }
        this
    }
}

impl Cause {
    /// Puts the name of the node that it is about in place of its id.
    pub fn name_node(&mut self, node: NodeId, name: &str) {
        for words in [&mut self.message, &mut self.message_zh] {
            *words = words.replace(&node.to_string(), name);
        }
    }
}
