//! Event streams that are cut and go on.

use mainspring_client::api::WatchWhat;
use mainspring_client::model::{RunId, RunState as State, Timestamp};
use mainspring_client::{LogEvent, LogQuery, WatchQuery};
use serde_json::json;

use crate::api::{Api, events, json as answer, problem};

fn id() -> RunId {
    RunId::new(Timestamp::from_micros(1_700_000_000_000_000), 7)
}

fn line(offset: u64, text: &str) -> String {
    let data = json!({ "offset": offset, "at": "2026-01-01T00:00:00Z", "stream": "stdout", "text": text });
    format!("event: line\nid: {}\ndata: {data}\n\n", offset + 10)
}

#[tokio::test]
async fn a_log_goes_on_where_it_was_cut() {
    let api = Api::start(|asked| match asked.header("last-event-id") {
        None => events(&line(0, "one\n")),
        Some("10") if asked.number == 1 => problem(503, "store_unavailable", "later"),
        Some("10") => {
            let more = line(10, "two\n");
            events(&format!(
                ": keep\n\n{more}event: attempt\ndata: {{\"attempt\":2}}\n\nevent: end\ndata: {{}}\n\n"
            ))
        }
        Some(other) => panic!("{other}"),
    })
    .await;
    let mut log = api.client().follow_logs(id(), &LogQuery::default());
    let mut seen = Vec::new();
    while let Some(event) = log.next().await.unwrap() {
        seen.push(match event {
            LogEvent::Line(line) => line.text,
            LogEvent::Attempt(number) => format!("attempt {number}"),
            LogEvent::Away => "away".to_owned(),
            LogEvent::End => "end".to_owned(),
        });
    }
    assert_eq!(seen, ["one\n", "two\n", "attempt 2", "end"]);
    assert_eq!(log.next().await.unwrap(), None);
    let first = &api.asked()[0];
    assert_eq!(first.line, format!("GET /v1/runs/{}/logs?follow=true", id()));
    assert_eq!(first.header("accept"), Some("text/event-stream"));
}

#[tokio::test]
async fn a_server_that_never_was_there_is_not_waited_for() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = mainspring_client::Client::builder(url).retries(1).build().unwrap();
    let mut log = client.follow_logs(id(), &LogQuery::default());
    assert!(
        tokio::time::timeout(crate::HANG_LIMIT, log.next())
            .await
            .expect("it fails within a guard against a hang")
            .is_err()
    );
    let mut watch = client.watch(&WatchQuery::default());
    assert!(
        tokio::time::timeout(crate::HANG_LIMIT, watch.next())
            .await
            .expect("it fails within a guard against a hang")
            .is_err()
    );
}

#[tokio::test]
async fn a_follower_is_told_once_that_the_server_is_away() {
    let api = Api::start(|asked| match asked.number {
        0 => events(&line(0, "one\n")),
        1..=5 => problem(503, "store_unavailable", "later"),
        _ => events("event: end\ndata: {}\n\n"),
    })
    .await;
    let client = mainspring_client::Client::builder(format!("http://{}", api.address)).retries(0);
    let mut log = client.build().unwrap().follow_logs(id(), &LogQuery::default());
    let mut seen = Vec::new();
    while let Some(event) = log.next().await.unwrap() {
        seen.push(event);
    }
    assert!(matches!(&seen[..], [LogEvent::Line(_), LogEvent::Away, LogEvent::End]), "{seen:?}");
}

#[tokio::test]
async fn a_refusal_ends_a_stream() {
    let api = Api::start(|_| problem(403, "forbidden", "never")).await;
    let mut watch = api.client().watch(&WatchQuery::default());
    assert!(watch.next().await.is_err());
    assert_eq!(api.asked().len(), 1);
}

#[tokio::test]
async fn a_watch_that_was_cut_before_its_first_news_says_that_some_may_be_missed() {
    let api = Api::start(|_| events(": keep\n\n")).await;
    let mut watch = api.client().watch(&WatchQuery::default());
    watch.connect().await.unwrap();
    assert_eq!(watch.next().await.unwrap().0.what, WatchWhat::Reset);
    assert_eq!(api.asked().len(), 2);
}

#[tokio::test]
async fn waiting_outlives_a_server_that_is_away() {
    let looks = std::sync::atomic::AtomicUsize::new(0);
    let api = Api::start(move |asked| {
        if asked.line.starts_with("GET /v1/watch") {
            return events(": keep\n\n");
        }
        // Longer than one call tries again.
        match looks.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => answer(200, run("running")),
            1..=8 => problem(503, "store_unavailable", "later"),
            _ => answer(200, run("success")),
        }
    })
    .await;
    assert_eq!(api.client().wait(id()).await.unwrap().state, State::Success);
}

fn run(state: &str) -> serde_json::Value {
    json!({
        "id": id(), "namespace": "default", "job": "job_00000000000000000000000001", "job_version": 1, "ad_hoc": true,
        "state": state, "version": 1, "attempt": 1, "losses": 0, "priority": 0, "submitted_by": "ann",
        "created_at": "2026-01-01T00:00:00Z",
    })
}

#[tokio::test]
async fn waiting_reads_the_run_after_news_alone() {
    let other = RunId::new(Timestamp::ZERO, 1);
    let news = move |id: RunId, number: u32| {
        let data = json!({
            "mark": format!("m{number}"), "kind": "run", "id": id, "namespace": "default",
            "job": "job_00000000000000000000000001", "state": "running", "version": 1, "attempt": 1,
            "at": "2026-01-01T00:00:00Z",
        });
        format!("id: m{number}\ndata: {data}\n\n")
    };
    let looks = std::sync::atomic::AtomicUsize::new(0);
    let api = Api::start(move |asked| {
        if asked.line.starts_with("GET /v1/watch") {
            return events(&format!("{}{}", news(other, 1), news(id(), 2)));
        }
        let look = looks.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        answer(200, run(if look < 2 { "running" } else { "success" }))
    })
    .await;
    let ended = api.client().wait(id()).await.unwrap();
    assert_eq!(ended.state, State::Success);
    let reads = api.asked().iter().filter(|asked| asked.line.starts_with("GET /v1/runs")).count();
    assert_eq!(reads, 3);
}
