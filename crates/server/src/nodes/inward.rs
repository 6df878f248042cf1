//! A node's words as events of the engine.

use std::time::Duration;

use mainspring_engine::{Ending, Event, Heartbeat, Held, Hello, News, Report, Stage};
use mainspring_model::{AttemptToken, CellId, NodeId, Payload, Progress, Usage, limits};
use mainspring_wire::agent::{self as wire, Malformed, held, report};

/// A node's introduction.
pub(super) fn hello(node: NodeId, cell: CellId, hello: &wire::Hello) -> Result<Event, Malformed> {
    let described = hello.node(cell)?;
    debug_assert_eq!(described.id, node);
    Ok(Event::Hello(Box::new(Hello {
        node: described,
        session: hello.session,
        beat: hello.beat,
        held: all_held(&hello.held)?,
    })))
}

pub(super) fn heartbeat(node: NodeId, heartbeat: &wire::Heartbeat) -> Result<Event, Malformed> {
    let wire::Heartbeat { session, beat, held, .. } = heartbeat;
    Ok(Event::Heartbeat(Heartbeat { node, session: *session, beat: *beat, held: all_held(held)? }))
}

pub(super) fn report(node: NodeId, report: wire::Report) -> Result<Event, Malformed> {
    let wire::Report { session, beat, token: said, news } = report;
    let token = token(said.as_ref())?;
    let news = match news.ok_or_else(|| Malformed::missing("news"))? {
        report::News::Accepted(_) => News::Accepted,
        report::News::Started(_) => News::Started,
        report::News::Progressed(progressed) => progress(progressed)?,
        report::News::Finished(finished) => News::Finished(ending(node, finished)?),
    };
    Ok(Event::Report(Box::new(Report { node, session, beat, token, news })))
}

pub(super) fn token(token: Option<&wire::Token>) -> Result<AttemptToken, Malformed> {
    AttemptToken::try_from(token.ok_or_else(|| Malformed::missing("token"))?)
}

fn all_held(held: &[wire::Held]) -> Result<Vec<Held>, Malformed> {
    let one = |held: &wire::Held| {
        let stage = match held.stage.as_ref().ok_or_else(|| Malformed::missing("stage"))? {
            held::Stage::Accepted(_) => Stage::Accepted,
            held::Stage::ExecutingUs(micros) => Stage::Executing(Duration::from_micros(*micros)),
            held::Stage::Over(_) => Stage::Over,
        };
        Ok(Held { token: token(held.token.as_ref())?, stage })
    };
    held.iter().map(one).collect()
}

fn progress(progressed: wire::Progressed) -> Result<News, Malformed> {
    let wire::Progressed { progress, checkpoint } = progressed;
    if let Some(checkpoint) = &checkpoint {
        within("checkpoint", checkpoint.len(), limits::CHECKPOINT_BYTES_MAX)?;
    }
    let progress = progress.map(|wire::Progress { permille, message }| Progress {
        permille: permille.min(1_000) as u16,
        message: cut(message).into(),
    });
    Ok(News::Progressed { progress, checkpoint: checkpoint.map(|bytes| Payload::from(&bytes[..])) })
}

fn ending(node: NodeId, finished: wire::Finished) -> Result<Ending, Malformed> {
    let wire::Finished { cause, stopped, begun_us_ago, result, cpu_us, memory_peak_bytes, silent } = finished;
    if let Some(result) = &result {
        within("result", result.len(), limits::RESULT_BYTES_MAX)?;
    }
    Ok(Ending {
        cause: cause.ok_or_else(|| Malformed::missing("cause"))?.told_by(node)?,
        stopped,
        begun_ago: begun_us_ago.map(Duration::from_micros),
        result: result.map(|bytes| Payload::from(&bytes[..])),
        usage: Usage { cpu_us, memory_peak_bytes, silent },
    })
}

pub(super) fn within(field: &'static str, length: usize, limit: usize) -> Result<(), Malformed> {
    if length > limit {
        return Err(Malformed::new(field, format!("{length} bytes, at most {limit} are allowed")));
    }
    Ok(())
}

/// What people write is cut, not refused.
fn cut(mut message: String) -> String {
    let mut end = message.len().min(limits::MESSAGE_BYTES_MAX);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    message.truncate(end);
    message
}

#[cfg(test)]
mod tests {
    use mainspring_model::{Cause, Epoch, RunId, Timestamp};

    use super::*;

    fn a_token() -> AttemptToken {
        AttemptToken { run: RunId::new(Timestamp::ZERO, 7), number: 2, epoch: Epoch(3) }
    }

    fn a_report(news: Option<report::News>) -> wire::Report {
        wire::Report { session: 1, beat: 2, token: Some(a_token().into()), news }
    }

    #[test]
    fn an_ending_arrives_whole() {
        let node = NodeId::new(Timestamp::ZERO, 1);
        let finished = wire::Finished {
            cause: Some((&Cause::Exit { code: 3 }).into()),
            stopped: true,
            begun_us_ago: Some(5),
            result: Some(bytes::Bytes::from_static(b"{}")),
            cpu_us: 6,
            memory_peak_bytes: 7,
            silent: true,
        };
        let Ok(Event::Report(report)) = report(node, a_report(Some(report::News::Finished(finished)))) else {
            panic!("a report")
        };
        assert_eq!(report.token, a_token());
        let News::Finished(ending) = report.news else { panic!("an ending") };
        assert_eq!(ending.cause, Cause::Exit { code: 3 });
        assert_eq!(ending.result.as_deref(), Some(&b"{}"[..]));
        assert_eq!(ending.begun_ago, Some(Duration::from_micros(5)));
    }

    #[test]
    fn what_is_missing_or_too_large_is_named() {
        let node = NodeId::new(Timestamp::ZERO, 1);
        let field = |news| report(node, a_report(news)).map(drop).map_err(|malformed| malformed.field);
        assert_eq!(field(None), Err("news"));
        assert_eq!(field(Some(report::News::Finished(wire::Finished::default()))), Err("cause"));
        let large = wire::Progressed {
            progress: None,
            checkpoint: Some(vec![0; limits::CHECKPOINT_BYTES_MAX + 1].into()),
        };
        assert_eq!(field(Some(report::News::Progressed(large))), Err("checkpoint"));
    }
}
