//! Load at a rate: each request is sent at its time, whatever became of those before it, and its latency counts from that time.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::e2e::http::{Connection, Request};

/// Connections that wait for the next request.
const CONNECTIONS: usize = 64;

/// So many requests in each second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paced {
    pub(super) per_second: u32,
    pub(super) span: Duration,
}

/// What became of a load.
pub(super) struct Answered {
    millis: Vec<f64>,
    wall: Duration,
}

impl Paced {
    /// Sends the requests in turn.
    pub(super) async fn run(&self, address: SocketAddr, requests: &[Request]) -> Result<Answered> {
        let (give_back, mut idle) = mpsc::channel(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            give_back.try_send(Connection::open(address).await?)?;
        }
        let (began, every) = (Instant::now(), Duration::from_secs(1) / self.per_second);
        let count = (self.span.as_secs_f64() * f64::from(self.per_second)) as u32;
        let mut under_way = JoinSet::new();
        for n in 0..count {
            let due = began + every * n;
            sleep_until(due).await;
            let mut connection = idle.recv().await.context("no connection is left")?;
            let (request, give_back) = (requests[n as usize % requests.len()].clone(), give_back.clone());
            under_way.spawn(async move {
                connection.call(&request).await?;
                let millis = due.elapsed().as_secs_f64() * 1e3;
                give_back.send(connection).await.context("the load is over")?;
                anyhow::Ok(millis)
            });
        }
        let mut millis = Vec::with_capacity(count as usize);
        while let Some(answered) = under_way.join_next().await {
            millis.push(answered??);
        }
        Ok(Answered { millis, wall: began.elapsed() })
    }
}

impl Answered {
    pub(super) fn p95(&self) -> f64 {
        percentile(self.millis.clone(), 0.95)
    }

    pub(super) fn p99(&self) -> f64 {
        percentile(self.millis.clone(), 0.99)
    }

    pub(super) fn rate(&self) -> f64 {
        self.millis.len() as f64 / self.wall.as_secs_f64()
    }
}

/// Milliseconds until the answer.
pub(super) async fn timed(connection: &mut Connection, request: &Request) -> Result<f64> {
    let began = Instant::now();
    connection.call(request).await?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// # Panics
/// If nothing was measured.
pub(super) fn percentile(mut millis: Vec<f64>, share: f64) -> f64 {
    millis.sort_unstable_by(f64::total_cmp);
    millis[((millis.len() as f64 * share) as usize).min(millis.len() - 1)]
}
