//! Watchers: streams of news that stay open, as each browser has one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Open streams. They close with this.
pub(super) struct Watchers {
    ended: Arc<AtomicUsize>,
    readers: JoinSet<()>,
}

impl Watchers {
    /// How many are still connected.
    pub(super) fn alive(&self) -> usize {
        self.readers.len() - self.ended.load(Ordering::Relaxed)
    }
}

/// Opens so many.
pub(super) async fn open(address: SocketAddr, token: &str, count: usize) -> Result<Watchers> {
    let request =
        format!("GET /v1/watch HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
    let ended = Arc::new(AtomicUsize::new(0));
    let mut readers = JoinSet::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut read = vec![0; 16 * 1024];
        let length = stream.read(&mut read).await?;
        let head = String::from_utf8_lossy(&read[..length]).into_owned();
        ensure!(
            head.starts_with("HTTP/1.1 200"),
            "a watcher was refused: {}",
            head.lines().next().unwrap_or("")
        );
        let ended = Arc::clone(&ended);
        readers.spawn(async move {
            while stream.read(&mut read).await.is_ok_and(|length| length > 0) {}
            ended.fetch_add(1, Ordering::Relaxed);
        });
    }
    Ok(Watchers { ended, readers })
}
