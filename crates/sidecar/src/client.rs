//! The blocking end of the protocol. An async agent frames by itself, with [`crate::protocol::frame`].

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::error::Error;
use crate::protocol::{Event, Request, frame};
use crate::socket;

/// A connection to a sidecar.
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
}

/// The half that asks.
pub struct Sender {
    stream: UnixStream,
    buffer: Vec<u8>,
}

/// The half that hears.
pub struct Receiver {
    stream: UnixStream,
    buffer: Vec<u8>,
    events: VecDeque<Event>,
}

impl Connection {
    /// Connects to the socket of a sidecar: [`crate::Layout::socket`].
    pub fn connect(path: &Path) -> Result<Self, Error> {
        let stream = socket::connect(path).map_err(Error::at("connect to", path))?;
        let second = stream.try_clone().map_err(Error::at("connect to", path))?;
        Ok(Self {
            sender: Sender { stream, buffer: Vec::new() },
            receiver: Receiver { stream: second, buffer: Vec::new(), events: VecDeque::new() },
        })
    }

    /// The two halves, for two threads.
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }

    /// Sends a batch.
    pub fn send(&mut self, requests: &[Request]) -> Result<(), Error> {
        self.sender.send(requests)
    }

    /// Waits for the next event; `None` when the sidecar closed the connection.
    pub fn receive(&mut self) -> Result<Option<Event>, Error> {
        self.receiver.receive()
    }

    /// Gives up waiting for an event after this time, with an error.
    pub fn set_receive_timeout(&self, timeout: Option<Duration>) -> Result<(), Error> {
        self.receiver.stream.set_read_timeout(timeout).map_err(Error::io("cannot set a timeout"))
    }
}

impl Sender {
    /// Sends a batch in one write.
    pub fn send(&mut self, requests: &[Request]) -> Result<(), Error> {
        self.buffer.clear();
        frame::encode(requests, &mut self.buffer);
        self.stream.write_all(&self.buffer).map_err(Error::io("cannot send to the sidecar"))
    }
}

impl Receiver {
    /// Waits for the next event; `None` when the sidecar closed the connection.
    pub fn receive(&mut self) -> Result<Option<Event>, Error> {
        let mut chunk = [0; 64 * 1024];
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if let Some((events, taken)) = frame::decode(&self.buffer)? {
                self.buffer.drain(..taken);
                self.events.extend(events);
                continue;
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(read) => self.buffer.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("cannot hear from the sidecar")(error)),
            }
        }
    }
}
