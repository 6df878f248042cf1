//! News as they happen.

use mainspring_model::RunId;
use mainspring_wire::api::{WatchEvent, WatchKind, WatchWhat};

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::events::{Events, Told};

/// What is watched.
#[derive(Debug, Clone, Default)]
pub struct WatchQuery {
    /// Here and in all below; without one, all that the caller may see.
    pub namespace: Option<String>,
    /// Runs of this job alone, by id.
    pub job: Option<String>,
    /// This run alone.
    pub run: Option<RunId>,
    /// These kinds alone; none asks for runs, nodes and triggers that paused themselves.
    pub kinds: Vec<WatchKind>,
}

/// News, across cut connections.
#[derive(Debug)]
pub struct Watch {
    events: Events,
}

/// A piece of news.
#[derive(Debug, Clone, PartialEq)]
pub struct News(pub WatchEvent);

impl News {
    /// Whether the run may have changed: it did, or news were missed.
    pub fn concerns(&self, run: RunId) -> bool {
        match &self.0.what {
            WatchWhat::Run { id, .. } => *id == run,
            WatchWhat::Reset => true,
            _ => false,
        }
    }
}

impl Client {
    /// News of runs, nodes, and triggers that paused themselves, from now on.
    pub fn watch(&self, query: &WatchQuery) -> Watch {
        let call = Call::get(&["v1", "watch"])
            .maybe("namespace", query.namespace.as_ref())
            .maybe("job", query.job.as_ref())
            .maybe("run", query.run)
            .maybe("kinds", kinds_of(&query.kinds));
        Watch { events: Events::new(self, call) }
    }
}

fn kinds_of(kinds: &[WatchKind]) -> Option<String> {
    let words: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    (!words.is_empty()).then(|| words.join(","))
}

impl Watch {
    /// Returns when the server listens to us: what happens from now on will be told.
    pub async fn connect(&mut self) -> Result<(), Error> {
        self.events.connect().await
    }

    /// The next news. A cut connection is made anew and goes on where it was; what could not be kept is a `Reset`.
    pub async fn next(&mut self) -> Result<News, Error> {
        loop {
            return match self.events.next().await? {
                Told::Away => continue,
                Told::Gap => Ok(News(WatchEvent { mark: String::new(), what: WatchWhat::Reset })),
                Told::Event(event) if event.name == "hello" => continue,
                Told::Event(event) => serde_json::from_str(&event.data)
                    .map(News)
                    .map_err(|error| Error::Unreadable(error.to_string())),
            };
        }
    }
}
