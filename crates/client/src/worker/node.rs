//! The loop of a worker: one connection at a time, words in and out, functions that run beside it.
//!
//! The rules are those of every node: an order is executed once, only on the connection it was meant for, only if it did not
//! travel too long; attempts end before the owner may give them up; an ending is said until it is acknowledged.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use mainspring_model::{AttemptToken, Timestamp};
use mainspring_wire::agent::{FromNode, ToNode};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tonic::Streaming;

use super::attempts::{Attempts, StopBy};
use super::clock::{Clock, LOOK_EVERY};
use super::connection::OUTWARD_SPARE;
use super::dial::{DialError, Dialed, Joining};
use super::error::Error;
use super::handler::Outcome;
use super::identity::Identity;
use super::lease::Lease;
use super::setup::Worker;
use super::specs::Specs;
use super::words;

/// How long a hello may stay without an answer.
pub(super) const HELLO_PATIENCE: Duration = Duration::from_secs(5);
/// How long the last endings may wait for their acknowledgement when the worker leaves.
const FAREWELL_MAX: Duration = Duration::from_secs(5);
/// How long the owner may take to read the last words.
const HANG_UP_MAX: Duration = Duration::from_secs(1);
/// How often a leaving worker looks whether it may.
const FAREWELL_LOOK: Duration = Duration::from_millis(100);

pub(super) type Dialing = Pin<Box<dyn Future<Output = (Joining, Result<Dialed, DialError>)> + Send>>;

/// Where the connection stands.
pub(super) enum Link {
    /// Nothing before this moment.
    Down {
        until: Timestamp,
    },
    Dialing {
        session: u64,
        outward: mpsc::Sender<FromNode>,
        dialing: Dialing,
    },
    Open(Box<Open>),
}

pub(super) struct Open {
    pub(super) session: u64,
    pub(super) outward: mpsc::Sender<FromNode>,
    pub(super) words: Streaming<ToNode>,
    pub(super) welcomed: bool,
    pub(super) heard_at: Timestamp,
    pub(super) beat_at: Timestamp,
}

pub(super) struct Node {
    pub(super) setup: Worker,
    pub(super) identity: Identity,
    pub(super) clock: Clock,
    pub(super) link: Link,
    pub(super) lease: Lease,
    pub(super) specs: Specs,
    pub(super) attempts: Attempts,
    pub(super) running: JoinSet<(AttemptToken, Result<Outcome, JoinError>)>,
    /// Which attempts have said something. No more words than attempts: see `voice`.
    pub(super) wake: mpsc::UnboundedSender<AttemptToken>,
    pub(super) woken: mpsc::UnboundedReceiver<AttemptToken>,
    /// Whether something is not said for lack of room on the way out.
    pub(super) wants_room: bool,
    /// Dials in a row that came to nothing.
    pub(super) failures: u32,
    pub(super) next_server: usize,
    pub(super) redirect: Option<String>,
    /// Where the last scheduler was dialled, and whether another had named it.
    pub(super) url: String,
    pub(super) redirected: bool,
    /// Whether the credential was not accepted the last time.
    pub(super) refused: bool,
    pub(super) leaving_since: Option<Timestamp>,
    pub(super) idle_since: Option<Timestamp>,
}

enum Happened {
    Dialed((Joining, Result<Dialed, DialError>)),
    Words(Result<Option<ToNode>, tonic::Status>),
    Said(AttemptToken),
    Room,
    Ended(AttemptToken, Result<Outcome, JoinError>),
    Due,
    Shutdown,
}

impl Node {
    pub(super) fn new(setup: Worker, identity: Identity) -> Self {
        let (wake, woken) = mpsc::unbounded_channel();
        Self {
            setup,
            identity,
            clock: Clock::start(),
            link: Link::Down { until: Timestamp::ZERO },
            lease: Lease::new(),
            specs: Specs::default(),
            attempts: Attempts::default(),
            running: JoinSet::new(),
            wake,
            woken,
            wants_room: false,
            failures: 0,
            next_server: 0,
            redirect: None,
            url: String::new(),
            redirected: false,
            refused: false,
            leaving_since: None,
            idle_since: None,
        }
    }

    pub(super) async fn run(mut self, shutdown: impl Future<Output = ()> + Send) -> Result<(), Error> {
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let now = self.now();
            self.attempts.enforce(now, self.lease.valid_until());
            self.keep_connection(now)?;
            if self.may_leave(now) {
                self.leave().await;
                return Ok(());
            }
            let due = self.due(now);
            match self.wait(shutdown.as_mut(), due).await {
                Happened::Dialed((joining, dialed)) => self.dialed(joining, dialed)?,
                Happened::Words(Ok(Some(batch))) => {
                    for word in batch.words {
                        self.heard(word);
                    }
                }
                Happened::Words(Ok(None) | Err(_)) => self.hang_up(None),
                Happened::Said(token) => self.pass_on(token),
                Happened::Room => self.pass_on_all(),
                Happened::Ended(token, outcome) => self.ended(token, outcome),
                Happened::Due => {}
                Happened::Shutdown => self.leaving_since = Some(self.now()),
            }
        }
    }

    async fn wait(
        &mut self,
        shutdown: Pin<&mut (impl Future<Output = ()> + Send)>,
        due: Duration,
    ) -> Happened {
        let leaving = self.leaving_since.is_some();
        let wants_room = self.wants_room;
        let link = async {
            match &mut self.link {
                Link::Down { .. } => std::future::pending().await,
                Link::Dialing { dialing, .. } => Happened::Dialed(dialing.await),
                Link::Open(open) => {
                    let Open { words, outward, .. } = &mut **open;
                    tokio::select! {
                        batch = words.message() => Happened::Words(batch),
                        Ok(_) = outward.reserve_many(OUTWARD_SPARE), if wants_room => Happened::Room,
                    }
                }
            }
        };
        tokio::select! {
            happened = link => happened,
            Some(token) = self.woken.recv() => Happened::Said(token),
            Some(Ok((token, outcome))) = self.running.join_next() => Happened::Ended(token, outcome),
            () = tokio::time::sleep(due) => Happened::Due,
            () = shutdown, if !leaving => Happened::Shutdown,
        }
    }

    /// The worker's own clock.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn due(&self, now: Timestamp) -> Duration {
        let link = match &self.link {
            Link::Down { until } => Some(*until),
            Link::Dialing { .. } => None,
            Link::Open(open) if open.welcomed => {
                Some((open.beat_at + self.lease.heartbeat_every).min(open.heard_at + self.lease.quiet_max()))
            }
            Link::Open(open) => Some(open.heard_at + HELLO_PATIENCE),
        };
        let lease = self.lease.valid_until().filter(|until| self.attempts.executing() > 0 && *until > now);
        let leaving = self.leaving_since.map(|_| now + FAREWELL_LOOK);
        let look = (self.attempts.executing() > 0).then(|| now + LOOK_EVERY);
        let first = [link, lease, leaving, look, self.attempts.next_kill()].into_iter().flatten().min();
        first.map_or(Duration::from_secs(60), |at| at.since(now).max(Duration::from_millis(1)))
    }

    /// Whether all is done that a worker does before it leaves: nothing runs, every ending is acknowledged, every log stored.
    fn may_leave(&mut self, now: Timestamp) -> bool {
        let Some(since) = self.leaving_since else { return false };
        let patience_ends = since + self.setup.patience;
        if self.attempts.executing() > 0 {
            if now >= patience_ends {
                let tokens: Vec<AttemptToken> = self.attempts.held.keys().copied().collect();
                for token in tokens {
                    self.attempts.stop(now, token, StopBy::Worker, Duration::ZERO);
                }
            }
            // A function that blocks its thread cannot be waited for for ever.
            return now >= patience_ends + FAREWELL_MAX;
        }
        let idle_since = *self.idle_since.get_or_insert(now);
        let all_told = self.attempts.held.is_empty() && self.attempts.voices.is_empty();
        all_told || now >= idle_since + FAREWELL_MAX
    }

    /// Says goodbye when it holds nothing, and hangs up when the owner has read all that was said.
    async fn leave(mut self) {
        if let (Some(session), true) = (self.session(), self.attempts.held.is_empty()) {
            self.say(vec![words::goodbye(session)]);
        }
        if let Link::Open(open) = self.link {
            let Open { outward, mut words, .. } = *open;
            drop(outward);
            let read = async { while let Ok(Some(_)) = words.message().await {} };
            let _ = tokio::time::timeout(HANG_UP_MAX, read).await;
        }
    }
}
