//! One peer on the socket: bytes in until a frame is whole, events out in batches.
//!
//! A slow peer costs bounded memory. Live log is left out when too much is under way (the peer sees the gap in the
//! offsets and asks); ends of attempts are owed and follow when there is room.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

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
    waits_for_room: bool,
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
            waits_for_room: false,
        }
    }

    /// The requests that have arrived in full; an error or the end of the stream ends the connection.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<Vec<Request>, Error> {
        let mut requests = Vec::new();
        match self.stream.read(buffer) {
            Ok(0) => return Err(Error::Protocol("the peer is gone".to_owned())),
            Ok(read) => self.input.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(Error::io("cannot read from a peer")(error)),
        }
        let mut taken = 0;
        while let Some((batch, length)) = frame::decode(&self.input[taken..])? {
            requests.extend(batch);
            taken += length;
        }
        self.input.drain(..taken);
        give_back(&mut self.input);
        Ok(requests)
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

    /// Writes as much as the peer takes. Answers `Some` when the wish to hear of room has changed.
    pub(super) fn flush(&mut self) -> io::Result<Option<bool>> {
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
        let waits = !self.output.is_empty();
        let changed = waits != self.waits_for_room;
        self.waits_for_room = waits;
        Ok(changed.then_some(waits))
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
