//! A caller of a few lines: one request per connection, so that tests see exactly what is on the wire.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The connection, where more may come.
    pub(crate) rest: Option<TcpStream>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}: {}", self.status, String::from_utf8_lossy(&self.body)))
    }

    /// Asserts the status and gives the body.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// Asserts a problem with this code.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(body["status"], status);
        assert_eq!(body["request_id"].as_str(), self.header("x-request-id"));
        body
    }

    /// Whether an event stream has ended, when there is something of it to read.
    pub(crate) async fn has_ended(&mut self) -> bool {
        let stream = self.rest.as_mut().expect("a stream");
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer).await {
            // A stream that was ended has this last chunk.
            Ok(read) => read == 0 || buffer[..read].ends_with(b"0\r\n\r\n"),
            Err(_) => true,
        }
    }

    /// The text of an event stream up to and with `words`.
    pub(crate) async fn read_until(&mut self, words: &str) -> String {
        let stream = self.rest.as_mut().expect("a stream");
        let mut buffer = [0; 4096];
        loop {
            let text = String::from_utf8_lossy(&self.body).into_owned();
            if text.contains(words) {
                return text;
            }
            let read = stream.read(&mut buffer).await.expect("a read");
            assert!(read > 0, "the stream ended: {text}");
            self.body.extend_from_slice(&buffer[..read]);
        }
    }
}

/// Sends a request and reads the answer; of an event stream only the head.
pub(crate) async fn send(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Reply {
    let mut stream = TcpStream::connect(to).await.expect("a connection");
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    stream.write_all(text.as_bytes()).await.expect("a request");
    // A server that refuses a body may stop reading it.
    let _ = stream.write_all(body).await;
    read(stream).await
}

async fn read(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        let read = stream.read(&mut buffer).await.expect("an answer");
        assert!(read > 0, "the connection ended before the head");
        bytes.extend_from_slice(&buffer[..read]);
    };
    let body = bytes.split_off(head_end);
    let head = String::from_utf8(bytes).expect("a head of text");
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut reply = Reply { status: status.expect("a status"), headers, body, rest: None };
    if reply.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
        reply.rest = Some(stream);
        return reply;
    }
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => reply.body.extend_from_slice(&buffer[..read]),
        }
    }
    if reply.header("transfer-encoding") == Some("chunked") {
        reply.body = unchunk(&reply.body);
    }
    reply
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size =
            std::str::from_utf8(&bytes[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let Some(size) = size.filter(|size| *size > 0) else { break };
        whole.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
    whole
}
