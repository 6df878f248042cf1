//! Reading the output of an attempt, from an offset, and waiting for more.

use std::time::Duration;

use mainspring_model::log::frames;
use mainspring_model::{AttemptToken, ErrorCode, RunId, RunState, Timestamp};
use mainspring_wire::api::{LogLine, LogPage, LogStream};

use super::log_text::lines;
use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::{LOG_FRAME_BYTES_MAX, LOG_PART_BYTES_DEFAULT, LOG_PART_BYTES_MAX, LOG_PIECE_BYTES_MAX};
use crate::operation::Operation;
use crate::ports::{LogError, LogPart};
use crate::principal::Caller;

/// The output of an attempt may be so much behind its end, which comes another way.
const OUTPUT_LATE_MAX: Duration = Duration::from_secs(2);

/// Which part of which output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// Of this attempt; without one, of the current or last.
    pub attempt: Option<u32>,
    /// From this offset of the stored log.
    pub offset: u64,
    /// What begins in so many stored bytes.
    pub limit: Option<usize>,
    /// Only of this stream.
    pub stream: Option<LogStream>,
}

/// An attempt whose output may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogTarget {
    /// The attempt; none before the first.
    pub(crate) token: Option<AttemptToken>,
    /// Whether it wrote nothing.
    pub(super) is_silent: bool,
    /// Since when it executes no more, if it did: it has said something by then, or that it says nothing.
    executed_until: Option<Timestamp>,
    /// Whether the run is over, so that no other attempt follows.
    pub is_over: bool,
}

impl LogTarget {
    /// The attempt's number; 0 before the first.
    pub fn attempt(&self) -> u32 {
        self.token.map_or(0, |token| token.number)
    }
}

impl App {
    /// A part of the output of a run.
    pub async fn logs(&self, caller: &Caller, run: RunId, query: LogQuery) -> Result<LogPage> {
        let target = self.log_target(caller, run, query.attempt).await?;
        let mut page = self.read_log(&target, query).await?;
        if target.executed_until.is_some_and(|until| self.now().since(until) >= OUTPUT_LATE_MAX)
            && !page.ended
            && page.length == 0
            && query.stream.is_none_or(|stream| stream == LogStream::System)
        {
            let text =
                "the output of this attempt is not here: its node has not sent it, or was lost with it\n";
            let at = self.now().into();
            page.lines.push(LogLine::new(0, at, LogStream::System, text.as_bytes()));
        }
        Ok(page)
    }

    /// The attempt whose output is asked for. Checks that the caller may; reading goes on with [`App::read_log`].
    pub async fn log_target(&self, caller: &Caller, run: RunId, attempt: Option<u32>) -> Result<LogTarget> {
        self.log_target_for(caller, Operation::RunLogs, run, attempt).await
    }

    /// The same for another operation on it.
    pub(super) async fn log_target_for(
        &self,
        caller: &Caller,
        operation: Operation,
        run: RunId,
        attempt: Option<u32>,
    ) -> Result<LogTarget> {
        let row = self.find_run(caller, operation, run).await?;
        let row = match self.live(&row).await {
            Some(live) => live.run,
            None => row,
        };
        let is_over = row.status.state.is_terminal();
        let current = (row.status.attempt > 0).then(|| row.status.token(run));
        let is_executing = row.status.state == RunState::Running;
        let (token, is_silent, executed_until) = match attempt {
            Some(number) if current.is_none_or(|token| token.number != number) => {
                let earlier = self.store.attempts(run).await?;
                let found = earlier.iter().find(|attempt| attempt.token.number == number);
                let found = found.ok_or_else(|| Error::not_found(format!("attempt {number} of {run}")))?;
                (Some(found.token), found.usage.silent, found.started_at.map(|_| found.finished_at))
            }
            _ => {
                let is_silent = row.status.extra.as_ref().is_some_and(|extra| extra.usage.silent);
                let ended = row.status.finished_at.filter(|_| !is_executing);
                (current, is_silent, ended.filter(|_| row.status.started_at.is_some()))
            }
        };
        Ok(LogTarget { token, is_silent, executed_until, is_over })
    }

    /// A part of an attempt's output.
    pub async fn read_log(&self, target: &LogTarget, query: LogQuery) -> Result<LogPage> {
        let limit = query.limit.unwrap_or(LOG_PART_BYTES_DEFAULT);
        if !(1..=LOG_PART_BYTES_MAX).contains(&limit) {
            let message = format!("must be 1 to {LOG_PART_BYTES_MAX} bytes");
            return Err(Error::field(ErrorCode::InvalidRequest, "limit", message));
        }
        let Some(token) = target.token else {
            return Ok(LogPage {
                attempt: 0,
                lines: Vec::new(),
                next_offset: 0,
                length: 0,
                ended: target.is_over,
            });
        };
        // What begins within the limit is given whole.
        let part = self.log_part(token, query.offset, limit + LOG_FRAME_BYTES_MAX).await?;
        let (lines, next_offset) = lines(&part.data, part.begin, limit, query.stream);
        let ended = part.ended || target.is_silent;
        Ok(LogPage { attempt: token.number, lines, next_offset, length: part.length, ended })
    }

    /// A part of a stored log, of one whole frame at least, if there is one.
    pub(super) async fn log_part(
        &self,
        token: AttemptToken,
        offset: u64,
        limit: usize,
    ) -> std::result::Result<LogPart, LogError> {
        let part = self.logs.read(token, offset, limit).await?;
        // Workers of earlier versions made a piece of each line, however long.
        if !part.data.is_empty() && frames(&part.data).next().is_none() {
            return self.logs.read(token, offset, LOG_PIECE_BYTES_MAX).await;
        }
        Ok(part)
    }

    /// Returns when an attempt's output may have grown beyond `length`, or has ended, or after a while.
    pub async fn log_grown(&self, target: &LogTarget, length: u64) {
        match target.token {
            Some(_) if target.is_silent => std::future::pending().await,
            Some(token) => self.logs.grown(token, length).await,
            None => std::future::pending().await,
        }
    }
}
