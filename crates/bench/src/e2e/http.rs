//! The client's side of HTTP/1.1 on one connection that stays open: as little work as there can be, so that the figures are
//! the server's. The same for the echo and for ours.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A request, ready to be sent again and again.
#[derive(Debug, Clone)]
pub(crate) struct Request(Vec<u8>);

impl Request {
    pub(crate) fn new(method: &str, path: &str, token: &str, body: Option<&Value>) -> Self {
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        Self((head + &body).into_bytes())
    }
}

/// An open connection, one request at a time.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(4096) })
    }

    /// Sends a request; tells the body of a good answer.
    pub(crate) async fn call(&mut self, request: &Request) -> Result<&[u8]> {
        self.stream.write_all(&request.0).await?;
        self.read.clear();
        let (status, body, end) = loop {
            ensure!(self.stream.read_buf(&mut self.read).await? > 0, "the connection was closed");
            if let Some(head) = head(&self.read)? {
                break head;
            }
        };
        while self.read.len() < end {
            ensure!(self.stream.read_buf(&mut self.read).await? > 0, "an answer was cut off");
        }
        let body = &self.read[body..end];
        if !(200..300).contains(&status) {
            bail!("{status}: {}", String::from_utf8_lossy(body));
        }
        Ok(body)
    }

    pub(crate) async fn json(&mut self, request: &Request) -> Result<Value> {
        Ok(serde_json::from_slice(self.call(request).await?)?)
    }
}

/// The status, and where the body begins and ends; none while the head is not whole.
fn head(read: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    let Some(at) = read.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(&read[..at])?;
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?.parse()?;
    let length = lines.filter_map(|line| line.split_once(':')).find_map(|(name, value)| {
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
    });
    let length = length.context("an answer without a length")??;
    Ok(Some((status, at + 4, at + 4 + length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_it_is_whole() {
        let text = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nx: y\r\n\r\n{}";
        assert_eq!(head(text).unwrap(), Some((201, text.len() - 2, text.len())));
        assert_eq!(head(&text[..30]).unwrap(), None);
        assert!(head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
