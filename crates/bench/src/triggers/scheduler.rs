//! The real binary as a server without nodes: runs that are made wait.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use mainspring_client::Client;
use mainspring_model::Timestamp;
use mainspring_store::{Registry, Store};

use super::jobs;
use crate::e2e::ground::{Folder, free_address, token, until_open};
use crate::e2e::usage::{self, Memory};
use crate::store::databases::Databases;

/// A running server.
pub(super) struct Scheduler {
    process: Child,
    /// When it was started.
    pub(super) started_at: Timestamp,
    address: SocketAddr,
    /// Last, so that the process is reaped before it goes.
    folder: Folder,
}

impl Scheduler {
    /// Starts it; it may take a while until it does anything.
    pub(super) fn start(binary: &Path, databases: &Databases) -> Result<Self> {
        let folder = Folder::new()?;
        let address = free_address()?;
        let started_at = jobs::now();
        let process = folder.start(binary, "server.log", |command| {
            command.args(["server", "--store", &databases.ours, "--listen", &address.to_string(), "--data"]);
            command.arg(folder.path("server"));
        })?;
        Ok(Self { process, started_at, address, folder })
    }

    pub(super) async fn until_open(&self) -> Result<()> {
        until_open(self.address).await.map(drop)
    }

    /// A client that may do everything.
    pub(super) async fn client(&self) -> Result<Client> {
        let token = token(&self.folder.path("server").join("token")).await?;
        Ok(Client::builder(format!("http://{}", self.address)).token(token).build()?)
    }

    pub(super) fn cpu(&self) -> Result<Duration> {
        usage::of_process(self.process.id())
    }

    pub(super) fn memory(&self) -> Result<Memory> {
        Memory::of(self.process.id())
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The store of the server, seen from beside it.
pub(super) async fn open_store(databases: &Databases) -> Result<Arc<dyn Store>> {
    let mut registry = Registry::new();
    mainspring_store_sql::register(&mut registry);
    let store = registry.open(&databases.ours).await?;
    store.migrate().await?;
    Ok(store)
}
