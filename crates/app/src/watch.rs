//! News as they happen, for one caller: only what they may see, resumed from the last mark they have.

use std::collections::VecDeque;
use std::sync::Arc;

use mainspring_model::{ErrorCode, JobId, Namespace, RunId};
use mainspring_wire::api::{WatchEvent, WatchWhat};
use tokio::sync::{broadcast, mpsc};

use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::{Cells, Changed, News};
use crate::positions::{Hearing, Positions};
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

/// What another process tells, which has looked at what the caller may see.
#[derive(Debug)]
pub enum Elsewhere {
    /// Where it begins.
    At(Positions),
    /// A piece of news; its mark is the position behind it.
    Told(WatchEvent),
    /// Something may have been missed.
    Gap,
}

/// A caller's stream of news: of the cells of this process, and of what other processes tell.
pub struct Watch {
    filter: WatchFilter,
    principal: Arc<Principal>,
    cells: Arc<dyn Cells>,
    heard: Positions,
    /// What the caller missed, before what comes now.
    missed: VecDeque<Arc<News>>,
    now: broadcast::Receiver<Arc<News>>,
    elsewhere: Option<mpsc::Receiver<Elsewhere>>,
    /// Another process asks: marks are those of our own cells, and nobody else's are passed on.
    own_only: bool,
    ready: VecDeque<WatchEvent>,
}

impl App {
    /// Opens a stream of news, from now on or from after the mark of an earlier event.
    pub async fn watch(&self, caller: &Caller, filter: WatchFilter, mark: Option<&str>) -> Result<Watch> {
        self.places(caller, Operation::Watch, filter.namespace.as_ref()).await?;
        // Listen first: what happens while the past is looked up is heard twice, and told once.
        let now = self.cells.news();
        let mut watch = Watch {
            filter,
            principal: caller.principal.clone(),
            cells: Arc::clone(&self.cells),
            heard: self.cells.news_at(),
            missed: VecDeque::new(),
            now,
            elsewhere: None,
            own_only: false,
            ready: VecDeque::new(),
        };
        if let Some(mark) = mark {
            let heard: Positions = mark.parse().map_err(|_| {
                Error::field(ErrorCode::InvalidRequest, "last_event_id", "not the id of an event")
            })?;
            match self.cells.news_since(&heard) {
                Some(missed) => {
                    watch.heard = heard;
                    watch.missed = missed.into();
                }
                None => {
                    let here = std::mem::replace(&mut watch.heard, heard);
                    watch.heard.go_to(&here);
                    watch.reset();
                }
            }
        }
        Ok(watch)
    }
}

impl App {
    /// The addresses of the other processes that own cells: they have news, too.
    pub async fn owners_elsewhere(&self) -> Vec<String> {
        self.cells.owners_elsewhere().await
    }

    /// The same, as soon as they are others than these.
    pub async fn owners_other_than(&self, known: &[String]) -> Vec<String> {
        self.cells.owners_other_than(known).await
    }
}

impl Watch {
    /// Tells what other processes tell, too.
    #[must_use]
    pub fn with(mut self, mut elsewhere: mpsc::Receiver<Elsewhere>) -> Self {
        while let Ok(told) = elsewhere.try_recv() {
            self.hear_elsewhere(told);
        }
        self.elsewhere = Some(elsewhere);
        self
    }

    /// Tells another process what is ours to tell.
    #[must_use]
    pub fn own_only(self) -> Self {
        Self { own_only: true, ..self }
    }

    /// Where the stream stands: a later one goes on from here.
    pub fn mark(&self) -> String {
        if self.own_only {
            return self.heard.clone().within(&self.cells.news_at()).to_string();
        }
        self.heard.to_string()
    }

    /// The next event; none when the server stops.
    pub async fn next(&mut self) -> Option<WatchEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if let Some(news) = self.missed.pop_front() {
                self.hear(&news);
                continue;
            }
            let elsewhere = async {
                match &mut self.elsewhere {
                    Some(told) => told.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                news = self.now.recv() => match news {
                    Ok(news) => self.hear(&news),
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        self.heard.go_to(&self.cells.news_at());
                        self.reset();
                    }
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
                told = elsewhere => match told {
                    Some(told) => self.hear_elsewhere(told),
                    None => self.elsewhere = None,
                },
            }
        }
    }

    /// Whoever asks may do less by now, or more.
    pub fn replace(&mut self, caller: &Caller) {
        self.principal = caller.principal.clone();
    }

    fn hear(&mut self, news: &News) {
        let hearing = self.heard.hear(news.mark);
        if hearing == Hearing::Told {
            return;
        }
        if hearing == Hearing::Gap || matches!(news.what, Changed::Owner) {
            self.reset();
        }
        if let Some(what) = self.look(&news.what) {
            self.ready.push_back(WatchEvent { mark: self.mark(), what });
        }
    }

    fn hear_elsewhere(&mut self, told: Elsewhere) {
        match told {
            Elsewhere::At(positions) => self.heard.go_to(&positions.without(&self.cells.news_at())),
            Elsewhere::Gap => self.reset(),
            Elsewhere::Told(event) => {
                let marks: Positions = event.mark.parse().unwrap_or_default();
                let marks = marks.without(&self.cells.news_at());
                if event.what == WatchWhat::Reset {
                    self.heard.go_to(&marks);
                    return self.reset();
                }
                let hearing = marks.marks().map(|mark| self.heard.hear(mark)).max();
                if hearing == Some(Hearing::Gap) {
                    self.reset();
                }
                if hearing != Some(Hearing::Told) {
                    self.ready.push_back(WatchEvent { mark: self.mark(), what: event.what });
                }
            }
        }
    }

    /// Has the caller read everything anew, once for all that changed hands together.
    fn reset(&mut self) {
        if self.ready.back().is_some_and(|last| last.what == WatchWhat::Reset) {
            self.ready.pop_back();
        }
        self.ready.push_back(WatchEvent { mark: self.mark(), what: WatchWhat::Reset });
    }

    fn look(&self, what: &Changed) -> Option<WatchWhat> {
        match what {
            Changed::Owner => None,
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
