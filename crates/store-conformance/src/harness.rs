//! What the writer of a store provides: fresh stores, and the abilities that some cases need.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_store::Store;

/// Makes stores for cases. Cases run one after the other, but each may call a store from many tasks.
#[async_trait]
pub trait Harness: Send + Sync {
    /// A store over new data: migrated and empty.
    async fn fresh(&self) -> Arc<dyn Store>;

    /// New data that can be opened more than once; none when the store cannot.
    async fn data(&self) -> Option<Arc<dyn Data>> {
        None
    }
}

/// Data that outlive the handles on them. At first there is nothing, not even a schema.
#[async_trait]
pub trait Data: Send + Sync {
    /// A handle on the data with connections, caches and threads of its own. It does not migrate.
    async fn open(&self) -> Arc<dyn Store>;

    /// A handle whose first commit is made by the server but whose answer is lost: the connection is cut
    /// after the COMMIT was sent and before it was answered. None when this cannot be brought about.
    async fn open_cut_after_commit(&self) -> Option<Arc<dyn Store>> {
        None
    }
}
