//! Pages of records: by key upwards or downwards, by prefix, and gone by expiry or by range.

use std::sync::Arc;

use mainspring_model::Timestamp;
use mainspring_store::{Page, Record, RecordKind, RecordQuery, RecordRetention, Store};

use crate::case::cases;
use crate::fixture::{at, commit, put, put_record, record, stale};

cases! { "record_pages":
    keys_come_byte_by_byte,
    keys_come_downwards_too,
    records_come_whole,
    a_cursor_goes_on,
    a_cursor_need_not_exist,
    more_is_said_exactly,
    a_prefix_holds_what_begins_with_it,
    a_prefix_is_no_pattern,
    a_prefix_of_the_greatest_bytes,
    a_prefix_and_a_cursor_hold_together,
    a_page_has_one_kind,
    a_walk_sees_every_record_once,
    what_is_expired_goes,
    the_earliest_expired_go_first,
    an_end_that_was_moved_is_kept,
    a_range_of_keys_goes,
    the_smallest_keys_go_first,
    retention_by_thousands,
}

async fn keys_come_byte_by_byte(store: Arc<dyn Store>) {
    let keys: [&[u8]; 7] = [b"\0", b"\0\0", b"K", b"k", b"k\0", b"k ", b"\xff"];
    let mut mixed = keys;
    mixed.reverse();
    put(&store, mixed.map(|key| put_record(Record { key: key.into(), ..record("", "") })).to_vec()).await;
    let page = store.records(RecordQuery::all(RecordKind(1), 10)).await.unwrap();
    assert_eq!(page.rows.iter().map(|row| row.key.as_bytes()).collect::<Vec<_>>(), keys);
}

async fn keys_come_downwards_too(store: Arc<dyn Store>) {
    fill(&store, &["b", "a", "c"]).await;
    assert_eq!(page(&store, |_| {}).await, (words("a b c"), false));
    assert_eq!(page(&store, |query| query.reverse = true).await, (words("c b a"), false));
}

async fn records_come_whole(store: Arc<dyn Store>) {
    let row = Record { revision: 1, expires_at: Some(at(3)), ..record("a", "words") };
    put(&store, vec![put_record(row.clone()), put_record(record("b", ""))]).await;
    let page = store.records(RecordQuery::all(RecordKind(1), 10)).await.unwrap();
    assert_eq!(page, Page { rows: vec![row, record("b", "")], more: false });
}

async fn a_cursor_goes_on(store: Arc<dyn Store>) {
    fill(&store, &["a", "b", "c", "d"]).await;
    assert_eq!(page(&store, |query| query.after = Some("b".into())).await, (words("c d"), false));
    assert_eq!(page(&store, |query| query.after = Some("d".into())).await, (vec![], false));
    let down = |query: &mut RecordQuery| (query.after, query.reverse) = (Some("c".into()), true);
    assert_eq!(page(&store, down).await, (words("b a"), false));
}

async fn a_cursor_need_not_exist(store: Arc<dyn Store>) {
    fill(&store, &["a", "c", "e"]).await;
    assert_eq!(page(&store, |query| query.after = Some("b".into())).await, (words("c e"), false));
    assert_eq!(page(&store, |query| query.after = Some("".into())).await, (words("a c e"), false));
    let down = |query: &mut RecordQuery| (query.after, query.reverse) = (Some("d".into()), true);
    assert_eq!(page(&store, down).await, (words("c a"), false));
    let least = |query: &mut RecordQuery| (query.after, query.reverse) = (Some("".into()), true);
    assert_eq!(page(&store, least).await, (vec![], false));
}

async fn more_is_said_exactly(store: Arc<dyn Store>) {
    fill(&store, &["a", "b", "c"]).await;
    for reverse in [false, true] {
        for (limit, more) in [(0, true), (2, true), (3, false), (4, false)] {
            let (rows, said) = page(&store, |query| (query.limit, query.reverse) = (limit, reverse)).await;
            assert_eq!((rows.len(), said), (limit.min(3), more), "{limit} {reverse}");
        }
    }
}

async fn a_prefix_holds_what_begins_with_it(store: Arc<dyn Store>) {
    fill(&store, &["a", "a/", "a/1", "a/2", "a0", "b", "A/1"]).await;
    for (prefix, found) in [
        ("a/", "a/ a/1 a/2"),
        ("a", "a a/ a/1 a/2 a0"),
        ("a/1", "a/1"),
        ("a/1/", ""),
        ("", "A/1 a a/ a/1 a/2 a0 b"),
    ] {
        let up = page(&store, |query| query.prefix = prefix.as_bytes().into()).await;
        assert_eq!(up, (words(found), false), "{prefix}");
        let down = |query: &mut RecordQuery| (query.prefix, query.reverse) = (prefix.as_bytes().into(), true);
        let expected: Vec<String> = words(found).into_iter().rev().collect();
        assert_eq!(page(&store, down).await, (expected, false), "{prefix}");
    }
}

async fn a_prefix_is_no_pattern(store: Arc<dyn Store>) {
    fill(&store, &["a%b", "axb", "a_b", "a_c"]).await;
    assert_eq!(page(&store, |query| query.prefix = (*b"a_").into()).await, (words("a_b a_c"), false));
    assert_eq!(page(&store, |query| query.prefix = (*b"a%").into()).await, (words("a%b"), false));
}

async fn a_prefix_of_the_greatest_bytes(store: Arc<dyn Store>) {
    let keys: [&[u8]; 4] = [b"\xfe", b"\xff", b"\xff\xff", b"\xff\xff\x01"];
    put(&store, keys.map(|key| put_record(Record { key: key.into(), ..record("", "") })).to_vec()).await;
    for reverse in [false, true] {
        let query =
            RecordQuery { prefix: (*b"\xff\xff").into(), reverse, ..RecordQuery::all(RecordKind(1), 10) };
        assert_eq!(store.records(query).await.unwrap().rows.len(), 2);
    }
}

async fn a_prefix_and_a_cursor_hold_together(store: Arc<dyn Store>) {
    fill(&store, &["a", "aa", "b/1", "b/2", "b/3", "bz", "c"]).await;
    for (after, reverse, found) in [
        ("b/1", false, "b/2 b/3"),
        ("b/2", true, "b/1"),
        ("a", false, "b/1 b/2 b/3"),
        ("a", true, ""),
        ("c", true, "b/3 b/2 b/1"),
        ("c", false, ""),
    ] {
        let query = |query: &mut RecordQuery| {
            (query.prefix, query.after, query.reverse) = ((*b"b/").into(), Some(after.into()), reverse);
        };
        assert_eq!(page(&store, query).await, (words(found), false), "{after} {reverse}");
    }
}

async fn a_page_has_one_kind(store: Arc<dyn Store>) {
    fill(&store, &["b"]).await;
    for kind in [0, 2] {
        put(&store, vec![put_record(Record { kind: RecordKind(kind), ..record("a", "") })]).await;
    }
    assert_eq!(page(&store, |_| {}).await, (words("b"), false));
}

async fn a_walk_sees_every_record_once(store: Arc<dyn Store>) {
    let keys: Vec<String> = (0..500).map(|n| format!("{n:03}")).collect();
    put(&store, keys.iter().map(|key| put_record(record(key, ""))).collect()).await;
    for reverse in [false, true] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let query = RecordQuery { after, reverse, ..RecordQuery::all(RecordKind(1), 17) };
            let page = store.records(query).await.unwrap();
            after = page.rows.last().map(|row| row.key.clone());
            seen.extend(keys_of(&page));
            if !page.more {
                break;
            }
        }
        if reverse {
            seen.reverse();
        }
        assert_eq!(seen, keys);
    }
}

async fn what_is_expired_goes(store: Arc<dyn Store>) {
    fill_until(&store, &[("a", Some(5)), ("b", Some(6)), ("c", Some(7)), ("d", None)]).await;
    let other = Record { kind: RecordKind(9), expires_at: Some(at(1)), ..record("x", "") };
    put(&store, vec![put_record(other.clone())]).await;
    assert_eq!(expire(&store, at(6), 100).await, 3, "of every kind, the very moment too");
    assert_eq!(page(&store, |_| {}).await.0, words("c d"));
    assert_eq!(store.record(other.kind, &other.key).await.unwrap(), None);
    assert_eq!(expire(&store, at(6), 100).await, 0);
    assert_eq!(expire(&store, Timestamp::MAX, 100).await, 1, "what has no end stays");
}

async fn the_earliest_expired_go_first(store: Arc<dyn Store>) {
    fill_until(&store, &[("a", Some(9)), ("b", Some(1)), ("d", Some(5)), ("c", Some(5)), ("e", Some(7))])
        .await;
    for (limit, left) in [(0, "a b c d e"), (1, "a c d e"), (1, "a d e"), (2, "a")] {
        assert_eq!(expire(&store, at(10), limit).await, limit as u64);
        assert_eq!(page(&store, |_| {}).await.0, words(left));
    }
}

async fn an_end_that_was_moved_is_kept(store: Arc<dyn Store>) {
    fill_until(&store, &[("a", Some(5)), ("b", Some(5))]).await;
    let later = Record { revision: 2, expires_at: Some(at(50)), ..record("a", "") };
    put(&store, vec![put_record(later)]).await;
    assert_eq!(expire(&store, at(10), 10).await, 1);
    assert_eq!(page(&store, |_| {}).await.0, words("a"));
}

async fn a_range_of_keys_goes(store: Arc<dyn Store>) {
    fill(&store, &["a/1", "a/2", "a/3", "b/1", "b/2"]).await;
    let other = Record { kind: RecordKind(2), ..record("a/1", "") };
    put(&store, vec![put_record(other)]).await;
    assert_eq!(remove(&store, "a/2", "b/2", 10).await, 3);
    assert_eq!(page(&store, |_| {}).await.0, words("a/1 b/2"));
    assert_eq!(remove(&store, "", "b/2", 10).await, 1);
    assert_eq!(remove(&store, "b", "a", 10).await, 0);
    assert!(store.record(RecordKind(2), &"a/1".into()).await.unwrap().is_some());
}

async fn the_smallest_keys_go_first(store: Arc<dyn Store>) {
    fill(&store, &["d", "b", "c", "a"]).await;
    assert_eq!(remove(&store, "", "z", 3).await, 3);
    assert_eq!(page(&store, |_| {}).await.0, words("d"));
    // It went whatever its revision; who comes late learns that.
    let late = Record { revision: 3, ..record("d", "") };
    assert_eq!(commit(&store, vec![put_record(late)]).await, [stale(1)]);
}

async fn retention_by_thousands(store: Arc<dyn Store>) {
    let row = |n: i64| Record { expires_at: Some(at(n)), ..record(&format!("{n:05}"), "x") };
    put(&store, (0..2500).map(|n| put_record(row(n))).collect()).await;
    assert_eq!(expire(&store, at(2399), 1000).await, 1000);
    assert_eq!(expire(&store, at(2399), 10_000).await, 1400);
    assert_eq!(remove(&store, "", "99999", 10_000).await, 100);
}

async fn fill(store: &Arc<dyn Store>, keys: &[&str]) {
    put(store, keys.iter().map(|key| put_record(record(key, ""))).collect()).await;
}

async fn fill_until(store: &Arc<dyn Store>, rows: &[(&str, Option<i64>)]) {
    let row = |(key, end): &(&str, Option<i64>)| Record { expires_at: end.map(at), ..record(key, "") };
    put(store, rows.iter().map(|pair| put_record(row(pair))).collect()).await;
}

async fn page(store: &Arc<dyn Store>, change: impl FnOnce(&mut RecordQuery)) -> (Vec<String>, bool) {
    let mut query = RecordQuery::all(RecordKind(1), 100);
    change(&mut query);
    let page = store.records(query).await.unwrap();
    (keys_of(&page), page.more)
}

fn keys_of(page: &Page<Record>) -> Vec<String> {
    page.rows.iter().map(|row| String::from_utf8(row.key.as_bytes().to_vec()).unwrap()).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

async fn expire(store: &Arc<dyn Store>, at: Timestamp, limit: usize) -> u64 {
    store.retain_records(RecordRetention::Expired { at }, limit).await.unwrap()
}

async fn remove(store: &Arc<dyn Store>, from: &str, until: &str, limit: usize) -> u64 {
    let (kind, from) = (RecordKind(1), from.as_bytes().into());
    store.retain_records(RecordRetention::Keys { kind, from, until: until.into() }, limit).await.unwrap()
}
