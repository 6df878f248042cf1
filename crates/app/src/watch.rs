//! News as they happen, for one caller: only what they may see, resumed from the last mark they have.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use mainspring_model::{CellId, Epoch, ErrorCode, JobId, Namespace, RunId};
use mainspring_wire::api::{WatchEvent, WatchWhat};
use tokio::sync::broadcast;

use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::{Changed, Mark, News};
use crate::principal::{Caller, Principal};

/// What somebody wants to hear of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchFilter {
    /// Here and in all below.
    pub namespace: Option<Namespace>,
    /// Only runs of this job.
    pub job: Option<JobId>,
    /// Only this run.
    pub run: Option<RunId>,
}

/// A caller's stream of news.
pub struct Watch {
    filter: WatchFilter,
    principal: Arc<Principal>,
    /// What the caller missed, before what comes now.
    missed: VecDeque<Arc<News>>,
    /// The last of what they missed, by tenure: news up to there may come again from `now`.
    caught_up: BTreeMap<(CellId, Epoch), u64>,
    now: broadcast::Receiver<Arc<News>>,
    reset: Option<String>,
}

impl App {
    /// Opens a stream of news, from now on or from after the mark of an earlier event.
    pub async fn watch(&self, caller: &Caller, filter: WatchFilter, mark: Option<&str>) -> Result<Watch> {
        self.places(caller, Operation::Watch, filter.namespace.as_ref()).await?;
        // Listen first: what happens while the past is looked up is heard twice, and told once.
        let now = self.cells.news();
        let (mut missed, mut reset): (VecDeque<Arc<News>>, _) = (VecDeque::new(), None);
        if let Some(text) = mark {
            let mark = parse_mark(text).ok_or_else(|| {
                Error::field(ErrorCode::InvalidRequest, "last_event_id", "not the id of an event")
            })?;
            match self.cells.news_since(mark) {
                Some(news) => missed = news.into(),
                None => reset = Some(text.to_owned()),
            }
        }
        let caught_up =
            missed.iter().map(|news| ((news.mark.cell, news.mark.epoch), news.mark.number)).collect();
        Ok(Watch { filter, principal: caller.principal.clone(), missed, caught_up, now, reset })
    }
}

impl Watch {
    /// The next event; none when the server stops.
    pub async fn next(&mut self) -> Option<WatchEvent> {
        if let Some(mark) = self.reset.take() {
            return Some(WatchEvent { mark, what: WatchWhat::Reset });
        }
        while let Some(news) = self.missed.pop_front() {
            if let Some(event) = self.see(&news) {
                return Some(event);
            }
        }
        loop {
            match self.now.recv().await {
                Ok(news) if self.was_told(news.mark) => {}
                Ok(news) => {
                    if let Some(event) = self.see(&news) {
                        return Some(event);
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    return Some(WatchEvent { mark: String::new(), what: WatchWhat::Reset });
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// Whoever asks may do less by now, or more.
    pub fn replace(&mut self, caller: &Caller) {
        self.principal = caller.principal.clone();
    }

    /// Whether a piece that comes now was among what the caller missed.
    fn was_told(&self, mark: Mark) -> bool {
        self.caught_up.get(&(mark.cell, mark.epoch)).is_some_and(|last| mark.number <= *last)
    }

    /// The event of a piece of news, if the caller wants it and may see it.
    fn see(&self, news: &News) -> Option<WatchEvent> {
        let what = self.look(&news.what)?;
        Some(WatchEvent { mark: print_mark(news.mark), what })
    }

    fn look(&self, what: &Changed) -> Option<WatchWhat> {
        match what {
            Changed::Run { id, namespace, job, state, version, attempt, at } => {
                let wanted = self.filter.namespace.as_ref().is_none_or(|place| namespace.is_within(place))
                    && self.filter.job.is_none_or(|wanted| wanted == *job)
                    && self.filter.run.is_none_or(|wanted| wanted == *id);
                (wanted && self.principal.may(Operation::Watch, Some(namespace))).then(|| WatchWhat::Run {
                    id: *id,
                    namespace: namespace.clone(),
                    job: *job,
                    state: *state,
                    version: *version,
                    attempt: *attempt,
                    at: (*at).into(),
                })
            }
            Changed::TriggerPaused { namespace, key, job, pause } => {
                let wanted = self.filter.namespace.as_ref().is_none_or(|place| namespace.is_within(place))
                    && self.filter.job.is_none_or(|wanted| wanted == key.job)
                    && self.filter.run.is_none();
                (wanted && self.principal.may(Operation::Watch, Some(namespace))).then(|| {
                    WatchWhat::TriggerPaused {
                        namespace: namespace.clone(),
                        job: key.job,
                        job_name: job.to_string(),
                        trigger: key.name.to_string(),
                        note: pause.note.to_string(),
                        at: pause.at.into(),
                    }
                })
            }
            Changed::Node { node } => {
                let only_runs = self.filter != WatchFilter::default();
                (!only_runs && self.principal.may(Operation::NodeGet, None)).then(|| WatchWhat::Node {
                    id: node.id,
                    name: node.name.to_string(),
                    pool: node.pool.to_string(),
                    state: node.state.name().into(),
                    revision: node.revision,
                })
            }
        }
    }
}

fn print_mark(mark: Mark) -> String {
    format!("{}.{}.{}", mark.cell.0, mark.epoch.0, mark.number)
}

fn parse_mark(text: &str) -> Option<Mark> {
    let mut parts = text.splitn(3, '.');
    let cell = CellId(parts.next()?.parse().ok()?);
    let epoch = Epoch(parts.next()?.parse().ok()?);
    Some(Mark { cell, epoch, number: parts.next()?.parse().ok()? })
}
