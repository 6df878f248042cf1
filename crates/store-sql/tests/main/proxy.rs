//! A TCP proxy that cuts one connection at a chosen moment of its first commit, and lets every other pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// When the connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server has committed; its answer does not come back.
    AfterCommit,
    /// The commit does not reach the server.
    BeforeCommit,
}

/// A proxy in front of the server that `url` names; answers the URL of the proxy. It lives as long as the runtime.
pub(crate) async fn in_front_of(url: &str, cut: Cut) -> String {
    let (before, rest) = url.split_once('@').unwrap();
    let (target, path) = rest.split_once('/').unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let target = target.to_owned();
    tokio::spawn(async move {
        let done = Arc::new(AtomicBool::new(false));
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(&target).await.unwrap();
            let (client_read, client_write) = client.into_split();
            let (server_read, server_write) = server.into_split();
            let cutting = Arc::new(AtomicBool::new(false));
            tokio::spawn(requests(client_read, server_write, cut, Arc::clone(&done), Arc::clone(&cutting)));
            tokio::spawn(answers(server_read, client_write, Arc::clone(&done), cutting));
        }
    });
    format!("{before}@127.0.0.1:{port}/{path}")
}

/// Passes requests on until the first commit of all.
async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    cut: Cut,
    done: Arc<AtomicBool>,
    cutting: Arc<AtomicBool>,
) {
    let mut buffer = vec![0; 1 << 20];
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
        let chunk = &buffer[..count];
        // The whole command, as PostgreSQL's and MySQL's messages have it: not `READ COMMITTED`.
        let commits = chunk.windows(7).any(|window| window == b"COMMIT\0" || window == b"\x03COMMIT");
        if commits && !done.swap(true, Ordering::SeqCst) {
            cutting.store(true, Ordering::SeqCst);
            if cut == Cut::BeforeCommit {
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
/// PostgreSQL names the command, MySQL answers the commit with one packet and nothing else. When PostgreSQL says that
/// the commit was a rollback, the next one is the one to cut.
async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    done: Arc<AtomicBool>,
    cutting: Arc<AtomicBool>,
) {
    let mut buffer = vec![0; 1 << 20];
    let mut held = Vec::new();
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
        let chunk = &buffer[..count];
        if cutting.load(Ordering::SeqCst) {
            held.extend_from_slice(chunk);
            let named = held.windows(7).any(|window| window == b"COMMIT\0");
            let mysql_ok = held.len() < 32 && held.get(3..5) == Some(&[1, 0]);
            if named || mysql_ok {
                return;
            }
            if held.windows(9).any(|window| window == b"ROLLBACK\0") {
                done.store(false, Ordering::SeqCst);
                cutting.store(false, Ordering::SeqCst);
                if to.write_all(&std::mem::take(&mut held)).await.is_err() {
                    return;
                }
            }
        } else if to.write_all(chunk).await.is_err() {
            return;
        }
    }
}
