//! The API of the cluster as a client with two addresses sees it: a request goes to one server, and on an unknown outcome
//! to the other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::http::{self, Answer, Request};

/// How long an answer is waited for under faults.
const ANSWER_LIMIT: Duration = Duration::from_secs(3);
/// The same when everything is well again; lists and logs are long.
const PATIENT_LIMIT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(150);
/// A guard against a hang: every server is back long before.
const HANG_LIMIT: Duration = Duration::from_secs(600);
const PAGE: usize = 1_000;

/// Both servers.
pub(crate) struct Api {
    ports: Vec<u16>,
    token: Mutex<String>,
    turn: AtomicUsize,
    /// Requests whose outcome was unknown.
    pub(crate) unknown: AtomicUsize,
}

impl Api {
    pub(crate) fn new(ports: &[u16]) -> Self {
        let (token, turn, unknown) = Default::default();
        Self { ports: ports.to_vec(), token, turn, unknown }
    }

    pub(crate) fn sign_in(&self, token: &str) {
        *self.token.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = token.to_owned();
    }

    fn send(&self, server: usize, request: &Request<'_>, limit: Duration) -> Result<Answer> {
        let token = self.token.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        http::send(self.ports[server % self.ports.len()], &token, request, limit)
    }

    /// One look at one server, without a second try.
    pub(crate) fn look(&self, server: usize, path: &str) -> Result<Value> {
        let answer = self.send(server, &Request::get(path), ANSWER_LIMIT)?;
        if !answer.is_success() {
            bail!("{path}: {} {}", answer.status, answer.body);
        }
        Ok(answer.json())
    }

    /// Sends a request, first to this server, until it is answered by other than a server's trouble.
    pub(crate) fn until_answered(&self, mut server: usize, request: &Request<'_>) -> Result<Answer> {
        let begun = Instant::now();
        loop {
            let why = match self.send(server, request, ANSWER_LIMIT) {
                Ok(answer) if answer.status < 500 && answer.status != 429 => return Ok(answer),
                Ok(answer) => format!("{} {}", answer.status, answer.body),
                Err(error) => format!("{error:#}"),
            };
            self.unknown.fetch_add(1, Ordering::Relaxed);
            if begun.elapsed() > HANG_LIMIT {
                let seconds = HANG_LIMIT.as_secs();
                bail!("{} {} was not answered within {seconds} s: {why}", request.method, request.path);
            }
            thread::sleep(PAUSE);
            server += 1;
        }
    }

    /// What is there now that the cluster is well: a read that must work.
    pub(crate) fn read(&self, request: &Request<'_>) -> Result<Answer> {
        let begun = Instant::now();
        loop {
            let server = self.turn.fetch_add(1, Ordering::Relaxed);
            let why = match self.send(server, request, PATIENT_LIMIT) {
                Ok(answer) if answer.is_success() => return Ok(answer),
                Ok(answer) if answer.status < 500 => {
                    bail!("{}: {} {}", request.path, answer.status, answer.body)
                }
                Ok(answer) => format!("{} {}", answer.status, answer.body),
                Err(error) => format!("{error:#}"),
            };
            if begun.elapsed() > HANG_LIMIT {
                bail!("{} was not answered within {} s: {why}", request.path, HANG_LIMIT.as_secs());
            }
            thread::sleep(PAUSE);
        }
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        Ok(self.read(&Request::get(path))?.json())
    }

    /// Every item of a list.
    pub(crate) fn list(&self, path: &str) -> Result<Vec<Value>> {
        let (mut items, mut cursor) = (Vec::new(), None);
        loop {
            let sign = if path.contains('?') { '&' } else { '?' };
            let mut page = format!("{path}{sign}limit={PAGE}");
            if let Some(cursor) = &cursor {
                page.push_str(&format!("&cursor={cursor}"));
            }
            let answer = self.get(&page)?;
            items.extend(answer["items"].as_array().context("a list has items")?.iter().cloned());
            match answer["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return Ok(items),
            }
        }
    }
}
