//! Content that has come and is not kept yet. It lies under a name of its own, and goes when nobody keeps it: when its sender
//! hangs up in the middle, too.

use std::time::Duration;

use crate::blobs::Blobs;
use crate::digest::Content;
use crate::error::Error;
use crate::key::content_key;

/// Where it lies.
pub(crate) const INCOMING: &str = "incoming";

/// All of it has come.
#[derive(Debug)]
pub struct Incoming {
    pub(crate) passing: Passing,
    pub(crate) content: Content,
}

impl Incoming {
    /// What it is.
    pub fn content(&self) -> Content {
        self.content
    }

    /// Keeps it under its digest; what is there already stays.
    pub async fn keep(self) -> Result<(), Error> {
        let Self { passing, content } = self;
        let key = content_key(&content.digest);
        if passing.blobs.size(&key).await? == Some(content.size) {
            return passing.remove().await;
        }
        passing.blobs.move_to(&passing.key, &key).await?;
        passing.forget();
        Ok(())
    }
}

/// A name that is removed when nobody needs it any more.
#[derive(Debug)]
pub(crate) struct Passing {
    blobs: Blobs,
    /// Empty when there is nothing to remove.
    pub(crate) key: String,
}

impl Passing {
    pub(crate) fn new(blobs: Blobs) -> Self {
        Self { blobs, key: format!("{INCOMING}/{}", uuid::Uuid::now_v7().simple()) }
    }

    /// Removes it now.
    pub(crate) async fn remove(self) -> Result<(), Error> {
        self.blobs.remove(&self.key).await?;
        self.forget();
        Ok(())
    }

    /// There is nothing left under the name.
    fn forget(mut self) {
        self.key.clear();
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        if self.key.is_empty() {
            return;
        }
        // Without a runtime the process ends, and the next one tidies up.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (blobs, key) = (self.blobs.clone(), std::mem::take(&mut self.key));
        runtime.spawn(async move { blobs.remove(&key).await });
    }
}

/// When something began to come, since 1970; its name says so.
pub(crate) fn begun_at(key: &str) -> Option<Duration> {
    let name = key.rsplit('/').next()?;
    let (seconds, nanos) = uuid::Uuid::parse_str(name).ok()?.get_timestamp()?.to_unix();
    Some(Duration::new(seconds, nanos))
}
