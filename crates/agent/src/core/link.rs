//! The connection to the owner: hello, heartbeats, silence, and saying goodbye.

use std::time::Duration;

use mainspring_model::Timestamp;
use mainspring_wire::agent::owner_word::Word;
use mainspring_wire::agent::{Malformed, OwnerWord, Welcome};

use super::attempt::{Held, Stage};
use super::lease::Lease;
use super::{Core, Output};

/// How long a hello may stay without an answer.
const HELLO_PATIENCE: Duration = Duration::from_secs(5);
/// The shortest silence after which an owner may give a node up.
const LOST_AFTER_MIN: Duration = Duration::from_millis(100);

/// Where the connection stands.
#[derive(Debug, Default)]
pub(super) enum Link {
    /// There is none, or it is being closed.
    #[default]
    Down,
    /// Hello was said.
    Greeting { session: u64, since: Timestamp },
    /// The owner answered.
    Up { session: u64, beat_at: Timestamp, heard_at: Timestamp },
}

impl Link {
    /// The connection's number, when the owner has answered on it.
    pub(super) fn session(&self) -> Option<u64> {
        match self {
            Self::Up { session, .. } => Some(*session),
            Self::Down | Self::Greeting { .. } => None,
        }
    }

    /// When something is to be done about it.
    pub(super) fn due(&self, lease: &Lease) -> Option<Timestamp> {
        match self {
            Self::Down => None,
            Self::Greeting { since, .. } => Some(*since + HELLO_PATIENCE),
            Self::Up { beat_at, heard_at, .. } => {
                Some((*beat_at + lease.heartbeat_every()).min(*heard_at + lease.quiet_max()))
            }
        }
    }
}

impl Core {
    pub(super) fn connected(&mut self, now: Timestamp, session: u64) {
        self.link = Link::Greeting { session, since: now };
        self.specs.clear();
        self.forgotten.clear();
        // What never reached the sidecar and was refused on an earlier connection can no longer be ordered there; its end
        // is still told, because the owner may wait for it.
        let beat = self.lease.hello(now);
        let hello = self.hello_word(now, session, beat);
        self.out.push(Output::Say(hello));
    }

    /// What the other end says.
    pub(super) fn heard(&mut self, now: Timestamp, word: OwnerWord) -> Result<(), Malformed> {
        let word = word.word.ok_or_else(|| Malformed::missing("word"))?;
        if let Link::Up { heard_at, .. } = &mut self.link {
            *heard_at = now;
        }
        match word {
            Word::Welcome(welcome) => self.welcome(now, &welcome)?,
            Word::Beat(beat) => {
                if self.link.session() == Some(beat.session)
                    && self.lease.answered(beat.beat)
                    && let Some(deadline) = self.lease.valid_until()
                {
                    self.out.push(Output::Extend { deadline });
                }
            }
            Word::WhoAreYou(_) => self.reconnect(None),
            Word::Redirect(redirect) => self.reconnect(Some(redirect.url)),
            Word::Spec(spec) => self.specs.learn(&spec)?,
            Word::Start(start) => self.start(now, start)?,
            Word::Stop(stop) => self.stop(now, &stop)?,
            Word::Forget(forget) => self.forget(&forget)?,
            Word::LogHave(have) => self.out.push(Output::LogHave(have)),
        }
        Ok(())
    }

    fn welcome(&mut self, now: Timestamp, welcome: &Welcome) -> Result<(), Malformed> {
        let Link::Greeting { session, .. } = self.link else { return Ok(()) };
        if welcome.session != session {
            return Ok(());
        }
        let lost_after = Duration::from_micros(welcome.lost_after_us);
        let heartbeat_every = Duration::from_micros(welcome.heartbeat_every_us);
        if lost_after < LOST_AFTER_MIN || heartbeat_every.is_zero() || heartbeat_every >= lost_after {
            let why = format!("a heartbeat every {heartbeat_every:?} and lost after {lost_after:?}");
            return Err(Malformed::new("welcome", why));
        }
        self.lease.welcome(welcome.beat, heartbeat_every, lost_after);
        self.link = Link::Up { session, beat_at: now, heard_at: now };
        if let Some(deadline) = self.lease.valid_until() {
            self.out.push(Output::Extend { deadline });
        }
        self.out.push(Output::Welcomed);
        self.say_progress(now);
        self.say_endings(now, Duration::ZERO);
        Ok(())
    }

    pub(super) fn tick(&mut self, now: Timestamp) {
        match self.link {
            Link::Down => {}
            Link::Greeting { since, .. } if now.since(since) >= HELLO_PATIENCE => self.reconnect(None),
            Link::Greeting { .. } => {}
            Link::Up { heard_at, .. } if now.since(heard_at) >= self.lease.quiet_max() => {
                self.reconnect(None);
            }
            Link::Up { session, ref mut beat_at, .. } => {
                if now.since(*beat_at) < self.lease.heartbeat_every() {
                    return;
                }
                *beat_at = now;
                let beat = self.lease.beat(now);
                let word = self.heartbeat_word(now, session, beat);
                self.out.push(Output::Say(word));
                self.say_endings(now, self.lease.heartbeat_every());
            }
        }
    }

    pub(super) fn reconnect(&mut self, to: Option<String>) {
        if !matches!(self.link, Link::Down) {
            self.link = Link::Down;
            self.out.push(Output::Reconnect { to });
        }
    }

    /// The node introduces itself anew, without room for work.
    pub(super) fn drain(&mut self) {
        if !std::mem::replace(&mut self.draining, true) {
            self.profile.slots = 0;
            self.reconnect(None);
        }
    }

    /// Tells the endings that were not told on this connection, or not for so long.
    fn say_endings(&mut self, now: Timestamp, unless_within: Duration) {
        let Some(session) = self.link.session() else { return };
        let beat = self.lease.next_beat();
        let fresh = unless_within.is_zero();
        for (token, held) in &mut self.held {
            if let Stage::Over { ending, said_at } = &mut held.stage
                && (fresh || said_at.is_none_or(|said_at| now.since(said_at) >= unless_within))
            {
                *said_at = Some(now);
                self.out.push(Output::Say(super::words::finished(now, session, beat, *token, ending)));
            }
        }
    }

    /// The agent ends. A node without attempts says so; one with attempts falls silent, and comes back or is lost.
    pub(super) fn leave(&mut self) {
        if self.held.is_empty()
            && let Some(session) = self.link.session()
        {
            self.out.push(Output::Say(super::words::goodbye(session)));
        }
        self.link = Link::Down;
        self.out.push(Output::Farewell);
    }

    /// A node that takes no more work and holds nothing leaves. So does one that no owner can be told of what it holds, when
    /// its lease is over and nothing executes: the journal keeps the rest.
    pub(super) fn say_goodbye_if_done(&mut self, now: Timestamp) {
        if !self.draining || !self.attached {
            return;
        }
        match self.link {
            Link::Up { session, .. } if self.held.is_empty() => {
                self.out.push(Output::Say(super::words::goodbye(session)));
            }
            Link::Down if !self.lease.holds(now) && self.held.values().all(Held::is_over) => {}
            _ => return,
        }
        self.out.push(Output::Farewell);
        self.link = Link::Down;
    }
}
