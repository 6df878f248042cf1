//! Idempotency keys are bytes: what differs in one byte is another key, whatever a collation thinks.

use std::sync::Arc;

use mainspring_model::Run;
use mainspring_store::{Store, Write};

use crate::case::cases;
use crate::fixture::{commit, key_taken, namespace, put, run, run_id, run_with};

cases! { "keys":
    case => two_keys("Job-A", "job-a"),
    trailing_space => two_keys("key", "key "),
    leading_space => two_keys("key", " key"),
    only_spaces => two_keys(" ", "  "),
    tab_and_space => two_keys("a b", "a\tb"),
    line_ends => two_keys("a\n", "a\r\n"),
    accent => two_keys("resume", "résumé"),
    composed_and_decomposed => two_keys("\u{e9}", "e\u{301}"),
    sharp_s => two_keys("strasse", "straße"),
    ligature => two_keys("file", "\u{fb01}le"),
    full_width => two_keys("abc", "\u{ff41}\u{ff42}\u{ff43}"),
    dotless_i => two_keys("i", "\u{131}"),
    zero_width => two_keys("ab", "a\u{200d}b"),
    nul_inside => two_keys("a\0b", "ab"),
    nul_after => two_keys("a", "a\0"),
    nul_before_other_text => two_keys("a\0b", "a\0c"),
    emoji => two_keys("🚀", "🛸"),
    emoji_and_its_variant => two_keys("\u{2764}", "\u{2764}\u{fe0f}"),
    wildcards => two_keys("a%", "a_"),
    quotes => two_keys("it's", "it''s"),
    backslashes => two_keys("a\\b", "a\\\\b"),
    digits_of_two_scripts => two_keys("1", "\u{661}"),
    empty_and_nul => two_keys("", "\0"),
    the_last_of_255_bytes => two_keys(&format!("{}a", "k".repeat(254)), &format!("{}b", "k".repeat(254))),
    multibyte_to_255_bytes => two_keys(&"数".repeat(85), &format!("{}据", "数".repeat(84))),
    an_empty_key_is_a_key,
    runs_without_a_key_never_conflict,
    a_prefix_is_another_key,
    a_thousand_keys_are_found_again,
}

/// Two runs with these keys live side by side, each found by its own key, and each key is taken.
async fn two_keys(store: Arc<dyn Store>, one: &str, other: &str) {
    put(&store, vec![Write::InsertRun(keyed(1, one))]).await;
    put(&store, vec![Write::InsertRun(keyed(2, other))]).await;
    for (n, key) in [(1, one), (2, other)] {
        let found = store.run_by_key(&namespace("acme"), key).await.unwrap();
        assert_eq!(found, Some(keyed(n, key)), "{key:?}");
        assert_eq!(commit(&store, vec![Write::InsertRun(keyed(3, key))]).await, [key_taken(run_id(n))]);
    }
    let both = vec![Write::InsertRun(in_beta(4, one)), Write::InsertRun(in_beta(5, other))];
    put(&store, both).await;
}

async fn an_empty_key_is_a_key(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1)), Write::InsertRun(keyed(2, ""))]).await;
    assert_eq!(commit(&store, vec![Write::InsertRun(keyed(3, ""))]).await, [key_taken(run_id(2))]);
    assert_eq!(store.run_by_key(&namespace("acme"), "").await.unwrap(), Some(keyed(2, "")));
}

async fn runs_without_a_key_never_conflict(store: Arc<dyn Store>) {
    put(&store, (0..20).map(|n| Write::InsertRun(run(n))).collect()).await;
    assert_eq!(store.run_by_key(&namespace("acme"), "").await.unwrap(), None);
}

async fn a_prefix_is_another_key(store: Arc<dyn Store>) {
    let long = "k".repeat(255);
    for length in [1, 2, 63, 64, 127, 128, 190, 191, 254, 255] {
        put(&store, vec![Write::InsertRun(keyed(length as u64, &long[..length]))]).await;
    }
    let found = store.run_by_key(&namespace("acme"), &long[..191]).await.unwrap();
    assert_eq!(found.map(|run| run.head.id), Some(run_id(191)));
}

async fn a_thousand_keys_are_found_again(store: Arc<dyn Store>) {
    put(&store, (0..1000).map(|n| Write::InsertRun(keyed(n, &format!("key {n}")))).collect()).await;
    for n in (0..1000).step_by(97) {
        let found = store.run_by_key(&namespace("acme"), &format!("key {n}")).await.unwrap();
        assert_eq!(found.map(|run| run.head.id), Some(run_id(n)));
    }
    let again = (0..1000).map(|n| Write::InsertRun(keyed(n + 1000, &format!("key {n}")))).collect();
    let expected: Vec<_> = (0..1000).map(|n| key_taken(run_id(n))).collect();
    assert_eq!(commit(&store, again).await, expected);
}

fn keyed(n: u64, key: &str) -> Run {
    run_with(n, |head, _| head.idempotency_key = Some(key.into()))
}

fn in_beta(n: u64, key: &str) -> Run {
    run_with(n, |head, _| {
        head.namespace = namespace("beta");
        head.idempotency_key = Some(key.into());
    })
}
