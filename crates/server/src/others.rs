//! The other processes that own cells, and where they are reached: for what is asked of all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mainspring_model::{Lease, Member, MemberId};
use mainspring_store::Store;
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::warn;

use crate::seat::{SeatHandle, Standing};

/// For so long what the store said is not asked again, whoever wants to know.
const FRESH: Duration = Duration::from_secs(2);

/// How often to look although nothing was told.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// What is known of the others.
#[derive(Debug, Default)]
pub(crate) struct Others {
    addresses: Fresh<BTreeMap<MemberId, String>>,
    holders: Fresh<BTreeSet<MemberId>>,
}

/// What the store said, and when. When it says nothing, what it said last is kept.
#[derive(Debug, Default)]
struct Fresh<T>(Mutex<(Option<Instant>, T)>);

impl<T: Clone> Fresh<T> {
    async fn get<E: std::fmt::Display>(&self, read: impl Future<Output = Result<T, E>>) -> T {
        let known = {
            let (at, known) = &*self.lock();
            if at.is_some_and(|at| at.elapsed() < FRESH) {
                return known.clone();
            }
            known.clone()
        };
        match read.await {
            Ok(now) => {
                *self.lock() = (Some(Instant::now()), now.clone());
                now
            }
            Err(error) => {
                warn!(%error, "who owns the cells cannot be read");
                known
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, (Option<Instant>, T)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Others {
    /// Where those are who own cells now. A process that owns all is asked nothing.
    pub(crate) async fn owners(&self, me: MemberId, seats: &[SeatHandle], store: &dyn Store) -> Vec<String> {
        let mut owners: BTreeSet<MemberId> = match seats {
            [] => self.holders.get(async { store.leases().await.map(holders) }).await,
            seats => seats.iter().filter_map(followed).collect(),
        };
        owners.remove(&me);
        if owners.is_empty() {
            return Vec::new();
        }
        // A member that comes back may be somewhere else.
        let addresses = self.addresses.get(async { store.members().await.map(addresses) }).await;
        owners.iter().filter_map(|owner| addresses.get(owner).cloned()).collect()
    }

    /// The same, as soon as they are others than these.
    pub(crate) async fn owners_other_than(
        &self,
        known: &[String],
        me: MemberId,
        seats: &[SeatHandle],
        store: &dyn Store,
    ) -> Vec<String> {
        loop {
            let mut standings: Vec<_> = seats.iter().map(|seat| seat.standing.clone()).collect();
            // First, so that nothing falls between looking and waiting.
            standings.iter_mut().for_each(watch::Receiver::mark_unchanged);
            let owners = self.owners(me, seats, store).await;
            if owners != known {
                return owners;
            }
            let changes = standings.iter_mut().map(|standing| {
                Box::pin(async {
                    if standing.changed().await.is_err() {
                        std::future::pending::<()>().await;
                    }
                })
            });
            // Without seats nobody tells; with them, an owner may have come back at another address.
            let patience = if seats.is_empty() { FRESH } else { LOOK_AGAIN };
            drop(timeout(patience, any(changes.collect())).await);
        }
    }
}

/// The first of these; none of none.
async fn any<F: Future<Output = ()> + Unpin>(futures: Vec<F>) {
    if futures.is_empty() {
        std::future::pending::<()>().await;
    }
    futures_util::future::select_all(futures).await;
}

fn holders(leases: Vec<Lease>) -> BTreeSet<MemberId> {
    leases.into_iter().filter_map(|lease| lease.holder).collect()
}

fn addresses(members: Vec<Member>) -> BTreeMap<MemberId, String> {
    members.into_iter().map(|member| (member.id, member.address.into())).collect()
}

fn followed(seat: &SeatHandle) -> Option<MemberId> {
    match *seat.standing.borrow() {
        Standing::Follows(owner) => Some(owner),
        Standing::Owns | Standing::Unknown => None,
    }
}
