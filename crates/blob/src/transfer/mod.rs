//! Copies between a local path and a URL that a job names.
//!
//! A fetched file is there whole or not at all, no longer than allowed, and what its digest says. An address that strangers
//! may not reach is not reached, however many redirections or names lie before it, nor a path by whatever links, nor a bucket
//! that nobody listed.

mod fetch;
pub(crate) mod guarded;
mod store;

pub use fetch::save;

use std::sync::Arc;

use mainspring_model::spec::Digest;
use reqwest::Client;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::buckets::Buckets;
use crate::error::Error;
use crate::location::{self, Credentials};
use crate::networks::Networks;
use crate::places::Places;

/// What a fetched file must be.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// No longer than this.
    pub bytes_max: u64,
    /// This content.
    pub digest: Option<Digest>,
}

/// A client that is made when it is needed: most nodes never copy anything, and all the certificates of the machine are in it.
type Made = Arc<OnceCell<Client>>;
type Make = fn(&Networks) -> Result<Client, Error>;

/// Copies files for jobs.
#[derive(Debug, Clone)]
pub struct Transfers {
    networks: Networks,
    places: Places,
    buckets: Buckets,
    client: Made,
    uploads: Made,
    credentials: Option<Credentials>,
}

impl Transfers {
    /// With these addresses allowed beside the public ones, these directories for `file:`, and these buckets for `s3:`.
    pub fn new(networks: Networks, places: Places, buckets: Buckets) -> Self {
        let (client, uploads) = Default::default();
        Self { networks, places, buckets, client, uploads, credentials: None }
    }

    /// With these credentials for buckets instead of those of the environment.
    pub fn with_credentials(self, credentials: Credentials) -> Self {
        Self { credentials: Some(credentials), ..self }
    }

    /// Whether a text is a URL that can be copied from or to; anything else is a path.
    pub fn is_url(text: &str) -> bool {
        ["file:", "http:", "https:", "s3:"].iter().any(|scheme| text.starts_with(scheme))
    }

    async fn client(&self) -> Result<&Client, Error> {
        self.made(&self.client, guarded::client).await
    }

    async fn upload_client(&self) -> Result<&Client, Error> {
        self.made(&self.uploads, guarded::upload_client).await
    }

    /// Reading the certificates takes a while, which nobody else waits for.
    async fn made<'a>(&self, place: &'a OnceCell<Client>, make: Make) -> Result<&'a Client, Error> {
        let make = || async {
            let networks = self.networks.clone();
            let made = spawn_blocking(move || make(&networks)).await;
            made.map_err(|lost| Error::Client(lost.to_string()))?
        };
        place.get_or_try_init(make).await
    }

    /// A bucket and the key in it.
    async fn bucket(&self, url: &reqwest::Url) -> Result<(opendal::Operator, String), Error> {
        let key = url.path().trim_start_matches('/').to_owned();
        if key.is_empty() {
            return Err(Error::url(url.as_str(), "it names a bucket, not a file in it"));
        }
        let url = &self.buckets.find(url)?;
        let transport = guarded::transport(&self.networks, self.client().await?.clone());
        Ok((location::bucket(url, "/", self.credentials.as_ref(), transport)?, key))
    }
}
