//! Server-sent events as the WHATWG text describes them, for those who read them: bytes in, events out.

use std::time::Duration;

/// A server that has nothing to tell sends a comment as often.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// After so much silence the connection is taken for dead.
pub const SILENCE_MAX: Duration = Duration::from_secs(45);

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The name; empty when the server gave none.
    pub name: String,
    /// The data, lines joined.
    pub data: String,
    /// The mark to resume from.
    pub id: Option<String>,
}

impl Event {
    /// Whether it only says where the stream stands.
    pub fn is_mark(&self) -> bool {
        self.id.is_some() && self.name.is_empty() && self.data.is_empty()
    }
}

/// The longest line that is kept; a server that sends more is no server of ours.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Cuts bytes into events.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    after_cr: bool,
    event: Event,
    has_data: bool,
}

impl Parser {
    /// Takes bytes as they come and gives the events that they complete; none when a line is too long.
    pub fn take(&mut self, bytes: &[u8]) -> Option<Vec<Event>> {
        let mut events = Vec::new();
        for byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, *byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => {
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_line(&String::from_utf8_lossy(&line)));
                }
                _ if self.line.len() >= LINE_BYTES_MAX => return None,
                byte => self.line.push(*byte),
            }
        }
        Some(events)
    }

    fn end_line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            let is_event = std::mem::take(&mut self.has_data) || event.id.is_some();
            return is_event.then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // A comment keeps the connection open; `retry` is ours to decide.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, Option<&str>)]) {
        for size in [1, 2, 3, 1000] {
            let mut parser = Parser::default();
            let events: Vec<Event> =
                text.as_bytes().chunks(size).flat_map(|chunk| parser.take(chunk).unwrap()).collect();
            let events: Vec<_> =
                events.iter().map(|event| (&*event.name, &*event.data, event.id.as_deref())).collect();
            assert_eq!(events, expected, "in pieces of {size}: {text:?}");
        }
    }

    #[test]
    fn events_come_out_however_the_bytes_arrive() {
        check("event: line\nid: 7\ndata: {\"a\":1}\n\n", &[("line", "{\"a\":1}", Some("7"))]);
        check(": keep\n\ndata: a\r\ndata: b\r\n\r\ndata:c\r\r", &[("", "a\nb", None), ("", "c", None)]);
        check("event: end\n\n", &[]);
        check("id: 7\n\n: keep\n\n", &[("", "", Some("7"))]);
        check("data\n\nid\ndata: é\n\n", &[("", "", None), ("", "é", Some(""))]);
        check("data: cut", &[]);
    }
}
