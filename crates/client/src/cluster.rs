//! The cluster as a whole: its schedulers, its health, its numbers.

use mainspring_wire::api::{Cluster, Doctor, PauseCell, Queue, Readiness, Settings, StatsReport, Time};

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;

impl Client {
    /// The schedulers and the cells.
    pub async fn cluster(&self) -> Result<Cluster, Error> {
        self.ask(Call::get(&["v1", "cluster"])).await
    }

    /// The settings in force of the server that answers.
    pub async fn settings(&self) -> Result<Settings, Error> {
        self.ask(Call::get(&["v1", "settings"])).await
    }

    /// What is wrong or odd, and what to do about it.
    pub async fn doctor(&self) -> Result<Doctor, Error> {
        self.ask(Call::get(&["v1", "doctor"])).await
    }

    /// How many runs ended how, hour by hour.
    pub async fn stats(
        &self,
        namespace: Option<&str>,
        from: Option<Time>,
        until: Option<Time>,
    ) -> Result<StatsReport, Error> {
        let call = Call::get(&["v1", "stats"]).maybe("namespace", namespace);
        self.ask(call.maybe("from", from).maybe("until", until)).await
    }

    /// What waits in a namespace and below, by job, pool and reason; without one, everywhere that the caller may look.
    pub async fn queue(&self, namespace: Option<&str>) -> Result<Queue, Error> {
        self.ask(Call::get(&["v1", "queue"]).maybe("namespace", namespace)).await
    }

    /// Whether the server takes requests. Needs no token.
    pub async fn readiness(&self) -> Result<Readiness, Error> {
        let (status, body) = self.look(Call::get(&["readyz"])).await?;
        serde_json::from_slice(&body).map_err(|_| Error::from_answer(status, &body))
    }

    /// Starts nothing in a cell until it is resumed.
    pub async fn pause_cell(&self, cell: u16, note: &str) -> Result<(), Error> {
        let call = Call::post_repeatable(&["v1", "cells", &cell.to_string(), "pause"]);
        self.tell(call.json(&PauseCell { note: note.to_owned() })?).await
    }

    /// Starts runs in a cell again.
    pub async fn resume_cell(&self, cell: u16, note: &str) -> Result<(), Error> {
        let call = Call::post_repeatable(&["v1", "cells", &cell.to_string(), "resume"]);
        self.tell(call.json(&PauseCell { note: note.to_owned() })?).await
    }
}
