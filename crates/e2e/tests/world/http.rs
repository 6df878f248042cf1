//! Requests as they go over the wire, for what the commands of the program do not show.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::World;

impl World {
    /// What the first server answers to a `GET`.
    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            self.token()
        );
        let mut stream = TcpStream::connect(self.url().trim_start_matches("http://")).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
    }

    /// Whether nothing follows what is there of a run's log.
    pub(crate) fn log_is_whole(&self, run: &str) -> bool {
        let (status, log) = self.get(&format!("/v1/runs/{run}/logs?limit=1"));
        assert_eq!(status, 200, "{log}");
        log["ended"] == true
    }
}
