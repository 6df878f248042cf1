//! The loop of an agent: waits for whatever comes first, takes all that is ready, asks the rules, and acts.
//!
//! Everything that one wake-up brings is one write to the sidecar and one batch on the stream. What is done with the rules'
//! answers is in `act`, what the sidecar's events mean in `tasks`.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{AttemptToken, NodeId, Timestamp};
use mainspring_sidecar::Layout;
use mainspring_sidecar::clock::boottime_us;
use mainspring_sidecar::protocol::{Event, Request, Start};
use mainspring_wire::agent::{FromNode, NodeWord};
use prost::Message;
use rustc_hash::FxHashMap;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle};

use crate::alarm::Alarm;
use crate::core::{Core, Input, Output};
use crate::error::Error;
use crate::facts::Meter;
use crate::identity::Identity;
use crate::logs::Logs;
use crate::options::Options;
use crate::prepare::Fetcher;
use crate::sidecar::Link;
use crate::stream::{Redial, StreamEvent};
use crate::tasks::Roll;

/// A batch is closed when it is so long; one word may be longer.
const BATCH_BYTES: usize = 512 * 1024;
/// How long the last words may take to leave.
const FAREWELL_PATIENCE: Duration = Duration::from_secs(2);
/// How long a part of a log may stay without an answer before it is said again.
const LOG_PATIENCE: Duration = Duration::from_secs(20);
/// How often what is kept for too long is looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(3600);

/// A preparation or a copy of outputs that came to its end.
#[derive(Debug)]
pub(crate) enum Done {
    Prepared { token: AttemptToken, outcome: Result<(Box<Start>, bool), String> },
    Published { token: AttemptToken, outcome: Result<(), String> },
}

pub(crate) struct Driver {
    pub(crate) options: Options,
    pub(crate) layout: Layout,
    pub(crate) identity: Identity,
    pub(crate) node: NodeId,
    pub(crate) core: Core,
    pub(crate) meter: Meter,
    pub(crate) logs: Logs,
    pub(crate) fetcher: Arc<Fetcher>,
    /// The sidecar, or the search for it.
    pub(crate) link: Option<Link>,
    pub(crate) opening: Option<JoinHandle<Link>>,
    /// The sidecar's journal, while it is being read.
    pub(crate) roll: Option<Roll>,
    pub(crate) stream_events: mpsc::Receiver<StreamEvent>,
    pub(crate) redials: mpsc::Sender<Redial>,
    pub(crate) sender: Option<mpsc::Sender<FromNode>>,
    /// Words that wait for room on the stream.
    pub(crate) pending: VecDeque<NodeWord>,
    /// Words of this wake-up.
    pub(crate) said: Vec<NodeWord>,
    /// What was prepared and is not known to be started.
    pub(crate) starts: FxHashMap<AttemptToken, Box<Start>>,
    /// Preparations and copies that are under way.
    pub(crate) under_way: FxHashMap<AttemptToken, AbortHandle>,
    pub(crate) done_sender: mpsc::UnboundedSender<Done>,
    pub(crate) done: mpsc::UnboundedReceiver<Done>,
    pub(crate) swept_at: Timestamp,
    pub(crate) alarm: Alarm,
    pub(crate) leaving: bool,
    /// Why the agent cannot go on.
    pub(crate) failure: Option<Error>,
}

/// What woke the loop.
enum Woken {
    Shutdown,
    Stream(Option<StreamEvent>),
    Sidecar,
    Opened(Option<Link>),
    Done(Option<Done>),
    Room,
    Time,
}

impl Driver {
    pub(crate) async fn run(&mut self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let mut shutdown = std::pin::pin!(shutdown);
        let mut asked_to_end = false;
        let mut outputs = Vec::new();
        self.settle(&mut outputs);
        while !self.leaving {
            let woken = self.wait(shutdown.as_mut(), asked_to_end).await;
            match woken {
                Woken::Shutdown => {
                    asked_to_end = true;
                    let input = if self.options.drain_on_shutdown { Input::Drain } else { Input::Leave };
                    self.handle(input);
                }
                Woken::Stream(Some(event)) => self.streamed(event)?,
                Woken::Stream(None) => break,
                Woken::Sidecar => {}
                Woken::Opened(link) => self.opened(link),
                Woken::Done(done) => done.into_iter().for_each(|done| self.finish(done)),
                Woken::Room => {}
                Woken::Time => {
                    // What has arrived meanwhile is no silence.
                    self.take_ready()?;
                    self.tick();
                }
            }
            self.take_ready()?;
            self.settle(&mut outputs);
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
        }
        self.hang_up().await;
        Ok(())
    }

    async fn wait(
        &mut self,
        shutdown: std::pin::Pin<&mut impl Future<Output = ()>>,
        asked_to_end: bool,
    ) -> Woken {
        let sweep_at = now() + SWEEP_EVERY;
        let wake_at = self.core.wakes_at().map_or(sweep_at, |at| at.min(sweep_at));
        let room = self.sender.as_ref().filter(|_| !self.pending.is_empty());
        tokio::select! {
            () = shutdown, if !asked_to_end => Woken::Shutdown,
            event = self.stream_events.recv() => Woken::Stream(event),
            _ = ready(self.link.as_ref()), if self.link.is_some() => Woken::Sidecar,
            link = opened(self.opening.as_mut()), if self.opening.is_some() => Woken::Opened(link),
            done = self.done.recv() => Woken::Done(done),
            _ = reserve(room), if room.is_some() => Woken::Room,
            () = self.alarm.wait_until(wake_at) => Woken::Time,
        }
    }

    /// Takes everything that is there already, so that it is decided and said together.
    fn take_ready(&mut self) -> Result<(), Error> {
        while let Ok(event) = self.stream_events.try_recv() {
            self.streamed(event)?;
        }
        while let Ok(done) = self.done.try_recv() {
            self.finish(done);
        }
        let mut events: Vec<Event> = Vec::new();
        let received = self.link.as_mut().map(|link| link.receive(&mut events));
        events.into_iter().for_each(|event| self.hear(event));
        if let Some(Err(error)) = received {
            self.lose_sidecar(&error);
        }
        Ok(())
    }

    pub(crate) fn handle(&mut self, input: Input) {
        self.core.handle(now(), input);
    }

    fn tick(&mut self) {
        let at = now();
        if self.core.beat_due(at) {
            let usage = self.meter.read();
            self.core.handle(at, Input::Used(usage));
            self.logs.nudge(LOG_PATIENCE);
        }
        self.core.handle(at, Input::Tick);
        if at.since(self.swept_at) >= SWEEP_EVERY {
            self.swept_at = at;
            self.sweep();
        }
    }

    fn streamed(&mut self, event: StreamEvent) -> Result<(), Error> {
        match event {
            StreamEvent::Opened(sender) => {
                self.pending.clear();
                self.sender = Some(sender);
                let session = self.identity.next_session()?;
                self.handle(Input::Connected { session });
            }
            StreamEvent::Words(words) => {
                let at = now();
                words.into_iter().for_each(|word| self.core.handle(at, Input::Heard(word)));
            }
            StreamEvent::Closed => {
                self.drop_stream();
                self.handle(Input::Disconnected);
            }
            StreamEvent::Refused(error) => return Err(error),
        }
        Ok(())
    }

    pub(crate) fn drop_stream(&mut self) {
        self.sender = None;
        self.pending.clear();
    }

    /// Acts on what the rules say until they say no more, then lets everything leave.
    fn settle(&mut self, outputs: &mut Vec<Output>) {
        loop {
            self.core.take_into(outputs);
            if outputs.is_empty() {
                break;
            }
            outputs.drain(..).for_each(|output| self.perform(output));
        }
        let link = &mut self.link;
        let mut logs = Vec::new();
        if self.sender.is_some() && self.core.is_welcomed() {
            self.logs.pump(&mut logs, |request| {
                if let Some(link) = link {
                    link.send(&request);
                }
            });
        }
        if self.sender.is_some() {
            // Something of a log is said before the end of its attempt.
            self.pending.extend(logs);
            self.pending.extend(self.said.drain(..));
        }
        self.said.clear();
        if let Some(Err(error)) = self.link.as_mut().map(Link::flush) {
            self.lose_sidecar(&error);
        }
        self.send_batches();
    }

    fn send_batches(&mut self) {
        while !self.pending.is_empty() {
            let Some(sender) = &self.sender else { return };
            let Ok(permit) = sender.try_reserve() else { return };
            let mut bytes = 0;
            let mut words = Vec::new();
            while bytes < BATCH_BYTES
                && let Some(word) = self.pending.pop_front()
            {
                bytes += word.encoded_len();
                words.push(word);
            }
            permit.send(FromNode { words });
        }
    }

    /// Lets the last words leave.
    async fn hang_up(&mut self) {
        if let Some(link) = &mut self.link {
            let _ = link.flush();
        }
        let Some(sender) = self.sender.take() else { return };
        let words: Vec<NodeWord> = self.pending.drain(..).collect();
        let leave = async {
            if !words.is_empty() {
                let _ = sender.send(FromNode { words }).await;
            }
            drop(sender);
            // The other end closes when it has read to the end.
            while let Some(event) = self.stream_events.recv().await {
                if matches!(event, StreamEvent::Closed) {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(FAREWELL_PATIENCE, leave).await;
    }

    /// Lets the sidecar go, which stays for its tasks alone: what it knows of those that ended is in its journal.
    pub(crate) async fn dismiss_sidecar(&mut self) {
        let Some(mut link) = self.link.take() else { return };
        link.send(&Request::Shutdown { force: false });
        let _ = tokio::time::timeout(FAREWELL_PATIENCE, link.read_to_end()).await;
    }
}

/// The node's own clock, the one that the sidecar's deadlines are given in. It goes on while the machine is suspended.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_micros(boottime_us() as i64)
}

async fn ready(link: Option<&Link>) {
    match link {
        Some(link) => drop(link.ready().await),
        None => std::future::pending().await,
    }
}

async fn opened(opening: Option<&mut JoinHandle<Link>>) -> Option<Link> {
    match opening {
        Some(opening) => opening.await.ok(),
        None => std::future::pending().await,
    }
}

async fn reserve(sender: Option<&mpsc::Sender<FromNode>>) {
    match sender {
        Some(sender) => drop(sender.reserve().await),
        None => std::future::pending().await,
    }
}
