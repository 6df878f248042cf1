//! The other processes that own cells, and where they are reached: for what is asked of all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mainspring_model::{Lease, Member, MemberId};
use mainspring_store::Store;
use tokio::sync::{Mutex, watch};
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

/// What the store said, and when it was last asked. When it says nothing, what it said before is kept.
#[derive(Debug, Default)]
struct Fresh<T>(Mutex<(Option<Instant>, T)>);

impl<T: Clone> Fresh<T> {
    /// Whoever asks while the store is being read waits for that.
    async fn get<E: std::fmt::Display>(&self, read: impl Future<Output = Result<T, E>>) -> T {
        let mut kept = self.0.lock().await;
        if kept.0.is_none_or(|at| at.elapsed() >= FRESH) {
            match read.await {
                Ok(now) => kept.1 = now,
                Err(error) => warn!(%error, "who owns the cells cannot be read"),
            }
            kept.0 = Some(Instant::now());
        }
        kept.1.clone()
    }
}

/// Those who own cells.
struct Owners {
    /// Where they are reached.
    addresses: Vec<String>,
    /// Whether that is all of them: a new member may have a cell before what we know of members is read again.
    is_all: bool,
}

impl Others {
    /// Where those are who own cells now. A process that owns all is asked nothing.
    pub(crate) async fn owners(&self, me: MemberId, seats: &[SeatHandle], store: &dyn Store) -> Vec<String> {
        self.look(me, seats, store).await.addresses
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
            let owners = self.look(me, seats, store).await;
            if owners.addresses != known {
                return owners.addresses;
            }
            let changes = standings.iter_mut().map(|standing| {
                Box::pin(async {
                    if standing.changed().await.is_err() {
                        std::future::pending::<()>().await;
                    }
                })
            });
            // Without seats nobody tells; with them, an owner may have come back at another address.
            let patience = if seats.is_empty() || !owners.is_all { FRESH } else { LOOK_AGAIN };
            drop(timeout(patience, any(changes.collect())).await);
        }
    }

    async fn look(&self, me: MemberId, seats: &[SeatHandle], store: &dyn Store) -> Owners {
        let mut owners: BTreeSet<MemberId> = match seats {
            [] => self.holders.get(async { store.leases().await.map(holders) }).await,
            seats => seats.iter().filter_map(followed).collect(),
        };
        owners.remove(&me);
        if owners.is_empty() {
            return Owners { addresses: Vec::new(), is_all: true };
        }
        // A member that comes back may be somewhere else.
        let members = self.addresses.get(async { store.members().await.map(addresses) }).await;
        let addresses: Vec<_> = owners.iter().filter_map(|owner| members.get(owner).cloned()).collect();
        let is_all = addresses.len() == owners.len();
        Owners { addresses, is_all }
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn the_store_is_not_asked_again_at_once_whatever_it_said() {
        let (known, asked) = (Fresh::default(), &Cell::new(0));
        let read = |answer: Result<u32, &'static str>| {
            known.get(async move {
                asked.set(asked.get() + 1);
                answer
            })
        };
        assert_eq!(read(Err("away")).await, 0);
        assert_eq!((read(Ok(7)).await, asked.get()), (0, 1), "it was away a moment ago");
        known.0.lock().await.0 = Instant::now().checked_sub(FRESH);
        assert_eq!((read(Ok(7)).await, asked.get()), (7, 2));
        known.0.lock().await.0 = Instant::now().checked_sub(FRESH);
        assert_eq!((read(Err("away")).await, asked.get()), (7, 3), "what it said before is kept");
    }
}
