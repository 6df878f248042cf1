//! Setting a worker up.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use super::error::Error;
use super::handler::{Handler, TaskError, erase};
use super::identity::Identity;
use super::node::Node;

/// Functions of this process as the bodies of jobs. See the [module](super) for an example.
pub struct Worker {
    pub(super) servers: Vec<String>,
    pub(super) identity_file: PathBuf,
    pub(super) join_token: Option<String>,
    pub(super) ca_pem: Option<Vec<u8>>,
    pub(super) name: Option<String>,
    pub(super) pool: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) slots: u32,
    pub(super) patience: Duration,
    pub(super) handlers: BTreeMap<String, Handler>,
}

impl std::fmt::Debug for Worker {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let handlers: Vec<&String> = self.handlers.keys().collect();
        f.debug_struct("Worker")
            .field("servers", &self.servers)
            .field("handlers", &handlers)
            .finish_non_exhaustive()
    }
}

impl Worker {
    /// A worker that dials this server and keeps its identity in this file, which no other worker may use.
    pub fn new(server: impl Into<String>, identity_file: impl Into<PathBuf>) -> Self {
        Self {
            servers: vec![server.into()],
            identity_file: identity_file.into(),
            join_token: None,
            ca_pem: None,
            name: None,
            pool: "default".to_owned(),
            labels: BTreeMap::new(),
            slots: 8,
            patience: Duration::from_secs(30),
            handlers: BTreeMap::new(),
        }
    }

    /// Another server to try.
    pub fn server(mut self, server: impl Into<String>) -> Self {
        self.servers.push(server.into());
        self
    }

    /// The single-use token with which it joins; needed the first time only.
    pub fn join_token(mut self, token: Option<String>) -> Self {
        self.join_token = token;
        self
    }

    /// Certificates to trust, in PEM, instead of the public ones.
    pub fn ca_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca_pem = Some(pem.into());
        self
    }

    /// The node's name; without one, made from the node's id.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The pool that it joins; `default` unless told.
    pub fn pool(mut self, pool: impl Into<String>) -> Self {
        self.pool = pool.into();
        self
    }

    /// A fact that placement selects by.
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// How many attempts it executes at once; 8 unless told.
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = slots;
        self
    }

    /// How long attempts may go on after it was asked to stop; 30 seconds unless told.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Registers a function under the name that job files use. Its input is read from the run's parameters, its output is
    /// the run's result; both are JSON.
    pub fn handler<F, I, O, R>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(Context, I) -> R + Send + Sync + 'static,
        I: DeserializeOwned,
        O: Serialize,
        R: Future<Output = Result<O, TaskError>> + Send + 'static,
    {
        self.handlers.insert(name.into(), erase(function));
        self
    }

    /// Works until `shutdown` comes true; then takes nothing new, lets what runs finish, and leaves. Returns an error only for
    /// what trying again does not help.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) -> Result<(), Error> {
        if self.handlers.is_empty() || self.handlers.len() > mainspring_model::limits::HANDLERS_MAX {
            return Err(Error::Setup(format!(
                "a worker has {} functions; register 1 to 1024",
                self.handlers.len()
            )));
        }
        if self.slots == 0 {
            return Err(Error::Setup("a worker without slots gets no work".into()));
        }
        let identity = Identity::open(&self.identity_file)?;
        if identity.credential().is_none() && self.join_token.is_none() {
            return Err(Error::NotJoined);
        }
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        }
        Node::new(self, identity).run(shutdown).await
    }
}
