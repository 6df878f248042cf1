//! The state of a node, and the one entrance to it.

use std::collections::VecDeque;
use std::time::Duration;

use mainspring_model::{AttemptToken, Timestamp};
use mainspring_wire::agent::NodeUsage;
use rustc_hash::{FxHashMap, FxHashSet};

use super::attempt::Held;
use super::lease::Lease;
use super::link::Link;
use super::progress::Pace;
use super::pulse::Pulse;
use super::specs::Specs;
use super::{Input, Output, Profile};

/// Attempts that are remembered after they were forgotten, for orders that come again on the same connection. A stream keeps
/// its order, so an order that follows its own acknowledgement is rare and close to it.
const FORGOTTEN_MAX: usize = 16 * 1024;

/// A node's rules and memory.
#[derive(Debug)]
pub struct Core {
    pub(super) profile: Profile,
    pub(super) link: Link,
    pub(super) lease: Lease,
    pub(super) specs: Specs,
    pub(super) held: FxHashMap<AttemptToken, Held>,
    pub(super) forgotten: Forgotten,
    /// What the node used of late; nothing before the first measurement.
    pub(super) usage: Option<NodeUsage>,
    /// Whether the sidecar is there; its journal was read since.
    pub(super) attached: bool,
    pub(super) pulse: Pulse,
    pub(super) progress: Pace,
    pub(super) draining: bool,
    pub(super) out: Vec<Output>,
}

impl Core {
    /// A node that is connected to nobody and knows nothing of its tasks yet. A sidecar that does not answer for about as
    /// long as `sidecar_patience` is replaced.
    pub fn new(profile: Profile, sidecar_patience: Duration) -> Self {
        Self {
            profile,
            link: Link::default(),
            lease: Lease::new(),
            specs: Specs::default(),
            held: FxHashMap::default(),
            forgotten: Forgotten::default(),
            usage: None,
            attached: false,
            pulse: Pulse::new(sidecar_patience),
            progress: Pace::default(),
            draining: false,
            out: Vec::new(),
        }
    }

    /// Something happened at `now` of the node's own clock. What follows is taken with [`Self::take`].
    pub fn handle(&mut self, now: Timestamp, input: Input) {
        self.watch_lease(now);
        match input {
            Input::Connected { session } => self.connected(now, session),
            Input::Disconnected => self.link = Link::Down,
            Input::Heard(word) => {
                if let Err(malformed) = self.heard(now, word) {
                    self.out.push(Output::Malformed(malformed));
                }
            }
            Input::Prepared { token, outcome } => self.prepared(now, token, outcome),
            Input::Published { token, outcome } => self.published(now, token, outcome),
            Input::Attached(known) => self.attached(now, known),
            Input::Detached => self.detached(now),
            Input::Answered => self.answered(),
            Input::Stirred => self.stirred(),
            Input::Started { token } => self.started(now, token),
            Input::Progressed { token, permille, message } => {
                self.progressed(now, token, permille, message);
            }
            Input::Ended { token, end } => self.ended(now, token, end),
            Input::Used(usage) => self.usage = Some(usage),
            Input::Drain => self.drain(),
            Input::Leave => self.leave(),
            Input::Tick => {
                self.feel_pulse(now);
                self.say_progress_if_due(now);
                self.tick(now);
            }
        }
        self.say_goodbye_if_done(now);
    }

    /// What is to be said and done, in order.
    pub fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.out)
    }

    /// Moves what is to be said and done to the end of `into`, in order.
    pub fn take_into(&mut self, into: &mut Vec<Output>) {
        into.append(&mut self.out);
    }

    /// When [`Input::Tick`] has something to do, unless something else happens before.
    pub fn wakes_at(&self) -> Option<Timestamp> {
        let dues =
            [self.lease.ends_at(), self.link.due(&self.lease), Some(self.pulse.due()), self.progress.due];
        dues.into_iter().flatten().min()
    }

    /// Whether the next tick sends a heartbeat, so that what is in use should be measured first.
    pub fn beat_due(&self, now: Timestamp) -> bool {
        matches!(self.link, Link::Up { .. }) && self.link.due(&self.lease).is_some_and(|due| due <= now)
    }

    /// How many attempts are held.
    pub fn held_count(&self) -> usize {
        self.held.len()
    }

    /// Whether the owner of the node's cell has answered on the open stream.
    pub fn is_welcomed(&self) -> bool {
        matches!(self.link, Link::Up { .. })
    }

    /// Whether the node holds this attempt, whatever its stage.
    pub fn holds(&self, token: &AttemptToken) -> bool {
        self.held.contains_key(token)
    }
}

/// Attempts whose end was acknowledged on this connection, up to a bound.
#[derive(Debug, Default)]
pub(super) struct Forgotten {
    known: FxHashSet<AttemptToken>,
    oldest_first: VecDeque<AttemptToken>,
}

impl Forgotten {
    pub(super) fn insert(&mut self, token: AttemptToken) {
        if self.known.insert(token) {
            self.oldest_first.push_back(token);
        }
        if self.oldest_first.len() > FORGOTTEN_MAX
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub(super) fn contains(&self, token: &AttemptToken) -> bool {
        self.known.contains(token)
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.oldest_first.clear();
    }
}
