//! News as they happen, for one caller: only what they may see, resumed from the last mark they have.

mod positions;
mod tale;
mod view;

use std::collections::VecDeque;
use std::sync::Arc;

use mainspring_model::ErrorCode;
use mainspring_wire::api::WatchEvent;
use tokio::sync::{broadcast, mpsc};

use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::{Cells, News};
use crate::principal::Caller;

pub use positions::{NotPositions, Positions};
use tale::Tale;
pub use tale::{Elsewhere, Listener};
use view::View;
pub use view::WatchFilter;

/// A caller's stream of news: of the cells of this process, and of what other processes tell.
pub struct Watch {
    tale: Tale,
    cells: Arc<dyn Cells>,
    /// What the caller missed, before what comes now.
    missed: VecDeque<Arc<News>>,
    now: broadcast::Receiver<Arc<News>>,
    elsewhere: Option<mpsc::Receiver<Elsewhere>>,
}

impl App {
    /// Opens a stream of news, from now on or from after the mark of an earlier event.
    pub async fn watch(
        &self,
        caller: &Caller,
        listener: Listener,
        filter: WatchFilter,
        mark: Option<&str>,
    ) -> Result<Watch> {
        self.places(caller, Operation::Watch, filter.namespace.as_ref()).await?;
        let heard: Option<Positions> = mark.map(str::parse).transpose().map_err(|_| {
            Error::field(ErrorCode::InvalidRequest, "last_event_id", "not the id of an event")
        })?;
        let view = View { filter, principal: caller.principal.clone() };
        // Listen first: what happens while the past is looked up is heard twice, and told once.
        let now = self.cells.news();
        let missed = heard.as_ref().map(|heard| self.cells.news_since(heard));
        let mut tale = Tale::new(view, listener, heard.unwrap_or_else(|| self.cells.news_at()));
        if let Some(None) = missed {
            tale.miss(|| self.cells.news_at());
        }
        let missed = missed.flatten().unwrap_or_default().into();
        Ok(Watch { tale, cells: Arc::clone(&self.cells), missed, now, elsewhere: None })
    }

    /// The addresses of the other processes that own cells: they have news, too.
    pub async fn owners_elsewhere(&self) -> Vec<String> {
        self.cells.owners_elsewhere().await
    }

    /// Whether this process owns every cell: then there is nobody else to ask.
    pub fn owns_all(&self) -> bool {
        self.cells.owns_all()
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
            self.tale.hear_elsewhere(told, || self.cells.news_at());
        }
        self.elsewhere = Some(elsewhere);
        self
    }

    /// Where the stream stands, for whoever is cut off before the first event; none where that event says so itself.
    pub fn begin(&self) -> Option<String> {
        self.tale.begin(|| self.cells.news_at())
    }

    /// The next event; none when the server stops.
    pub async fn next(&mut self) -> Option<WatchEvent> {
        let cells = Arc::clone(&self.cells);
        let own = || cells.news_at();
        loop {
            if let Some(event) = self.tale.next() {
                return Some(event);
            }
            if let Some(news) = self.missed.pop_front() {
                self.tale.hear(&news, own);
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
                    Ok(news) => self.tale.hear(&news, own),
                    Err(broadcast::error::RecvError::Lagged(_)) => self.tale.miss(own),
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
                told = elsewhere => match told {
                    Some(told) => self.tale.hear_elsewhere(told, own),
                    None => self.elsewhere = None,
                },
            }
        }
    }

    /// Whoever asks may do less by now, or more.
    pub fn replace(&mut self, caller: &Caller) {
        self.tale.view.principal = caller.principal.clone();
    }
}
