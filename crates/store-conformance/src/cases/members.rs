//! Members: each says that it lives; those not seen for long are removed.

use std::sync::Arc;

use mainspring_model::{Member, Timestamp};
use mainspring_store::Store;

use crate::case::cases;
use crate::fixture::{at, at_micros, member_id};

cases! { "members":
    there_are_none_at_first,
    a_member_is_kept_with_every_field,
    members_are_listed_by_id,
    a_member_replaces_itself,
    the_same_member_again_is_kept_once,
    those_not_seen_since_are_removed,
    the_bound_itself_stays,
    nobody_to_remove,
    a_removed_member_may_return,
}

async fn there_are_none_at_first(store: Arc<dyn Store>) {
    assert_eq!(store.members().await.unwrap(), []);
}

async fn a_member_is_kept_with_every_field(store: Arc<dyn Store>) {
    let full = Member {
        id: member_id(1),
        address: "https://[::1]:7700/\0é 数据".into(),
        seen_at: at_micros(7),
        load: 1 << 60,
        software: "1.2.3-rc.1+build é".into(),
    };
    store.put_member(full.clone()).await.unwrap();
    assert_eq!(store.members().await.unwrap(), [full]);
}

async fn members_are_listed_by_id(store: Arc<dyn Store>) {
    for n in [3, 300, 1, 2] {
        store.put_member(member(n, 1)).await.unwrap();
    }
    assert_eq!(store.members().await.unwrap(), [member(1, 1), member(2, 1), member(3, 1), member(300, 1)]);
}

async fn a_member_replaces_itself(store: Arc<dyn Store>) {
    store.put_member(member(1, 1)).await.unwrap();
    let changed = Member { address: "elsewhere".into(), load: 9, software: "2".into(), ..member(1, 5) };
    store.put_member(changed.clone()).await.unwrap();
    assert_eq!(store.members().await.unwrap(), [changed]);
}

async fn the_same_member_again_is_kept_once(store: Arc<dyn Store>) {
    for _ in 0..3 {
        store.put_member(member(1, 1)).await.unwrap();
    }
    assert_eq!(store.members().await.unwrap(), [member(1, 1)]);
}

async fn those_not_seen_since_are_removed(store: Arc<dyn Store>) {
    for n in 1..=5 {
        store.put_member(member(n, n as i64)).await.unwrap();
    }
    assert_eq!(store.remove_members(at(4)).await.unwrap(), 3);
    assert_eq!(store.members().await.unwrap(), [member(4, 4), member(5, 5)]);
}

async fn the_bound_itself_stays(store: Arc<dyn Store>) {
    store.put_member(member(1, 4)).await.unwrap();
    assert_eq!(store.remove_members(at(4)).await.unwrap(), 0);
    assert_eq!(store.remove_members(at_micros(4001)).await.unwrap(), 1);
}

async fn nobody_to_remove(store: Arc<dyn Store>) {
    assert_eq!(store.remove_members(Timestamp::MAX).await.unwrap(), 0);
    store.put_member(member(1, 4)).await.unwrap();
    assert_eq!(store.remove_members(Timestamp::from_micros(i64::MIN)).await.unwrap(), 0);
}

async fn a_removed_member_may_return(store: Arc<dyn Store>) {
    store.put_member(member(1, 1)).await.unwrap();
    store.remove_members(at(2)).await.unwrap();
    store.put_member(member(1, 3)).await.unwrap();
    assert_eq!(store.members().await.unwrap(), [member(1, 3)]);
}

fn member(n: u64, seen: i64) -> Member {
    Member {
        id: member_id(n),
        address: format!("10.0.0.{n}:7700").into(),
        seen_at: at(seen),
        load: n,
        software: "1.0.0".into(),
    }
}
