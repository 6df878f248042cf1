//! The load: connections that stay open, each with one request in flight after the other.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::future::try_join_all;

use super::http::{Connection, Request};

/// Sends the request on so many connections for a while; tells how many were answered, and how long it took.
pub(super) async fn run(
    address: SocketAddr,
    request: &Request,
    connections: usize,
    span: Duration,
) -> Result<(u64, Duration)> {
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(address).await?);
    }
    let began = Instant::now();
    let senders = open.into_iter().map(|mut connection| {
        let request = request.clone();
        tokio::spawn(async move {
            let mut answered = 0u64;
            while began.elapsed() < span {
                connection.call(&request).await?;
                answered += 1;
            }
            anyhow::Ok(answered)
        })
    });
    let answered = try_join_all(senders).await?;
    let mut sum = 0;
    for answered in answered {
        sum += answered?;
    }
    Ok((sum, began.elapsed()))
}
