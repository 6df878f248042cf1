//! What a worker says, as messages.

use bytes::Bytes;
use mainspring_model::{AttemptToken, Timestamp, limits};
use mainspring_wire::agent::{
    Accepted, Finished, Goodbye, Heartbeat, Held, NodeWord, Progress, Progressed, Report, Started, node_word,
    report,
};

/// Room for how much was cut.
const CUT_BYTES_MAX: usize = 40;

pub(super) fn word(word: node_word::Word) -> NodeWord {
    NodeWord { word: Some(word) }
}

/// A report about an attempt, for a connection.
pub(super) fn report(session: u64, beat: u64, token: AttemptToken, news: report::News) -> NodeWord {
    word(node_word::Word::Report(Report { session, beat, token: Some(token.into()), news: Some(news) }))
}

pub(super) fn accepted() -> report::News {
    report::News::Accepted(Accepted {})
}

pub(super) fn started() -> report::News {
    report::News::Started(Started {})
}

pub(super) fn finished(now: Timestamp, begun_at: Option<Timestamp>, ending: &Finished) -> report::News {
    let ago = |at| u64::try_from(now.since(at).as_micros()).unwrap_or(u64::MAX);
    report::News::Finished(Finished { begun_us_ago: begun_at.map(ago), ..ending.clone() })
}

pub(super) fn progressed(progress: Option<Progress>, checkpoint: Option<Bytes>) -> report::News {
    report::News::Progressed(Progressed { progress, checkpoint })
}

/// The function's words, no longer than is kept; what was cut is said. A word that no owner takes would end the connection of
/// every attempt.
pub(super) fn short(message: String) -> String {
    if message.len() <= limits::MESSAGE_BYTES_MAX {
        return message;
    }
    let kept = message.floor_char_boundary(limits::MESSAGE_BYTES_MAX - CUT_BYTES_MAX);
    format!("{}… ({} bytes more)", &message[..kept], message.len() - kept)
}

pub(super) fn heartbeat(session: u64, beat: u64, held: Vec<Held>) -> NodeWord {
    word(node_word::Word::Heartbeat(Heartbeat { session, beat, held, usage: None }))
}

pub(super) fn goodbye(session: u64) -> NodeWord {
    word(node_word::Word::Goodbye(Goodbye { session }))
}
