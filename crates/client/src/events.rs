//! An event stream that survives cuts: it connects again with `Last-Event-ID` and goes on where it was.

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
        }
    }

    /// Returns when there is a connection.
    pub(crate) async fn connect(&mut self) -> Result<(), Error> {
        while self.connection.is_none() {
            match self.open().await {
                Ok(()) => {}
                Err(error) if error.is_transient() && self.heard_at.elapsed() < AWAY_MAX => {
                    tokio::time::sleep(self.backoff.next()).await;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next event. The stream itself never ends well: who follows knows when it is over.
    pub(crate) async fn next(&mut self) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.next_or_gap().await? {
                return Ok(event);
            }
        }
    }

    /// The next event, or nothing where events may have been missed: a new connection that could not go on where the last
    /// one was.
    pub(crate) async fn next_or_gap(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if std::mem::take(&mut self.gap) {
                return Ok(None);
            }
            if let Some(event) = self.ready.pop_front() {
                if event.id.is_some() {
                    self.last_id.clone_from(&event.id);
                }
                if event.is_mark() {
                    continue;
                }
                return Ok(Some(event));
            }
            match self.read().await {
                Ok(()) => {}
                Err(error) if error.is_transient() && self.heard_at.elapsed() < AWAY_MAX => {
                    self.connection = None;
                    tokio::time::sleep(self.backoff.next()).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn open(&mut self) -> Result<(), Error> {
        let call = match &self.last_id {
            Some(id) => self.call.clone().header("last-event-id", id),
            None => self.call.clone(),
        };
        let answer = self.client.open(call).await?;
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
        if !self.ready.is_empty() {
            self.backoff.reset();
        }
    }
}
