//! Following the output of a run: what is there, then what comes, then the next attempt, until the run is over.
//!
//! A follower that was cut off goes on from the last position it saw: see `position.rs`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::response::sse::Event;
use futures_util::Stream;
use mainspring_app::{Caller, Listener, LogQuery, LogTarget, Watch, WatchFilter};
use mainspring_model::{ErrorCode, RunId};
use mainspring_wire::api::LogLine;
use serde_json::json;

use super::edge::Edge;
use super::failure::Failure;
use super::position::{Position, after_each};

/// How long to wait for the rest of the output of a run that is over, when nothing comes.
const LATE_MAX: Duration = Duration::from_secs(10);
/// How often to look when no news come: the owner of the run may be another process.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Something that a follower learns.
pub(crate) enum Item {
    /// A line of output, and the position after it.
    Line(LogLine, Position),
    /// Another attempt begins.
    Attempt(u32),
    /// The run is over and all of its output was told.
    End,
}

/// A follower.
pub(crate) struct Follow {
    edge: Arc<Edge>,
    caller: Caller,
    run: RunId,
    query: LogQuery,
    target: LogTarget,
    news: Watch,
    ready: VecDeque<Item>,
    /// How many lines of the piece at the query's offset were told before.
    told: usize,
    /// All of the attempt's output is known: only news of the run are worth waiting for.
    whole: bool,
    /// Something was last told, or the run was not over.
    heard_at: Instant,
    rechecked_at: Instant,
    ended: bool,
}

impl Follow {
    /// A follower from a position, or from where the query says.
    pub(crate) async fn open(
        edge: Arc<Edge>,
        caller: Caller,
        run: RunId,
        mut query: LogQuery,
        position: Option<&str>,
    ) -> Result<Self, Failure> {
        // Listen before looking, so that nothing falls between.
        let filter = WatchFilter { run: Some(run), ..WatchFilter::default() };
        let news = edge.app.watch(&caller, Listener::Caller, filter, None).await?;
        let mut from = query.attempt;
        let position: Option<Position> = position.and_then(|text| text.parse().ok());
        if let Some(position) = position {
            query.offset = position.offset;
            from = from.or(position.attempt);
        }
        let target = edge.app.log_target(&caller, run, from).await?;
        // A follower of what is elsewhere is told so before the stream begins.
        edge.app.read_log(&target, LogQuery { limit: Some(1), ..query }).await?;
        let now = Instant::now();
        let ready = VecDeque::new();
        Ok(Self {
            edge,
            caller,
            run,
            query,
            target,
            news,
            ready,
            told: position.map_or(0, |position| position.lines),
            whole: false,
            heard_at: now,
            rechecked_at: now,
            ended: false,
        })
    }

    /// What comes, as events.
    pub(crate) fn events(self) -> impl Stream<Item = Event> + Send {
        futures_util::stream::unfold(self, |mut follow| async move {
            let event = match follow.next().await? {
                Item::Line(line, id) => {
                    let data = serde_json::to_string(&line).unwrap_or_default();
                    Event::default().event("line").id(id.to_string()).data(data)
                }
                Item::Attempt(attempt) => {
                    let data = json!({ "attempt": attempt }).to_string();
                    Event::default().event("attempt").id(format!("{attempt}:0")).data(data)
                }
                Item::End => Event::default().event("end").data("{}"),
            };
            Some((event, follow))
        })
    }

    /// The next item; none after the end.
    pub(crate) async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                self.ended |= matches!(item, Item::End);
                return Some(item);
            }
            if self.ended {
                return None;
            }
            if self.rechecked_at.elapsed() >= self.edge.recheck_every && !self.may_still().await {
                return None;
            }
            self.look().await.ok()?;
            if self.ready.is_empty() && !self.wait().await {
                return None;
            }
        }
    }

    /// Whether the caller may still read the run; the answer holds for a while.
    async fn may_still(&mut self) -> bool {
        let Ok(caller) = self.edge.app.refresh(&self.caller).await else { return false };
        self.caller = caller;
        self.news.replace(&self.caller);
        self.rechecked_at = Instant::now();
        !matches!(self.edge.app.log_target(&self.caller, self.run, None).await, Err(error) if is_closed(&error))
    }

    /// Reads what is there.
    async fn look(&mut self) -> Result<(), Failure> {
        let page = self.edge.app.read_log(&self.target, self.query).await?;
        let of_piece = page.lines.iter().take_while(|line| line.offset == self.query.offset);
        let before = of_piece.take(self.told).count();
        if page.next_offset > self.query.offset {
            self.heard_at = Instant::now();
            self.told = 0;
        }
        self.query.offset = page.next_offset;
        self.whole = page.ended && page.next_offset >= page.length;
        let positions = after_each(&page);
        let items = page.lines.into_iter().zip(positions).skip(before);
        self.ready.extend(items.map(|(line, position)| Item::Line(line, position)));
        if !self.ready.is_empty() || page.next_offset < page.length {
            return Ok(());
        }
        let told = page.ended || self.target.is_over && self.heard_at.elapsed() >= LATE_MAX;
        if told || self.target.attempt() == 0 {
            self.go_on(told).await?;
        }
        Ok(())
    }

    /// All of this attempt was told: goes on with the next, or ends when none follows.
    async fn go_on(&mut self, told: bool) -> Result<(), Failure> {
        if told && self.query.attempt.is_some() {
            self.ready.push_back(Item::End);
            return Ok(());
        }
        let shown = self.target.attempt();
        let next = self.edge.app.log_target(&self.caller, self.run, None).await?;
        if next.attempt() > shown {
            let one_by_one = self.edge.app.log_target(&self.caller, self.run, Some(shown + 1)).await;
            self.target = one_by_one.unwrap_or(next);
            self.target.is_over |= self.target.attempt() < next.attempt();
            self.query.offset = 0;
            self.told = 0;
            self.heard_at = Instant::now();
            self.ready.push_back(Item::Attempt(self.target.attempt()));
        } else if next.is_over && (told || shown == 0) {
            self.ready.push_back(Item::End);
        } else {
            self.target = next;
        }
        Ok(())
    }

    /// Waits for more output or for news of the run; false when the process stops, or the run is closed to the caller.
    async fn wait(&mut self) -> bool {
        let app = self.edge.app.clone();
        tokio::select! {
            () = self.edge.stop.cancelled() => return false,
            () = app.log_grown(&self.target, self.query.offset), if !self.whole => {}
            news = self.news.next() => {
                if news.is_none() {
                    return false;
                }
            }
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        // Whether the attempt is over may have changed. One that another followed is, whatever became of its node.
        match app.log_target(&self.caller, self.run, None).await {
            Ok(target) if target.attempt() > self.target.attempt() => {
                self.target.is_over |= self.target.attempt() > 0;
            }
            Ok(target) if target.attempt() == self.target.attempt() => {
                if !target.is_over {
                    self.heard_at = Instant::now();
                }
                self.target = target;
            }
            Ok(_) => {}
            // A store or an owner that is away for a moment ends nothing.
            Err(error) => return !is_closed(&error),
        }
        true
    }
}

/// Whether the run is not, or no longer, the caller's to see.
fn is_closed(error: &mainspring_app::Error) -> bool {
    matches!(error.code, ErrorCode::NotFound | ErrorCode::Forbidden | ErrorCode::Unauthenticated)
}
