//! Bytes that nobody looks into come back as they went in, up to their limits.

use std::sync::Arc;

use mainspring_model::{Run, RunKeys, limits};
use mainspring_store::{Store, Write};

use crate::case::cases;
use crate::fixture::{next, put, read_run, run, run_id, run_ids, run_with, shelf_query, update};

cases! { "payloads":
    nothing => params(vec![]),
    every_byte => params((0..=255).collect()),
    every_byte_backwards => params((0..=255).rev().collect()),
    zeros => params(vec![0; 1000]),
    not_utf8 => params(vec![0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
    json_is_not_rewritten => params(br#"{"b" : 1.0, "a":[ 1e400 ], "a": null}"#.to_vec()),
    quotes_and_escapes => params(br#"'"\'\\;--/**/$1?%s{}"#.to_vec()),
    text_of_many_scripts => params("数据 🚀 е́ ‏עברית".as_bytes().to_vec()),
    parameters_of_the_largest_size => params(mixed(limits::PARAMS_BYTES_MAX)),
    a_result_of_the_largest_size,
    a_checkpoint_of_the_largest_size,
    all_of_the_largest_size_at_once,
    a_large_result_replaces_another,
    an_empty_specification_is_not_none,
    keys_of_the_largest_size,
    a_message_of_the_largest_size,
    large_rows_are_listed,
}

async fn params(store: Arc<dyn Store>, bytes: Vec<u8>) {
    let row = run_with(1, |head, status| {
        head.params = bytes.clone().into();
        head.inline_spec = Some(bytes.clone().into());
        status.extra_mut().result = Some(bytes.clone().into());
        status.extra_mut().checkpoint = Some(bytes.into());
    });
    kept(&store, row).await;
}

async fn a_result_of_the_largest_size(store: Arc<dyn Store>) {
    kept(&store, with_result(1, limits::RESULT_BYTES_MAX)).await;
}

async fn a_checkpoint_of_the_largest_size(store: Arc<dyn Store>) {
    let bytes = mixed(limits::CHECKPOINT_BYTES_MAX);
    kept(&store, run_with(1, |_, status| status.extra_mut().checkpoint = Some(bytes.into()))).await;
}

async fn all_of_the_largest_size_at_once(store: Arc<dyn Store>) {
    let row = run_with(1, |head, status| {
        head.params = mixed(limits::PARAMS_BYTES_MAX).into();
        head.inline_spec = Some(mixed(limits::SPEC_BYTES_MAX).into());
        status.extra_mut().result = Some(mixed(limits::RESULT_BYTES_MAX).into());
        status.extra_mut().checkpoint = Some(mixed(limits::CHECKPOINT_BYTES_MAX).into());
    });
    kept(&store, row).await;
}

async fn a_large_result_replaces_another(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let mut row = run(1);
    for size in [limits::RESULT_BYTES_MAX, 1, limits::RESULT_BYTES_MAX - 1, 0] {
        row = next(&row, |status| status.extra_mut().result = Some(mixed(size).into()));
        put(&store, vec![update(&row)]).await;
        assert!(read_run(&store, run_id(1)).await.as_ref() == Some(&row), "a result of {size} bytes");
    }
}

async fn an_empty_specification_is_not_none(store: Arc<dyn Store>) {
    kept(&store, run_with(1, |head, _| head.inline_spec = Some(Arc::from([])))).await;
    kept(&store, run_with(2, |head, _| head.inline_spec = None)).await;
}

async fn keys_of_the_largest_size(store: Arc<dyn Store>) {
    let key: Box<str> = "é\0".repeat(85).into();
    assert_eq!(key.len(), limits::RENDERED_KEY_BYTES_MAX);
    let keys = RunKeys { concurrency: key.clone(), rate: key.clone(), hash: key.clone() };
    let row = run_with(1, |head, _| {
        head.keys = Some(Box::new(keys));
        head.idempotency_key = Some(key);
    });
    kept(&store, row).await;
}

async fn a_message_of_the_largest_size(store: Arc<dyn Store>) {
    let message: Box<str> = "\0🚀\"\\".repeat(limits::MESSAGE_BYTES_MAX / 7).into();
    let cause = mainspring_model::Cause::Error { class: "x".into(), message };
    kept(&store, run_with(1, |_, status| status.cause = Some(cause))).await;
}

async fn large_rows_are_listed(store: Arc<dyn Store>) {
    for n in 0..8 {
        put(&store, vec![Write::InsertRun(with_result(n, limits::RESULT_BYTES_MAX))]).await;
    }
    let page = store.shelf(shelf_query(0, mainspring_model::Shelf::Arrived)).await.unwrap();
    assert_eq!(run_ids(&page), (0..8).map(run_id).collect::<Vec<_>>());
    assert!(
        page.rows.iter().all(|row| row.status.extra == with_result(0, limits::RESULT_BYTES_MAX).status.extra)
    );
}

/// The failure does not print a megabyte.
async fn kept(store: &Arc<dyn Store>, row: Run) {
    put(store, vec![Write::InsertRun(row.clone())]).await;
    let read = read_run(store, row.head.id).await.unwrap();
    assert!(read.head == row.head, "the head differs");
    assert!(read.status == row.status, "the status differs");
}

fn with_result(n: u64, size: usize) -> Run {
    run_with(n, |_, status| status.extra_mut().result = Some(mixed(size).into()))
}

/// Bytes that do not repeat in a short period, so that a cut or a shift shows.
fn mixed(size: usize) -> Vec<u8> {
    (0..size).map(|n| (n ^ (n >> 8) ^ (n >> 16)) as u8).collect()
}
