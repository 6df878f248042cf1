//! Requests as they go over the wire, for what the commands of the program do not show.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::World;

/// A connection, with or without TLS.
trait ReadWrite: Read + Write + Send {}
impl<T: Read + Write + Send> ReadWrite for T {}

impl World {
    /// What the first server answers to a `GET`.
    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        self.get_at(&self.servers[0].name, path)
    }

    /// What one of the servers answers to a `GET`.
    pub(crate) fn get_at(&self, server: &str, path: &str) -> (u16, Value) {
        let mut stream = self.ask(server, path, "");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
    }

    /// Listens to the news at a server, from now on or after a mark. Returns when the server listens.
    pub(crate) fn watch(&self, server: &str, mark: Option<&str>) -> Heard {
        let header = mark.map_or(String::new(), |mark| format!("Last-Event-ID: {mark}\r\n"));
        let mut stream = BufReader::new(self.ask(server, "/v1/watch", &header));
        let mut status = String::new();
        stream.read_line(&mut status).unwrap();
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        let heard = Heard::default();
        let lines = Arc::clone(&heard.0);
        std::thread::spawn(move || {
            for line in stream.lines().map_while(Result::ok) {
                lines.lock().unwrap().push(line);
            }
        });
        heard
    }

    fn ask(&self, server: &str, path: &str, headers: &str) -> Box<dyn ReadWrite> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{headers}Connection: close\r\n\r\n",
            self.token()
        );
        let socket = TcpStream::connect(self.address_of(server)).unwrap();
        let mut stream: Box<dyn ReadWrite> = match &self.authority {
            Some(authority) => Box::new(authority.connect(socket)),
            None => Box::new(socket),
        };
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Whether nothing follows what is there of a run's log.
    pub(crate) fn log_is_whole(&self, run: &str) -> bool {
        let (status, log) = self.get(&format!("/v1/runs/{run}/logs?limit=1"));
        assert_eq!(status, 200, "{log}");
        log["ended"] == true
    }
}

/// The lines of a stream, as they come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    /// Whether a line has all of these in it.
    pub(crate) fn has(&self, parts: &[&str]) -> bool {
        self.0.lock().unwrap().iter().any(|line| parts.iter().all(|part| line.contains(part)))
    }

    /// What was told, without where it stands.
    pub(crate) fn pieces(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        let pieces = lines.iter().filter(|line| line.starts_with("data: "));
        pieces.filter_map(|line| line.split_once(r#"","kind""#)).map(|(_, piece)| piece.to_owned()).collect()
    }

    /// The last id.
    pub(crate) fn mark(&self) -> Option<String> {
        let lines = self.0.lock().unwrap();
        lines.iter().rev().find_map(|line| line.strip_prefix("id: ")).map(str::to_owned)
    }
}
