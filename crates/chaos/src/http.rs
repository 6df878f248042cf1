//! A small HTTP/1.1 client that tells apart what was answered and what is unknown.
//!
//! One request for each connection, without retries: whether a request is sent again is the caller's decision, because a
//! request without an answer may have been carried out.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A connection is accepted at once, or nothing listens.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'a str, String)>,
    pub(crate) body: String,
}

impl<'a> Request<'a> {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), headers: Vec::new(), body: String::new() }
    }

    pub(crate) fn send_json(method: &'a str, path: impl Into<String>, body: &Value) -> Self {
        let headers = vec![("Content-Type", "application/json".to_owned())];
        Self { method, path: path.into(), headers, body: body.to_string() }
    }

    pub(crate) fn header(mut self, name: &'a str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Sends a request to a port of this host. An error means that the outcome is unknown.
pub(crate) fn send(port: u16, token: &str, request: &Request<'_>, limit: Duration) -> Result<Answer> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_LIMIT).context("cannot connect")?;
    stream.set_write_timeout(Some(limit)).context("a limit is not zero")?;
    stream.write_all(text_of(request, token).as_bytes()).context("cannot send the request")?;
    parse(&read_to_end(&mut stream, limit)?)
}

fn text_of(request: &Request<'_>, token: &str) -> String {
    let mut text = format!(
        "{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n",
        request.method,
        request.path.replace(' ', "%20"),
        request.body.len()
    );
    for (name, value) in &request.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text + "\r\n" + &request.body
}

fn read_to_end(stream: &mut TcpStream, limit: Duration) -> Result<Vec<u8>> {
    let deadline = Instant::now() + limit;
    let (mut bytes, mut part) = (Vec::new(), [0; 64 * 1024]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            bail!("no answer within {} ms", limit.as_millis());
        }
        stream.set_read_timeout(Some(left)).context("a limit is not zero")?;
        match stream.read(&mut part).context("the answer broke off")? {
            0 => return Ok(bytes),
            count => bytes.extend_from_slice(&part[..count]),
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").context("the answer broke off")?;
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).context("no status")?;
    let header = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(name))?;
        line.strip_prefix(':').map(|value| value.trim().to_owned())
    };
    let rest = &bytes[end + 4..];
    let body = if header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        unchunk(rest)?
    } else {
        let length = header("content-length").and_then(|value| value.parse().ok()).unwrap_or(rest.len());
        rest.get(..length).context("the answer broke off")?.to_vec()
    };
    Ok(Answer { status, body: String::from_utf8_lossy(&body).into_owned() })
}

fn unchunk(mut rest: &[u8]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").context("the answer broke off")?;
        let size = std::str::from_utf8(&rest[..end])
            .ok()
            .and_then(|text| usize::from_str_radix(text.trim(), 16).ok());
        let size = size.context("a chunk has a size")?;
        if size == 0 {
            return Ok(body);
        }
        let from = end + 2;
        body.extend_from_slice(rest.get(from..from + size).context("the answer broke off")?);
        rest = rest.get(from + size + 2..).context("the answer broke off")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(u16, &str)>) {
        let answer = parse(text.as_bytes()).ok();
        let read = answer.as_ref().map(|answer| (answer.status, answer.body.as_str()));
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn whole_answers_are_read_and_others_are_unknown() {
        check("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}", Some((201, "{}")));
        check("HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\n{}", None);
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            Some((200, "abc")),
        );
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", None);
        check("HTTP/1.1 200 OK\r\nConte", None);
        check("", None);
    }
}
