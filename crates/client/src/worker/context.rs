//! What a function knows about its run, and what it can say while it runs.

use std::sync::Arc;

use bytes::Bytes;
use mainspring_model::{AttemptToken, RunId, Timestamp};
use mainspring_wire::agent::Progress;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::handler::TaskError;
use super::identity::wall_clock;
use super::voice::Voice;
use super::words;

/// The surroundings of one attempt. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Context {
    pub(super) order: Arc<Order>,
    pub(super) cancel: watch::Receiver<bool>,
    pub(super) voice: Arc<Voice>,
}

/// What was ordered.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) token: AttemptToken,
    pub(super) namespace: String,
    pub(super) params: Bytes,
    pub(super) checkpoint: Option<Bytes>,
    pub(super) attempts_max: u32,
    pub(super) deadline: Option<Timestamp>,
}

impl Context {
    /// The run.
    pub fn run(&self) -> RunId {
        self.order.token.run
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.order.token.number
    }

    /// How many attempts there may be.
    pub fn attempts_max(&self) -> u32 {
        self.order.attempts_max
    }

    /// Where the run belongs.
    pub fn namespace(&self) -> &str {
        &self.order.namespace
    }

    /// When the run is given up, if it has such a moment.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.order.deadline
    }

    /// The run's parameters, read as a type of yours.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, TaskError> {
        let params: &[u8] = if self.order.params.is_empty() { b"{}" } else { &self.order.params };
        serde_json::from_slice(params).map_err(|error| TaskError::new("invalid_input", error.to_string()))
    }

    /// Adds a line to the run's log. The log of an attempt has 4 MiB; what comes after is counted, and the log says how much.
    pub fn log(&self, line: &str) {
        if line.ends_with('\n') {
            self.voice.log(wall_clock(), line);
        } else {
            self.voice.log(wall_clock(), &format!("{line}\n"));
        }
    }

    /// Says how far it is, from 0 to 1. Also proves that it lives, where the job has a heartbeat timeout. The last one counts.
    pub fn progress(&self, fraction: f64, message: &str) {
        let permille = (fraction.clamp(0.0, 1.0) * 1000.0).round() as u32;
        self.voice.progress(Progress { permille, message: words::short(message.to_owned()) });
    }

    /// What an earlier attempt kept for this one.
    pub fn checkpoint<T: DeserializeOwned>(&self) -> Option<T> {
        self.order.checkpoint.as_ref().and_then(|bytes| serde_json::from_slice(bytes).ok())
    }

    /// Keeps something for the next attempt, should this one fail or be moved; at most 256 KiB. The last one counts, and is said
    /// again on every connection until the attempt is over: a server that is away for a while gets it.
    pub fn keep_checkpoint(&self, value: &impl Serialize) -> Result<(), TaskError> {
        let bytes = serde_json::to_vec(value)?;
        let most = mainspring_model::limits::CHECKPOINT_BYTES_MAX;
        if bytes.len() > most {
            let message = format!("{} bytes, at most {most} are kept", bytes.len());
            return Err(TaskError::new("checkpoint_too_large", message));
        }
        self.voice.checkpoint(bytes.into());
        Ok(())
    }

    /// Whether somebody wants it to end.
    pub fn is_cancelled(&self) -> bool {
        *self.cancel.borrow()
    }

    /// Returns when somebody wants it to end. Tidy up and return; soon after, the function is dropped.
    pub async fn cancelled(&self) {
        let mut cancel = self.cancel.clone();
        if cancel.wait_for(|cancelled| *cancelled).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
