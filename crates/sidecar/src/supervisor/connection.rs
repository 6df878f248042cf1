//! One peer on the socket: bytes in until a frame is whole, events out in batches.
//!
//! A slow peer costs bounded memory. Live log is left out when too much is under way (the peer sees the gap in the
//! offsets and asks); of progress the latest line of each attempt is kept; ends of attempts are owed and follow when there
//! is room; and nobody who does not take the answers is read from.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use rustc_hash::FxHashMap;

use super::poller::Interest;
use crate::error::Error;
use crate::key::AttemptKey;
use crate::protocol::{Event, Request, frame};

/// Bytes under way above which live log is left out.
const LOG_BACKLOG_BYTES: usize = 1024 * 1024;
/// Bytes under way above which ends of attempts wait.
const BACKLOG_BYTES: usize = 4 * 1024 * 1024;
/// A frame is closed when it has this many bytes.
const BATCH_BYTES: usize = 1024 * 1024;
/// Buffers that grew are given back above this.
const KEPT_BYTES: usize = 64 * 1024;

/// A connected peer.
pub(super) struct Connection {
    pub(super) stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    written: usize,
    events: Vec<Event>,
    event_bytes: usize,
    /// Attempts whose end it has yet to be told.
    pub(super) owed: VecDeque<AttemptKey>,
    /// What both speak; zero before the greeting.
    pub(super) version: u32,
    /// The latest progress of attempts that it has yet to be told.
    pub(super) unsaid: FxHashMap<AttemptKey, String>,
    /// Requests that arrived in full and wait for room for their answers.
    requests: VecDeque<Request>,
    interest: Interest,
}

impl Connection {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            written: 0,
            events: Vec::new(),
            event_bytes: 0,
            owed: VecDeque::new(),
            version: 0,
            unsaid: FxHashMap::default(),
            requests: VecDeque::new(),
            interest: Interest { input: true, room: false },
        }
    }

    /// Takes what has arrived; an error or the end of the stream ends the connection.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        if !self.is_read() {
            return Ok(());
        }
        match self.stream.read(buffer) {
            Ok(0) => return Err(Error::Protocol("the peer is gone".to_owned())),
            Ok(read) => self.input.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(Error::io("cannot read from a peer")(error)),
        }
        let mut taken = 0;
        while let Some((batch, length)) = frame::decode(&self.input[taken..])? {
            self.requests.extend::<Vec<Request>>(batch);
            taken += length;
        }
        self.input.drain(..taken);
        give_back(&mut self.input);
        Ok(())
    }

    /// The next request, if there is one and room for its answer.
    pub(super) fn next_request(&mut self) -> Option<Request> {
        self.has_work().then(|| self.requests.pop_front()).flatten()
    }

    /// Whether there is a request that can be acted on.
    pub(super) fn has_work(&self) -> bool {
        !self.requests.is_empty() && self.has_room()
    }

    fn is_read(&self) -> bool {
        self.requests.is_empty() && self.has_room()
    }

    /// Sends an event with the next flush.
    pub(super) fn push(&mut self, event: Event) {
        self.event_bytes += weight(&event);
        self.events.push(event);
    }

    /// Whether live log may be sent.
    pub(super) fn has_room_for_log(&self) -> bool {
        self.backlog() < LOG_BACKLOG_BYTES
    }

    /// Whether ends may be sent.
    pub(super) fn has_room(&self) -> bool {
        self.backlog() < BACKLOG_BYTES
    }

    /// Tells the latest progress that was held back, as far as there is room.
    pub(super) fn say_unsaid(&mut self) {
        while self.has_room_for_log()
            && let Some(key) = self.unsaid.keys().next().copied()
        {
            let line = self.unsaid.remove(&key).unwrap_or_default();
            self.push(Event::Progress { key, line });
        }
    }

    /// Writes as much as the peer takes. Answers what is to be told of it, if that has changed.
    pub(super) fn flush(&mut self) -> io::Result<Option<Interest>> {
        self.encode();
        while self.written < self.output.len() {
            match self.stream.write(&self.output[self.written..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => self.written += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        if self.written == self.output.len() || self.written >= BATCH_BYTES {
            self.output.drain(..self.written);
            self.written = 0;
            give_back(&mut self.output);
        }
        let interest = Interest { input: self.is_read(), room: !self.output.is_empty() };
        let before = std::mem::replace(&mut self.interest, interest);
        Ok((before != interest).then_some(interest))
    }

    fn backlog(&self) -> usize {
        self.output.len() - self.written + self.event_bytes
    }

    fn encode(&mut self) {
        let mut batch = Vec::new();
        let mut bytes = 0;
        for event in self.events.drain(..) {
            bytes += weight(&event);
            batch.push(event);
            if bytes >= BATCH_BYTES {
                frame::encode(&batch, &mut self.output);
                batch.clear();
                bytes = 0;
            }
        }
        frame::encode(&batch, &mut self.output);
        self.event_bytes = 0;
        if self.events.capacity() > 1024 {
            self.events = Vec::new();
        }
    }
}

/// About how many bytes an event is.
fn weight(event: &Event) -> usize {
    64 + match event {
        Event::Log { frames, .. } | Event::LogRead { frames, .. } => frames.len(),
        Event::Finished(finished) => finished.result.as_ref().map_or(0, |result| result.len()),
        Event::Progress { line, .. } => line.len(),
        Event::Listing { attempts } => attempts.len() * 64,
        _ => 0,
    }
}

fn give_back(buffer: &mut Vec<u8>) {
    if buffer.is_empty() && buffer.capacity() > KEPT_BYTES {
        *buffer = Vec::new();
    }
}
