//! An event stream that survives cuts: it connects again with `Last-Event-ID` and goes on where it was.
//!
//! Only a stream that was open once is waited for: nobody waits for a server that was never there.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use mainspring_wire::sse::{Event, Parser, SILENCE_MAX};
use reqwest::Response;

use crate::backoff::Backoff;
use crate::call::Call;
use crate::client::Client;
use crate::error::Error;

/// How long a server may be away before a follower gives up.
pub(crate) const AWAY_MAX: Duration = Duration::from_secs(120);

/// Events of one call, across connections.
#[derive(Debug)]
pub(crate) struct Events {
    client: Client,
    call: Call,
    last_id: Option<String>,
    connection: Option<(Response, Parser)>,
    /// Whether there was a connection before.
    opened: bool,
    /// Whether the connection began where nobody knows: the one before it was cut and had said no id.
    gap: bool,
    ready: VecDeque<Event>,
    backoff: Backoff,
    heard_at: Instant,
    /// Whether the follower was told that the server is away.
    away: bool,
}

/// What a follower is told.
#[derive(Debug)]
pub(crate) enum Told {
    /// An event.
    Event(Event),
    /// Events may have been missed: a new connection could not go on where the last one was.
    Gap,
    /// The server does not answer; it is waited for. Told once each time.
    Away,
}

impl Events {
    pub(crate) fn new(client: &Client, call: Call) -> Self {
        let call = call.header("accept", "text/event-stream");
        Self {
            client: client.clone(),
            call,
            last_id: None,
            connection: None,
            opened: false,
            gap: false,
            ready: VecDeque::new(),
            backoff: Backoff::new(Duration::from_millis(200), Duration::from_secs(5)),
            heard_at: Instant::now(),
            away: false,
        }
    }

    /// Returns when there is a connection.
    pub(crate) async fn connect(&mut self) -> Result<(), Error> {
        while self.connection.is_none() {
            match self.open().await {
                Ok(()) => {}
                Err(error) if self.is_worth_waiting(&error) => {
                    tokio::time::sleep(self.backoff.next()).await;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What comes next. The stream itself never ends well: who follows knows when it is over.
    pub(crate) async fn next(&mut self) -> Result<Told, Error> {
        loop {
            if std::mem::take(&mut self.gap) {
                return Ok(Told::Gap);
            }
            if let Some(event) = self.ready.pop_front() {
                if event.id.is_some() {
                    self.last_id.clone_from(&event.id);
                }
                if event.is_mark() {
                    continue;
                }
                return Ok(Told::Event(event));
            }
            let was_cut = self.connection.is_none();
            match self.read().await {
                Ok(()) => {}
                Err(error) if self.is_worth_waiting(&error) => {
                    self.connection = None;
                    // A cut that the next connection mends is nobody's concern.
                    if was_cut && !self.away {
                        self.away = true;
                        return Ok(Told::Away);
                    }
                    tokio::time::sleep(self.backoff.next()).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn is_worth_waiting(&self, error: &Error) -> bool {
        self.opened && error.is_transient() && self.heard_at.elapsed() < AWAY_MAX
    }

    async fn open(&mut self) -> Result<(), Error> {
        let call = match &self.last_id {
            Some(id) => self.call.clone().header("last-event-id", id),
            None => self.call.clone(),
        };
        // A server that hangs takes the connection and says nothing.
        let answer = tokio::time::timeout(SILENCE_MAX, self.client.open(call)).await;
        let answer = answer.map_err(|_| Error::Silent)??;
        self.heard();
        self.connection = Some((answer, Parser::default()));
        self.gap |= self.opened && self.last_id.is_none();
        self.opened = true;
        Ok(())
    }

    /// Connects when there is no connection, and reads once when there is one.
    async fn read(&mut self) -> Result<(), Error> {
        if self.connection.is_none() {
            return self.open().await;
        }
        let Some((answer, parser)) = &mut self.connection else { return Ok(()) };
        let chunk = tokio::time::timeout(SILENCE_MAX, answer.chunk()).await;
        let chunk = chunk.map_err(|_| Error::Silent)?.map_err(Error::Broken)?;
        match chunk {
            Some(bytes) => {
                let events = parser.take(&bytes);
                let events = events.ok_or_else(|| Error::Unreadable("an event is too long".into()))?;
                self.ready.extend(events);
                self.heard();
            }
            // The server ended the stream, perhaps because it stops: look for it again, at leisure.
            None => {
                self.connection = None;
                tokio::time::sleep(self.backoff.next()).await;
            }
        }
        Ok(())
    }

    fn heard(&mut self) {
        self.heard_at = Instant::now();
        self.away = false;
        if !self.ready.is_empty() {
            self.backoff.reset();
        }
    }
}
