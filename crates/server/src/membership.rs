//! Telling the other members where this one is.
//!
//! A store that only one process can open has no other members: then it is told once, and an idle server leaves the store
//! alone.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{Member, MemberId};
use mainspring_store::Store;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::clock::Clock;

const TELL_EVERY: Duration = Duration::from_secs(60);
/// Members that were silent for so long are removed.
const FORGET_AFTER: Duration = Duration::from_secs(3_600);
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// A member that says where it is.
pub(crate) struct Membership {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) member: MemberId,
    pub(crate) url: String,
    /// Whether others can share the store.
    pub(crate) shared: bool,
}

impl Membership {
    /// Tells at once and then now and again, until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
        loop {
            let pause = match self.tell().await {
                Ok(()) if !self.shared => return,
                Ok(()) => TELL_EVERY,
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "the other members cannot be told of this one"
                    );
                    TRY_AGAIN_AFTER
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(pause) => {}
            }
        }
    }

    async fn tell(&self) -> mainspring_store::Result<()> {
        let now = self.clock.now();
        self.store
            .put_member(Member {
                id: self.member,
                address: self.url.as_str().into(),
                seen_at: now,
                load: 0,
                software: concat!("mainspring ", env!("CARGO_PKG_VERSION")).into(),
            })
            .await?;
        self.store.remove_members(now - FORGET_AFTER).await?;
        Ok(())
    }
}
