//! Records: inserted under revision 1, replaced and removed by compare-and-set, kept byte for byte.

use std::sync::Arc;

use mainspring_model::{Timestamp, limits};
use mainspring_store::{Record, RecordKey, RecordKind, Store};

use crate::case::cases;
use crate::fixture::{
    APPLIED, Owner, at, commit, exists, missing, put, put_record, read_record, record, remove_record, run,
    stale,
};

cases! { "records":
    a_record_is_kept_with_every_field,
    an_absent_record_is_absent,
    a_value_may_be_empty_or_the_largest,
    a_key_may_be_any_bytes,
    a_key_may_be_the_longest,
    an_end_at_the_edges_of_time,
    an_expired_record_is_still_read,
    a_record_is_replaced_by_the_next_revision,
    an_end_comes_and_goes,
    a_key_that_exists_conflicts,
    a_missing_record_is_missing,
    another_revision_conflicts_and_names_the_row,
    a_record_is_removed_by_its_revision,
    a_removal_of_another_revision_conflicts,
    a_removed_record_may_come_again,
    kinds_are_apart,
    every_kind_comes_back,
    a_conflict_does_not_undo_the_others,
    hundreds_of_inserts_updates_and_removals,
    an_owner_puts_records_too,
}

async fn a_record_is_kept_with_every_field(store: Arc<dyn Store>) {
    let full = Record {
        kind: RecordKind(u16::MAX),
        expires_at: Some(at(7)),
        value: vec![0, 255, 10, 0].into(),
        ..record("acme/data", "")
    };
    put(&store, vec![put_record(full.clone())]).await;
    assert_eq!(store.record(full.kind, &full.key).await.unwrap(), Some(full));
}

async fn an_absent_record_is_absent(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("a", "x"))]).await;
    assert_eq!(read_record(&store, "b").await, None);
    assert_eq!(read_record(&store, "").await, None);
    assert_eq!(store.record(RecordKind(2), &"a".into()).await.unwrap(), None);
}

async fn a_value_may_be_empty_or_the_largest(store: Arc<dyn Store>) {
    let large: Vec<u8> = (0..limits::RECORD_VALUE_BYTES_MAX).map(|n| (n % 251) as u8).collect();
    let large = Record { value: large.into(), ..record("large", "") };
    put(&store, vec![put_record(record("empty", "")), put_record(large.clone())]).await;
    assert_eq!(read_record(&store, "empty").await, Some(record("empty", "")));
    assert_eq!(read_record(&store, "large").await, Some(large.clone()));
    let small = Record { revision: 2, value: [].into(), ..large };
    put(&store, vec![put_record(small.clone())]).await;
    assert_eq!(read_record(&store, "large").await, Some(small));
}

async fn a_key_may_be_any_bytes(store: Arc<dyn Store>) {
    let keys: [&[u8]; 9] =
        [b"k", b"K", b"k ", b"k\0", b"\0", b"\0\0", b"\xff", "\u{e9}".as_bytes(), "e\u{301}".as_bytes()];
    let row = |key: &[u8]| Record { key: key.into(), value: key.into(), ..record("", "") };
    put(&store, keys.map(|key| put_record(row(key))).to_vec()).await;
    for key in keys {
        assert_eq!(store.record(RecordKind(1), &key.into()).await.unwrap(), Some(row(key)));
        assert_eq!(commit(&store, vec![put_record(row(key))]).await, [exists()], "{key:?}");
    }
}

async fn a_key_may_be_the_longest(store: Arc<dyn Store>) {
    let rest = "k".repeat(limits::RECORD_KEY_BYTES_MAX - 1);
    let keys = [format!("{rest}a"), format!("{rest}b"), rest];
    put(&store, keys.iter().map(|key| put_record(record(key, key))).collect()).await;
    for key in keys {
        assert_eq!(read_record(&store, &key).await, Some(record(&key, &key)));
    }
}

async fn an_end_at_the_edges_of_time(store: Arc<dyn Store>) {
    for (key, end) in [("least", i64::MIN), ("before", -1), ("zero", 0), ("greatest", i64::MAX)] {
        let row = Record { expires_at: Some(Timestamp::from_micros(end)), ..record(key, "") };
        put(&store, vec![put_record(row.clone())]).await;
        assert_eq!(read_record(&store, key).await, Some(row));
    }
}

async fn an_expired_record_is_still_read(store: Arc<dyn Store>) {
    let old = Record { expires_at: Some(Timestamp::from_micros(1)), ..record("a", "x") };
    put(&store, vec![put_record(old.clone())]).await;
    assert_eq!(read_record(&store, "a").await, Some(old));
}

async fn a_record_is_replaced_by_the_next_revision(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("a", "x"))]).await;
    let second = Record { revision: 2, ..record("a", "y") };
    put(&store, vec![put_record(second.clone())]).await;
    assert_eq!(read_record(&store, "a").await, Some(second));
}

async fn an_end_comes_and_goes(store: Arc<dyn Store>) {
    for (revision, expires_at) in (1..).zip([None, Some(at(5)), Some(at(9)), None]) {
        let row = Record { revision, expires_at, ..record("a", "x") };
        put(&store, vec![put_record(row.clone())]).await;
        assert_eq!(read_record(&store, "a").await, Some(row));
    }
}

async fn a_key_that_exists_conflicts(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("a", "x"))]).await;
    assert_eq!(commit(&store, vec![put_record(record("a", "y"))]).await, [exists()]);
    assert_eq!(read_record(&store, "a").await, Some(record("a", "x")));
}

async fn a_missing_record_is_missing(store: Arc<dyn Store>) {
    let second = Record { revision: 2, ..record("a", "x") };
    assert_eq!(commit(&store, vec![put_record(second)]).await, [missing()]);
    assert_eq!(commit(&store, vec![remove_record("a", 1)]).await, [missing()]);
    assert_eq!(read_record(&store, "a").await, None);
}

async fn another_revision_conflicts_and_names_the_row(store: Arc<dyn Store>) {
    for revision in 1..=3 {
        put(&store, vec![put_record(Record { revision, ..record("a", "x") })]).await;
    }
    for revision in [2, 3, 5, 1 << 40] {
        let late = Record { revision, ..record("a", "late") };
        assert_eq!(commit(&store, vec![put_record(late)]).await, [stale(3)], "{revision}");
    }
    assert_eq!(read_record(&store, "a").await, Some(Record { revision: 3, ..record("a", "x") }));
}

async fn a_record_is_removed_by_its_revision(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("a", "x")), put_record(record("b", "x"))]).await;
    put(&store, vec![put_record(Record { revision: 2, ..record("a", "y") })]).await;
    put(&store, vec![remove_record("a", 2)]).await;
    assert_eq!(read_record(&store, "a").await, None);
    assert_eq!(read_record(&store, "b").await, Some(record("b", "x")));
    assert_eq!(commit(&store, vec![remove_record("a", 2)]).await, [missing()]);
}

async fn a_removal_of_another_revision_conflicts(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("a", "x"))]).await;
    put(&store, vec![put_record(Record { revision: 2, ..record("a", "y") })]).await;
    for expected in [0, 1, 3, u64::MAX] {
        assert_eq!(commit(&store, vec![remove_record("a", expected)]).await, [stale(2)], "{expected}");
    }
    assert!(read_record(&store, "a").await.is_some());
}

async fn a_removed_record_may_come_again(store: Arc<dyn Store>) {
    for value in ["x", "y"] {
        put(&store, vec![put_record(record("a", value))]).await;
        assert_eq!(read_record(&store, "a").await, Some(record("a", value)));
        put(&store, vec![remove_record("a", 1)]).await;
    }
}

async fn kinds_are_apart(store: Arc<dyn Store>) {
    let other = Record { kind: RecordKind(2), ..record("a", "of 2") };
    put(&store, vec![put_record(record("a", "of 1")), put_record(other.clone())]).await;
    put(&store, vec![remove_record("a", 1)]).await;
    assert_eq!(store.record(RecordKind(2), &"a".into()).await.unwrap(), Some(other));
}

async fn every_kind_comes_back(store: Arc<dyn Store>) {
    for kind in [0, 1, 255, 256, 32_767, 32_768, u16::MAX].map(RecordKind) {
        let row = Record { kind, ..record("a", "x") };
        put(&store, vec![put_record(row.clone())]).await;
        assert_eq!(store.record(kind, &RecordKey::from("a")).await.unwrap(), Some(row));
    }
}

async fn a_conflict_does_not_undo_the_others(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("a", "x")), put_record(record("c", "x"))]).await;
    let batch = vec![
        put_record(record("a", "y")),
        put_record(record("b", "y")),
        put_record(Record { revision: 3, ..record("c", "y") }),
        remove_record("d", 1),
        mainspring_store::Write::InsertRun(run(1)),
    ];
    assert_eq!(commit(&store, batch).await, [exists(), APPLIED, stale(1), missing(), APPLIED]);
    assert_eq!(read_record(&store, "b").await, Some(record("b", "y")));
    assert_eq!(read_record(&store, "c").await, Some(record("c", "x")));
}

async fn hundreds_of_inserts_updates_and_removals(store: Arc<dyn Store>) {
    let key = |n: u64| format!("{n:04}");
    put(&store, (0..600).map(|n| put_record(record(&key(n), "x"))).collect()).await;
    let write = |n: u64| match n % 3 {
        0 => put_record(record(&key(n + 1000), "new")),
        1 => put_record(Record { revision: 2, ..record(&key(n % 600), "y") }),
        _ => remove_record(&key(n % 600), 1),
    };
    put(&store, (400..1000).map(write).collect()).await;
    // What is not there, or not so any more, refuses exactly its own write.
    let outcomes = commit(&store, (0..400).map(write).collect()).await;
    let expected = |n: u64| match n % 3 {
        0 => APPLIED,
        1 => stale(2),
        _ => missing(),
    };
    assert_eq!(outcomes, (0..400).map(expected).collect::<Vec<_>>());
}

async fn an_owner_puts_records_too(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![put_record(record("a", "x")), put_record(record("b", "x"))]).await;
    let writes = vec![
        put_record(Record { revision: 2, ..record("a", "y") }),
        put_record(record("b", "y")),
        put_record(record("c", "y")),
        put_record(Record { revision: 7, ..record("d", "y") }),
    ];
    let batch = owner.batch(writes);
    for time in 1..=3 {
        let outcomes = store.commit(batch.clone()).await.unwrap();
        assert_eq!(outcomes, [APPLIED, exists(), APPLIED, missing()], "time {time}");
    }
    assert_eq!(read_record(&store, "a").await, Some(Record { revision: 2, ..record("a", "y") }));
}
