//! Looks at ended runs while faults go on, and remembers each as it was first seen: a terminal state never changes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::api::Api;

const LOOK_EVERY: Duration = Duration::from_millis(1_000);
const PAGE: &str = "/v1/runs?q=state:ended&limit=200";

/// What does not change any more when a run is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) state: String,
    pub(crate) attempt: u64,
    pub(crate) finished_at: String,
}

impl Ended {
    /// None while the run is not over.
    pub(crate) fn of(run: &Value) -> Option<Self> {
        let state = run["state"].as_str()?;
        let over = matches!(state, "success" | "final_failed" | "cancelled" | "skipped");
        over.then(|| Self {
            state: state.to_owned(),
            attempt: run["attempt"].as_u64().unwrap_or(0),
            finished_at: run["finished_at"].as_str().unwrap_or_default().to_owned(),
        })
    }
}

/// Looks until it is told to stop; tells every run that was seen ended.
pub(crate) fn watch(api: Arc<Api>, stop: Arc<AtomicBool>) -> thread::JoinHandle<BTreeMap<String, Ended>> {
    thread::spawn(move || {
        let mut seen = BTreeMap::new();
        for server in 0.. {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let page = api.look(server, PAGE).unwrap_or_default();
            for run in page["items"].as_array().into_iter().flatten() {
                if let (Some(id), Some(ended)) = (run["id"].as_str(), Ended::of(run)) {
                    seen.entry(id.to_owned()).or_insert(ended);
                }
            }
            thread::sleep(LOOK_EVERY);
        }
        seen
    })
}
