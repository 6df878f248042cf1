//! What a function knows about its run, and what it can say while it runs.

use std::sync::Arc;

use bytes::Bytes;
use mainspring_model::{AttemptToken, RunId, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, watch};

use super::handler::TaskError;

/// What a function says about its attempt.
#[derive(Debug)]
pub(super) enum Said {
    Log(String),
    Progress { permille: u32, message: String },
    Checkpoint(Bytes),
}

/// The surroundings of one attempt. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Context {
    pub(super) order: Arc<Order>,
    pub(super) cancel: watch::Receiver<bool>,
    pub(super) said: mpsc::UnboundedSender<(AttemptToken, Said)>,
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

    /// Adds a line to the run's log.
    pub fn log(&self, line: &str) {
        let line = if line.ends_with('\n') { line.to_owned() } else { format!("{line}\n") };
        self.say(Said::Log(line));
    }

    /// Says how far it is, from 0 to 1. Also proves that it lives, where the job has a heartbeat timeout.
    pub fn progress(&self, fraction: f64, message: &str) {
        let permille = (fraction.clamp(0.0, 1.0) * 1000.0).round() as u32;
        self.say(Said::Progress { permille, message: message.to_owned() });
    }

    /// What an earlier attempt kept for this one.
    pub fn checkpoint<T: DeserializeOwned>(&self) -> Option<T> {
        self.order.checkpoint.as_ref().and_then(|bytes| serde_json::from_slice(bytes).ok())
    }

    /// Keeps something for the next attempt, should this one fail or be moved; at most 256 KiB.
    pub fn keep_checkpoint(&self, value: &impl Serialize) -> Result<(), TaskError> {
        let bytes = serde_json::to_vec(value)?;
        let most = mainspring_model::limits::CHECKPOINT_BYTES_MAX;
        if bytes.len() > most {
            let message = format!("{} bytes, at most {most} are kept", bytes.len());
            return Err(TaskError::new("checkpoint_too_large", message));
        }
        self.say(Said::Checkpoint(bytes.into()));
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

    fn say(&self, said: Said) {
        // Nobody listens when the worker itself is ending.
        let _ = self.said.send((self.order.token, said));
    }
}
