//! Limits of the listener: time, connections, streams and wrong credentials. Each is a setting of the server.

use std::time::Duration;

/// What the listener allows.
#[derive(Debug, Clone)]
pub struct ListenLimits {
    /// Connections in total. Beyond it the oldest connection that has not authenticated is closed; without one, the new
    /// connection is refused.
    pub connections_max: usize,
    /// Connections of one address (IPv6: of one /64) that have not authenticated. Beyond it the oldest of them is closed.
    pub connections_per_address_max: usize,
    /// Reverse proxies: addresses or networks. The limit per address does not apply to them, and the address of a caller
    /// behind them is taken from `X-Forwarded-For`.
    pub trusted_proxies: Vec<String>,
    /// Time for a TLS handshake, and for the header of a request.
    pub header_timeout: Duration,
    /// Time between two parts of a request's body. Before the connection has authenticated, also for the whole body.
    pub body_timeout: Duration,
    /// How long a connection without a request stays open.
    pub idle_timeout: Duration,
    /// Requests at the same time on one HTTP/2 connection.
    pub streams_max: u32,
    /// Wrong credentials of one address in a minute; after them it is answered `429` until the minute has passed.
    pub wrong_credentials_per_minute: u32,
}

impl Default for ListenLimits {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            connections_per_address_max: 256,
            trusted_proxies: Vec::new(),
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(90),
            streams_max: 256,
            wrong_credentials_per_minute: 60,
        }
    }
}

impl ListenLimits {
    /// What cannot work, in words for the person who wrote it.
    pub(crate) fn check(&self) -> Result<(), String> {
        super::peer::Proxies::new(&self.trusted_proxies).map_err(|why| format!("trusted_proxies: {why}"))?;
        let times = [
            ("header_timeout", self.header_timeout),
            ("body_timeout", self.body_timeout),
            ("idle_timeout", self.idle_timeout),
        ];
        if let Some((name, time)) = times.into_iter().find(|(_, time)| *time < Duration::from_secs(1)) {
            return Err(format!("{name}: {time:?} is too short; at least 1s"));
        }
        let counts = [
            ("connections_max", self.connections_max),
            ("connections_per_address_max", self.connections_per_address_max),
            ("streams_max", self.streams_max as usize),
            ("wrong_credentials_per_minute", self.wrong_credentials_per_minute as usize),
        ];
        match counts.into_iter().find(|(_, count)| *count == 0) {
            Some((name, _)) => Err(format!("{name}: 0 is too few; at least 1")),
            None => Ok(()),
        }
    }
}
