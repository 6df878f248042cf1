//! Opening a store by URL. Built-in stores and a user's own register the same way.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::contract::Store;
use crate::error::{Error, Result};

/// Opens a store from its whole URL.
pub type Opener =
    Box<dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<Arc<dyn Store>>> + Send>> + Send + Sync>;

/// Openers by URL scheme.
#[derive(Default)]
pub struct Registry {
    openers: BTreeMap<String, Opener>,
}

impl Registry {
    /// A registry that knows no store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `opener` open URLs that begin with `scheme:`. The last one registered wins, so a user may
    /// replace a built-in store.
    pub fn register(&mut self, scheme: &str, opener: Opener) {
        self.openers.insert(scheme.to_owned(), opener);
    }

    /// The schemes that can be opened.
    pub fn schemes(&self) -> impl Iterator<Item = &str> {
        self.openers.keys().map(String::as_str)
    }

    /// Opens the store that `url` names. The password in it never reaches the error.
    pub async fn open(&self, url: &str) -> Result<Arc<dyn Store>> {
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        match self.openers.get(scheme) {
            Some(opener) => opener(url.to_owned()).await,
            None => {
                let known: Vec<&str> = self.schemes().collect();
                Err(Error::Open(format!("no store opens `{scheme}:` URLs; known are {}", known.join(", "))))
            }
        }
    }
}
