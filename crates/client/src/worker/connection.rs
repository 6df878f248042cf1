//! The connection to the owner: dialling, hello, heartbeats, silence, and what is heard.

use std::time::Duration;

use mainspring_model::Timestamp;
use mainspring_wire::agent::owner_word::Word;
use mainspring_wire::agent::{
    FromNode, Hello, NodeWord, OwnerWord, Welcome, bytes_of, may_redirect, node_word, wait_before_dial,
};
use tokio::sync::mpsc;

use crate::backoff::chance;

use super::dial::{Caller, DialError, Dialed, Joining, dial};
use super::error::Error;
use super::node::{HELLO_PATIENCE, Link, Node, Open};
use super::orders::token_of;
use super::words;

/// Batches on their way out; a scheduler that is further behind is left.
const OUTWARD_MAX: usize = 1_024;
/// Bytes of a batch of many words, and what one takes beside what it carries.
const BATCH_BYTES_MAX: usize = 1024 * 1024;
const WORD_BYTES: usize = 128;
/// As many are left free by what can wait, for what cannot.
pub(super) const OUTWARD_SPARE: usize = OUTWARD_MAX / 2;

impl Node {
    /// Dials, beats, and looks for another scheduler when this one is silent.
    pub(super) fn keep_connection(&mut self, now: Timestamp) -> Result<(), Error> {
        match &self.link {
            Link::Down { until } if now >= *until => self.start_dialing(now)?,
            Link::Open(open) if !open.welcomed && now.since(open.heard_at) >= HELLO_PATIENCE => {
                self.hang_up(None)
            }
            Link::Open(open) if open.welcomed && now.since(open.heard_at) >= self.lease.quiet_max() => {
                self.hang_up(None);
            }
            Link::Open(open) if open.welcomed && now.since(open.beat_at) >= self.lease.heartbeat_every => {
                let (session, beat) = (open.session, self.lease.beat(now));
                let held = self.attempts.words(now);
                if let Link::Open(open) = &mut self.link {
                    open.beat_at = now;
                }
                self.say(vec![words::heartbeat(session, beat, held)]);
                self.say_endings(now, self.lease.heartbeat_every);
                self.nudge_logs(now);
            }
            _ => {}
        }
        Ok(())
    }

    fn start_dialing(&mut self, now: Timestamp) -> Result<(), Error> {
        let redirect = self.redirect.take();
        self.redirected = redirect.is_some();
        let url = redirect.unwrap_or_else(|| {
            self.next_server += 1;
            self.setup.servers[(self.next_server - 1) % self.setup.servers.len()].clone()
        });
        self.url.clone_from(&url);
        let session = self.identity.next_session()?;
        let beat = self.lease.hello(now);
        let (outward, receiver) = mpsc::channel(OUTWARD_MAX);
        let hello =
            FromNode { words: vec![words::word(node_word::Word::Hello(self.hello(now, session, beat)))] };
        // The channel is new and has room.
        let _ = outward.try_send(hello);
        let caller = Caller {
            node: self.identity.node(),
            name: self.name(),
            credential: self.identity.credential().map(str::to_owned),
            refused: self.refused,
            join_token: self.setup.join_token.clone(),
            nonce: self.identity.nonce().to_owned(),
            ca_pem: self.setup.ca_pem.clone(),
        };
        self.link = Link::Dialing { session, outward, dialing: Box::pin(dial(caller, url, receiver)) };
        Ok(())
    }

    fn hello(&self, now: Timestamp, session: u64, beat: u64) -> Hello {
        Hello {
            node: bytes_of(self.identity.node().as_bytes()),
            session,
            beat,
            name: self.name(),
            pool: self.setup.pool.clone(),
            labels: self.setup.labels.clone().into_iter().collect(),
            slots: if self.leaving_since.is_some() { 0 } else { self.setup.slots },
            weight: 1,
            handlers: self.setup.handlers.keys().cloned().collect(),
            held: self.attempts.words(now),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Hello::default()
        }
    }

    fn name(&self) -> String {
        let id = self.identity.node().to_string();
        self.setup.name.clone().unwrap_or_else(|| format!("worker-{}", &id[id.len() - 8..]))
    }

    pub(super) fn dialed(
        &mut self,
        joining: Joining,
        dialed: Result<Dialed, DialError>,
    ) -> Result<(), Error> {
        match joining {
            Joining::NotTried => {}
            Joining::Given(credential) => {
                self.identity.keep_credential(credential)?;
                // A token is used once; the nonce of its credential stays with it.
                (self.setup.join_token, self.refused) = (None, false);
            }
            Joining::UsedUp => self.setup.join_token = None,
        }
        let now = self.now();
        match (dialed, std::mem::replace(&mut self.link, Link::Down { until: now })) {
            (Ok(Dialed { words }), Link::Dialing { session, outward, .. }) => {
                self.refused = false;
                self.specs.clear();
                self.attempts.forgotten.clear();
                let open = Open { session, outward, words, welcomed: false, heard_at: now, beat_at: now };
                self.link = Link::Open(Box::new(open));
            }
            (Ok(_), _) => {}
            (Err(DialError::Again(why)), _) => {
                tracing::warn!(why, "no scheduler can be reached; trying again");
                self.link = Link::Down { until: now + self.wait_before_dial() };
            }
            (Err(DialError::NotLetIn(why)), _) => {
                self.refused = true;
                let identity = self.setup.identity_file.display();
                tracing::warn!(
                    why, %identity,
                    "this worker is not let in: it was removed, or belongs to another cluster; \
                     `mainspring node token` gives a join token for it, or remove its identity file to join as another node"
                );
                self.link = Link::Down { until: now + self.wait_before_dial() };
            }
            // Who leads astray is asked again; only what the person gave has to be right.
            (Err(DialError::Fatal(Error::Setup(why))), _) if self.redirected => {
                tracing::warn!(why, "a redirection leads nowhere");
                self.link = Link::Down { until: now + self.wait_before_dial() };
            }
            (Err(DialError::Fatal(error)), _) => return Err(error),
        }
        Ok(())
    }

    fn wait_before_dial(&mut self) -> Duration {
        self.failures = self.failures.saturating_add(1);
        wait_before_dial(self.failures, chance())
    }

    pub(super) fn hang_up(&mut self, to: Option<String>) {
        let to = to.filter(|to| may_redirect(&self.url, to));
        // A redirection is followed at once, but not for ever.
        let at_once = to.is_some() && !self.redirected;
        let wait = if at_once { Duration::ZERO } else { self.wait_before_dial() };
        self.redirect = to;
        self.link = Link::Down { until: self.now() + wait };
    }

    pub(super) fn session(&self) -> Option<u64> {
        match &self.link {
            Link::Open(open) if open.welcomed => Some(open.session),
            _ => None,
        }
    }

    /// Whether something that can wait may be said now.
    pub(super) fn has_room(&mut self) -> bool {
        let room = matches!(&self.link, Link::Open(open) if open.outward.capacity() >= OUTWARD_SPARE);
        self.wants_room |= !room;
        room
    }

    pub(super) fn say(&mut self, words: Vec<NodeWord>) {
        let Link::Open(open) = &self.link else { return };
        // A scheduler that does not read is no use; what was not said is said on the next connection.
        if open.outward.try_send(FromNode { words }).is_err() {
            self.hang_up(None);
        }
    }

    /// Says many words, each with the bytes that it carries, in batches that every owner takes.
    pub(super) fn say_all(&mut self, words: impl IntoIterator<Item = (usize, NodeWord)>) {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (length, word) in words {
            if !batch.is_empty() && bytes + length > BATCH_BYTES_MAX {
                self.say(std::mem::take(&mut batch));
                bytes = 0;
            }
            batch.push(word);
            bytes += length + WORD_BYTES;
        }
        if !batch.is_empty() {
            self.say(batch);
        }
    }

    pub(super) fn heard(&mut self, word: OwnerWord) {
        let now = self.now();
        if let Link::Open(open) = &mut self.link {
            open.heard_at = now;
        }
        match word.word {
            Some(Word::Welcome(welcome)) => self.welcome(now, &welcome),
            Some(Word::Beat(beat)) if self.session() == Some(beat.session) => self.lease.answered(beat.beat),
            Some(Word::WhoAreYou(_)) => self.hang_up(None),
            Some(Word::Redirect(redirect)) => self.hang_up(Some(redirect.url)),
            Some(Word::Spec(spec)) => self.specs.learn(&spec),
            Some(Word::Start(start)) => self.start(now, start),
            Some(Word::Stop(stop)) => self.stop(now, &stop),
            Some(Word::Forget(forget)) => {
                if let Some(token) = token_of(forget.token.as_ref()) {
                    self.attempts.forget(token);
                }
            }
            Some(Word::LogHave(have)) => self.log_have(now, &have),
            Some(Word::Beat(_)) | None => {}
        }
    }

    fn welcome(&mut self, now: Timestamp, welcome: &Welcome) {
        let every = Duration::from_micros(welcome.heartbeat_every_us);
        let lost_after = Duration::from_micros(welcome.lost_after_us);
        let Link::Open(open) = &mut self.link else { return };
        if open.session != welcome.session || open.welcomed || every.is_zero() || every >= lost_after {
            return;
        }
        open.welcomed = true;
        open.beat_at = now;
        self.failures = 0;
        self.lease.welcome(welcome.beat, every, lost_after);
        for voice in self.attempts.voices.values() {
            voice.spoken().restart();
        }
        // What was said before the end of an attempt comes before it.
        self.say_all_news();
        self.pass_on_all();
        self.say_endings(now, Duration::ZERO);
    }
}
