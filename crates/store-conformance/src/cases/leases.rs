//! Leases: one holder at a time, an epoch that only grows, a takeover only of what was seen to be stale.

use std::sync::Arc;

use mainspring_model::{CellId, Epoch, Lease, Timestamp};
use mainspring_store::{LeaseGrant, Store};

use crate::case::cases;
use crate::fixture::{Owner, acquire, at, member_id};

cases! { "leases":
    there_are_none_at_first,
    the_first_grant_has_epoch_one,
    a_held_lease_is_told_and_not_given,
    the_holder_may_begin_a_new_epoch,
    a_stale_lease_is_taken_by_who_watched_it,
    a_lease_that_was_renewed_since_is_held,
    a_lease_of_another_epoch_is_held,
    an_observation_serves_one_takeover,
    a_released_lease_is_free_at_once,
    a_release_keeps_the_epoch,
    the_epoch_grows_with_every_grant,
    a_grant_sets_its_own_end_even_earlier,
    a_renewal_moves_the_end,
    a_renewal_tells_the_clock,
    a_renewal_to_the_same_end_is_a_renewal,
    a_renewal_never_goes_back,
    a_renewal_by_another_member_fails,
    a_renewal_of_another_epoch_fails,
    a_renewal_of_a_released_lease_fails,
    a_renewal_of_no_lease_fails,
    a_deposed_holder_cannot_renew_or_release,
    a_release_by_another_fails,
    a_second_release_fails,
    a_release_of_no_lease_fails,
    an_observation_of_no_lease_is_granted,
    leases_are_listed_by_cell,
    cells_are_apart,
    ends_are_exact,
}

async fn there_are_none_at_first(store: Arc<dyn Store>) {
    assert_eq!(store.leases().await.unwrap(), []);
}

async fn the_first_grant_has_epoch_one(store: Arc<dyn Store>) {
    let lease = lease(0, 1, Some(3), 50);
    assert_eq!(acquire(&store, 0, 3, None, at(50)).await, LeaseGrant::Granted(lease.clone()));
    assert_eq!(store.leases().await.unwrap(), [lease]);
}

async fn a_held_lease_is_told_and_not_given(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    for end in [at(10), at(50), at(99)] {
        assert_eq!(acquire(&store, 0, 4, None, end).await, LeaseGrant::Held(lease(0, 1, Some(3), 50)));
    }
    assert_eq!(store.leases().await.unwrap(), [lease(0, 1, Some(3), 50)]);
}

async fn the_holder_may_begin_a_new_epoch(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    assert_eq!(acquire(&store, 0, 3, None, at(60)).await, LeaseGrant::Granted(lease(0, 2, Some(3), 60)));
}

async fn a_stale_lease_is_taken_by_who_watched_it(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    let answer = acquire(&store, 0, 4, Some((Epoch(1), at(50))), at(90)).await;
    assert_eq!(answer, LeaseGrant::Granted(lease(0, 2, Some(4), 90)));
    assert_eq!(store.leases().await.unwrap(), [lease(0, 2, Some(4), 90)]);
}

async fn a_lease_that_was_renewed_since_is_held(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    assert!(store.renew_lease(CellId(0), member_id(3), Epoch(1), at(51)).await.unwrap().is_some());
    let answer = acquire(&store, 0, 4, Some((Epoch(1), at(50))), at(90)).await;
    assert_eq!(answer, LeaseGrant::Held(lease(0, 1, Some(3), 51)));
}

async fn a_lease_of_another_epoch_is_held(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    acquire(&store, 0, 3, None, at(50)).await;
    for epoch in [0, 1, 3] {
        let answer = acquire(&store, 0, 4, Some((Epoch(epoch), at(50))), at(90)).await;
        assert_eq!(answer, LeaseGrant::Held(lease(0, 2, Some(3), 50)));
    }
}

async fn an_observation_serves_one_takeover(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    let seen = Some((Epoch(1), at(50)));
    assert!(matches!(acquire(&store, 0, 4, seen, at(50)).await, LeaseGrant::Granted(_)));
    assert_eq!(acquire(&store, 0, 5, seen, at(50)).await, LeaseGrant::Held(lease(0, 2, Some(4), 50)));
}

async fn a_released_lease_is_free_at_once(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    assert!(store.release_lease(CellId(0), member_id(3), Epoch(1)).await.unwrap());
    let answer = acquire(&store, 0, 4, None, at(20)).await;
    assert_eq!(answer, LeaseGrant::Granted(lease(0, 2, Some(4), 20)));
}

async fn a_release_keeps_the_epoch(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![]).await;
    assert!(store.release_lease(CellId(0), owner.member, Epoch(1)).await.unwrap());
    let expected = Lease { seq: 1, ..lease(0, 1, None, 10_000) };
    assert_eq!(store.leases().await.unwrap(), [expected]);
}

async fn the_epoch_grows_with_every_grant(store: Arc<dyn Store>) {
    for epoch in 1..=20 {
        let answer = acquire(&store, 0, epoch, None, at(50)).await;
        assert_eq!(answer, LeaseGrant::Granted(lease(0, epoch, Some(epoch), 50)));
        assert!(store.release_lease(CellId(0), member_id(epoch), Epoch(epoch)).await.unwrap());
    }
}

async fn a_grant_sets_its_own_end_even_earlier(store: Arc<dyn Store>) {
    // Ends are told by the holders' clocks; a new holder's may be behind.
    acquire(&store, 0, 3, None, at(50)).await;
    let answer = acquire(&store, 0, 4, Some((Epoch(1), at(50))), at(7)).await;
    assert_eq!(answer, LeaseGrant::Granted(lease(0, 2, Some(4), 7)));
}

async fn a_renewal_moves_the_end(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    for end in [60, 61, 1000] {
        assert!(store.renew_lease(CellId(0), member_id(3), Epoch(1), at(end)).await.unwrap().is_some());
        assert_eq!(store.leases().await.unwrap(), [lease(0, 1, Some(3), end)]);
    }
}

async fn a_renewal_tells_the_clock(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    let before = store.clock().await.unwrap();
    let told = store.renew_lease(CellId(0), member_id(3), Epoch(1), at(60)).await.unwrap().unwrap();
    assert!(before <= told && told <= store.clock().await.unwrap());
}

async fn a_renewal_to_the_same_end_is_a_renewal(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    for _ in 0..3 {
        assert!(store.renew_lease(CellId(0), member_id(3), Epoch(1), at(50)).await.unwrap().is_some());
    }
}

async fn a_renewal_never_goes_back(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    for end in [at(49), Timestamp::ZERO, Timestamp::from_micros(i64::MIN)] {
        assert!(store.renew_lease(CellId(0), member_id(3), Epoch(1), end).await.unwrap().is_some());
        assert_eq!(store.leases().await.unwrap(), [lease(0, 1, Some(3), 50)]);
    }
}

async fn a_renewal_by_another_member_fails(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    assert!(store.renew_lease(CellId(0), member_id(4), Epoch(1), at(90)).await.unwrap().is_none());
    assert_eq!(store.leases().await.unwrap(), [lease(0, 1, Some(3), 50)]);
}

async fn a_renewal_of_another_epoch_fails(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    acquire(&store, 0, 3, None, at(50)).await;
    for epoch in [1, 3, 0] {
        assert!(store.renew_lease(CellId(0), member_id(3), Epoch(epoch), at(90)).await.unwrap().is_none());
    }
    assert_eq!(store.leases().await.unwrap(), [lease(0, 2, Some(3), 50)]);
}

async fn a_renewal_of_a_released_lease_fails(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    assert!(store.release_lease(CellId(0), member_id(3), Epoch(1)).await.unwrap());
    assert!(store.renew_lease(CellId(0), member_id(3), Epoch(1), at(90)).await.unwrap().is_none());
    assert_eq!(store.leases().await.unwrap(), [lease(0, 1, None, 50)]);
}

async fn a_renewal_of_no_lease_fails(store: Arc<dyn Store>) {
    assert!(store.renew_lease(CellId(0), member_id(3), Epoch(1), at(90)).await.unwrap().is_none());
    assert_eq!(store.leases().await.unwrap(), []);
}

async fn a_deposed_holder_cannot_renew_or_release(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    acquire(&store, 0, 4, Some((Epoch(1), at(50))), at(90)).await;
    for epoch in [1, 2] {
        assert!(store.renew_lease(CellId(0), member_id(3), Epoch(epoch), at(99)).await.unwrap().is_none());
        assert!(!store.release_lease(CellId(0), member_id(3), Epoch(epoch)).await.unwrap());
    }
    assert_eq!(store.leases().await.unwrap(), [lease(0, 2, Some(4), 90)]);
}

async fn a_release_by_another_fails(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    assert!(!store.release_lease(CellId(0), member_id(4), Epoch(1)).await.unwrap());
    assert!(!store.release_lease(CellId(0), member_id(3), Epoch(2)).await.unwrap());
    assert!(!store.release_lease(CellId(1), member_id(3), Epoch(1)).await.unwrap());
    assert_eq!(store.leases().await.unwrap(), [lease(0, 1, Some(3), 50)]);
}

async fn a_second_release_fails(store: Arc<dyn Store>) {
    acquire(&store, 0, 3, None, at(50)).await;
    assert!(store.release_lease(CellId(0), member_id(3), Epoch(1)).await.unwrap());
    assert!(!store.release_lease(CellId(0), member_id(3), Epoch(1)).await.unwrap());
}

async fn a_release_of_no_lease_fails(store: Arc<dyn Store>) {
    assert!(!store.release_lease(CellId(0), member_id(3), Epoch(1)).await.unwrap());
}

async fn an_observation_of_no_lease_is_granted(store: Arc<dyn Store>) {
    let answer = acquire(&store, 0, 4, Some((Epoch(5), at(50))), at(90)).await;
    assert_eq!(answer, LeaseGrant::Granted(lease(0, 1, Some(4), 90)));
}

async fn leases_are_listed_by_cell(store: Arc<dyn Store>) {
    for cell in [300, 2, 1023, 0, 256] {
        acquire(&store, cell, 3, None, at(50)).await;
    }
    let cells: Vec<u16> = store.leases().await.unwrap().iter().map(|lease| lease.cell.0).collect();
    assert_eq!(cells, [0, 2, 256, 300, 1023]);
}

async fn cells_are_apart(store: Arc<dyn Store>) {
    acquire(&store, 1, 3, None, at(50)).await;
    acquire(&store, 2, 4, None, at(60)).await;
    acquire(&store, 2, 4, None, at(60)).await;
    assert!(store.release_lease(CellId(1), member_id(3), Epoch(1)).await.unwrap());
    assert_eq!(store.leases().await.unwrap(), [lease(1, 1, None, 50), lease(2, 2, Some(4), 60)]);
}

async fn ends_are_exact(store: Arc<dyn Store>) {
    for (cell, micros) in (0..).zip([i64::MIN, -1, 0, 1, 1_700_000_000_123_457, i64::MAX]) {
        let end = Timestamp::from_micros(micros);
        acquire(&store, cell, 3, None, end).await;
        assert_eq!(store.leases().await.unwrap().last().unwrap().expires_at, end);
        let taken = acquire(&store, cell, 4, Some((Epoch(1), end)), end).await;
        assert!(matches!(taken, LeaseGrant::Granted(_)), "{micros}");
    }
}

fn lease(cell: u16, epoch: u64, holder: Option<u64>, end: i64) -> Lease {
    Lease {
        cell: CellId(cell),
        epoch: Epoch(epoch),
        holder: holder.map(member_id),
        expires_at: at(end),
        seq: 0,
    }
}
