//! The output of runs: a part of it, or as it is written.

use mainspring_model::RunId;
use mainspring_wire::api::{LogLine, LogPage, LogStream};

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::events::{Events, Told};

/// Which output.
#[derive(Debug, Clone, Default)]
pub struct LogQuery {
    /// Of which attempt; without one, of the current or last.
    pub attempt: Option<u32>,
    /// From this byte of the stored log on.
    pub offset: u64,
    /// Bytes at most.
    pub limit: Option<usize>,
    /// Of one stream alone.
    pub stream: Option<LogStream>,
}

/// What a follower of a log is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEvent {
    /// A piece of output.
    Line(LogLine),
    /// Another attempt began; what follows is its output.
    Attempt(u32),
    /// The server does not answer for now; it is waited for, and the log goes on where it was.
    Away,
    /// Nothing follows.
    End,
}

/// A log that is followed, across cut connections.
#[derive(Debug)]
pub struct LogFollow {
    events: Events,
    ended: bool,
}

impl Client {
    /// A part of a run's output.
    pub async fn logs(&self, run: RunId, query: &LogQuery) -> Result<LogPage, Error> {
        self.ask(call(run, query)).await
    }

    /// A run's output from `query.offset` on, as it is written, over all its attempts.
    ///
    /// ```no_run
    /// # async fn example(client: mainspring_client::Client, run: mainspring_client::model::RunId)
    /// # -> Result<(), mainspring_client::Error> {
    /// use mainspring_client::{LogEvent, LogQuery};
    ///
    /// let mut log = client.follow_logs(run, &LogQuery::default());
    /// while let Some(event) = log.next().await? {
    ///     if let LogEvent::Line(line) = event {
    ///         print!("{}", line.text);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn follow_logs(&self, run: RunId, query: &LogQuery) -> LogFollow {
        LogFollow { events: Events::new(self, call(run, query).query("follow", true)), ended: false }
    }
}

impl LogFollow {
    /// The next event; none after the end.
    pub async fn next(&mut self) -> Result<Option<LogEvent>, Error> {
        while !self.ended {
            let event = match self.events.next().await? {
                Told::Event(event) => event,
                Told::Gap => continue,
                Told::Away => return Ok(Some(LogEvent::Away)),
            };
            let unreadable = |error: serde_json::Error| Error::Unreadable(error.to_string());
            match event.name.as_str() {
                "line" => {
                    return serde_json::from_str(&event.data)
                        .map(LogEvent::Line)
                        .map(Some)
                        .map_err(unreadable);
                }
                "attempt" => {
                    let data: AttemptData = serde_json::from_str(&event.data).map_err(unreadable)?;
                    return Ok(Some(LogEvent::Attempt(data.number())));
                }
                "end" => {
                    self.ended = true;
                    return Ok(Some(LogEvent::End));
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

/// `2`, or an object that names it.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum AttemptData {
    Bare(u32),
    Named { attempt: u32 },
}

impl AttemptData {
    fn number(&self) -> u32 {
        match self {
            Self::Bare(attempt) | Self::Named { attempt } => *attempt,
        }
    }
}

fn call(run: RunId, query: &LogQuery) -> Call {
    let stream = query.stream.map(|stream| match stream {
        LogStream::Stdout => "stdout",
        LogStream::Stderr => "stderr",
        LogStream::System => "system",
    });
    Call::get(&["v1", "runs", &run.to_string(), "logs"])
        .maybe("attempt", query.attempt)
        .maybe("offset", (query.offset > 0).then_some(query.offset))
        .maybe("limit", query.limit)
        .maybe("stream", stream)
}
