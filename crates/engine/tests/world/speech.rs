//! What the cell said, in short words: `start r1#1 on a`, `stop r1#1 on a after 10s`, `1: submitted r1`.

use mainspring_engine::{Answer, Message};
use mainspring_model::{AttemptToken, NodeId, RunId};

use super::World;

impl World {
    /// Everything said since the last call, in order, except heartbeats' answers.
    pub(crate) fn said(&mut self) -> Vec<String> {
        let messages = std::mem::take(&mut self.said);
        messages.iter().filter_map(|message| self.words(message)).collect()
    }

    /// Asserts that exactly this was said since the last look, in any order.
    #[track_caller]
    pub(crate) fn expect(&mut self, expected: &[&str]) {
        let (mut said, mut expected) = (self.said(), expected.to_vec());
        said.sort();
        expected.sort();
        assert_eq!(said, expected);
    }

    /// Asserts that nothing was said since the last look.
    #[track_caller]
    pub(crate) fn quiet(&mut self) {
        self.expect(&[]);
    }

    /// Does not care what was said so far.
    pub(crate) fn hush(&mut self) {
        self.said.clear();
    }

    /// The orders said since the last look, `r1#1 on a`, in order; the rest is not cared for.
    pub(crate) fn starts(&mut self) -> Vec<String> {
        self.said().iter().filter_map(|words| words.strip_prefix("start ").map(str::to_owned)).collect()
    }

    /// The messages themselves.
    pub(crate) fn messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.said)
    }

    fn words(&self, message: &Message) -> Option<String> {
        Some(match message {
            Message::Beat { .. } => return None,
            Message::Reply { request, answer } => format!("{}: {}", request.0, self.answer_words(answer)),
            Message::Welcome { node, session, .. } => format!("welcome {} {session}", self.node_name(*node)),
            Message::WhoAreYou { node } => format!("who are you {}", self.node_name(*node)),
            Message::Start(order) => {
                format!("start {} on {}", self.attempt_words(order.token), self.node_name(order.node))
            }
            Message::Stop { node, token, grace, .. } => format!(
                "stop {} on {} after {}s",
                self.attempt_words(*token),
                self.node_name(*node),
                grace.as_secs()
            ),
            Message::Forget { node, token, stale } => format!(
                "forget {} on {}{}",
                self.attempt_words(*token),
                self.node_name(*node),
                if *stale { " stale" } else { "" }
            ),
            Message::Read(query) => format!("read {:?}", query.shelf),
            Message::ReadTriggers(_) | Message::ReadSpecs(_) | Message::ReadMoments(_) => return None,
            Message::Damaged { row } => format!("damaged {row}"),
            Message::Hint { cell } => format!("hint {cell}"),
        })
    }

    fn answer_words(&self, answer: &Answer) -> String {
        match answer {
            Answer::Submitted { run, duplicate: false } => format!("submitted {}", self.run_name(*run)),
            Answer::Submitted { run, duplicate: true } => format!("already {}", self.run_name(*run)),
            Answer::Done => "done".into(),
            Answer::Refused { code, .. } => format!("refused {code:?}"),
        }
    }

    fn attempt_words(&self, token: AttemptToken) -> String {
        format!("{}#{}", self.run_name(token.run), token.number)
    }

    pub(crate) fn run_name(&self, run: RunId) -> String {
        self.names.get(&run).cloned().unwrap_or_else(|| run.to_string())
    }

    /// The run of this name.
    pub(crate) fn named(&self, name: &str) -> RunId {
        let found = self.names.iter().find(|(_, have)| *have == name);
        *found.expect("a run of this name").0
    }

    pub(crate) fn node_name(&self, node: NodeId) -> String {
        match (self.agents.get(&node), self.store.node(node)) {
            (Some(agent), _) => agent.node.name.to_string(),
            (None, Some(row)) => row.name.to_string(),
            (None, None) => node.to_string(),
        }
    }
}
