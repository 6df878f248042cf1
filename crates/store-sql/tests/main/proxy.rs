//! A TCP proxy that cuts one connection at a chosen moment of its first commit, and lets every other pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// When the connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server has committed; its answer does not come back.
    AfterCommit,
    /// The commit does not reach the server.
    BeforeCommit,
    /// The commit is answered; then every connection is gone and no other can be made.
    AfterAnswer,
}

/// What the connections of a proxy share.
struct Shared {
    cut: Cut,
    /// A connection was chosen.
    done: AtomicBool,
    /// Nothing passes any more.
    closed: watch::Sender<bool>,
}

/// A proxy in front of the server that `url` names; answers the URL of the proxy. It lives as long as the runtime.
pub(crate) async fn in_front_of(url: &str, cut: Cut) -> String {
    let (before, rest) = url.split_once('@').unwrap();
    let (target, path) = rest.split_once('/').unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let target = target.to_owned();
    tokio::spawn(async move {
        let shared =
            Arc::new(Shared { cut, done: AtomicBool::new(false), closed: watch::Sender::new(false) });
        while let Ok((client, _)) = listener.accept().await {
            if *shared.closed.borrow() {
                return;
            }
            let server = TcpStream::connect(&target).await.unwrap();
            let (client_read, client_write) = client.into_split();
            let (server_read, server_write) = server.into_split();
            let cutting = Arc::new(AtomicBool::new(false));
            let requests = requests(client_read, server_write, Arc::clone(&shared), Arc::clone(&cutting));
            let answers = answers(server_read, client_write, Arc::clone(&shared), cutting);
            tokio::spawn(until_closed(shared.closed.subscribe(), requests));
            tokio::spawn(until_closed(shared.closed.subscribe(), answers));
        }
    });
    format!("{before}@127.0.0.1:{port}/{path}")
}

/// Does it until nothing may pass any more.
async fn until_closed(mut closed: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        _ = closed.wait_for(|closed| *closed) => {}
    }
}

/// Finds the request that commits.
#[derive(Default)]
struct Watcher {
    /// The name that PostgreSQL's driver gave to the statement that does everything and commits by itself.
    fused: Option<Vec<u8>>,
}

impl Watcher {
    /// Whether this chunk commits: the command itself, as the messages of PostgreSQL and MySQL have it (and not
    /// `READ COMMITTED`), or the statement that does everything and commits by itself.
    fn commits(&mut self, chunk: &[u8]) -> bool {
        if chunk.windows(7).any(|window| window == b"COMMIT\0" || window == b"\x03COMMIT") {
            return true;
        }
        if let (Some(b'P'), Some(_)) = (chunk.first(), find(chunk, b" AS checked, NULL::uuid AS key")) {
            self.fused = chunk[5..].split(|byte| *byte == 0).next().map(<[u8]>::to_vec);
            return false;
        }
        // A bind names its portal, which is none, and then its statement.
        let bound = self.fused.as_ref().map(|name| [b"\0".as_slice(), name, b"\0"].concat());
        chunk.first() == Some(&b'B') && bound.is_some_and(|bound| chunk[5..].starts_with(&bound))
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Passes requests on until the first commit of all.
async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: Arc<Shared>,
    cutting: Arc<AtomicBool>,
) {
    let mut buffer = vec![0; 1 << 20];
    let mut watcher = Watcher::default();
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
        let chunk = &buffer[..count];
        if watcher.commits(chunk) && !shared.done.swap(true, Ordering::SeqCst) {
            cutting.store(true, Ordering::SeqCst);
            if shared.cut == Cut::BeforeCommit {
                // Both halves are dropped: server and client see the connection closed.
                return;
            }
        }
        if to.write_all(chunk).await.is_err() {
            return;
        }
    }
}

/// Passes answers back until the connection is to be cut. What the server says then proves that it has committed:
/// PostgreSQL is ready and outside of a transaction, MySQL answers the commit with one packet and nothing else. When
/// PostgreSQL answered with an error, nothing was committed, and the next commit is the one to cut.
async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: Arc<Shared>,
    cutting: Arc<AtomicBool>,
) {
    let mut buffer = vec![0; 1 << 20];
    let mut held = Vec::new();
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
        let chunk = &buffer[..count];
        if cutting.load(Ordering::SeqCst) {
            held.extend_from_slice(chunk);
            let postgres_is_ready = held.ends_with(b"Z\0\0\0\x05I");
            let mysql_is_ok = held.len() < 32 && held.get(3..5) == Some(&[1, 0]);
            if postgres_is_ready && find(&held, b"SERROR\0").is_some() {
                shared.done.store(false, Ordering::SeqCst);
                cutting.store(false, Ordering::SeqCst);
                if to.write_all(&std::mem::take(&mut held)).await.is_err() {
                    return;
                }
            } else if postgres_is_ready || mysql_is_ok {
                if shared.cut == Cut::AfterAnswer {
                    let _ = to.write_all(&held).await;
                    shared.closed.send_replace(true);
                }
                return;
            }
        } else if to.write_all(chunk).await.is_err() {
            return;
        }
    }
}
