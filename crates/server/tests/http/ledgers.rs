//! Ledgers of many triggers as one list, counted, and within a span; backfills of all triggers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::World;
use super::world::text;

/// Two jobs with moments of the past in their ledgers: every hour of a day and every two hours, made up for by backfills.
async fn world_with_ledgers() -> World {
    let world = World::start().await;
    for (namespace, job, every) in [("acme/data", "etl", "1h"), ("rival", "web", "2h")] {
        let triggers = json!([{"every": every, "misfire": "skip"}]);
        world.timed(namespace, job, triggers).await;
        let path = format!("/v1/jobs/{job}/triggers/every/backfills?namespace={namespace}");
        let body =
            json!({"from": "2026-01-01T00:00:00Z", "until": "2026-01-01T06:00:00Z", "max_active": 100});
        world.post(&path, body).await.expect(201);
        let (history, expected) = (
            format!("/v1/jobs/{job}/triggers/every/history?namespace={namespace}"),
            6 / every[..1].parse::<usize>().expect("a number"),
        );
        while items(&world.get(&format!("{history}&until=2026-01-02T00:00:00Z")).await.expect(200)).len()
            < expected
        {
            tokio::task::yield_now().await;
        }
    }
    world
}

fn items(page: &Value) -> Vec<Value> {
    page["items"].as_array().expect("items").clone()
}

/// The hours of 1 January and the jobs, in the order of the list.
fn hours(page: &Value) -> Vec<String> {
    let item = |item: &Value| {
        format!("{}{}", &text(&item["planned"])[11..13], item["job_name"].as_str().unwrap_or(""))
    };
    items(page).iter().map(item).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_ledgers_are_one_list_the_newest_first() {
    let world = world_with_ledgers().await;
    let day = "from=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z";
    let all = world.get(&format!("/v1/occurrences?{day}")).await.expect(200);
    let expected = ["05etl", "04web", "04etl", "03etl", "02web", "02etl", "01etl", "00web", "00etl"];
    let mut found = hours(&all);
    // Of one moment the order is that of jobs' ids.
    found.sort_by_key(|line| (std::cmp::Reverse(line[..2].to_owned()), line.contains("etl")));
    assert_eq!(found, expected, "{all}");
    assert_eq!(all["partial"], false);
    // Page by page each line comes once.
    for limit in [1, 2, 4] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = world.get(&format!("/v1/occurrences?{day}&limit={limit}{cursor}")).await.expect(200);
            seen.extend(hours(&page));
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(seen, hours(&all), "pages of {limit}");
    }
    let part = world
        .get("/v1/occurrences?from=2026-01-01T02:00:00Z&until=2026-01-01T04:00:00Z&namespace=acme")
        .await;
    assert_eq!(hours(&part.expect(200)), ["03etl", "02etl"]);
    let none = world.get(&format!("/v1/occurrences?{day}&outcome=skipped")).await.expect(200);
    assert_eq!(none["items"], json!([]));
    let ann = world.somebody("ann", Some("rival"), Some("viewer")).await;
    let own = world.call(&ann, "GET", &format!("/v1/occurrences?{day}"), None).await.expect(200);
    assert_eq!(hours(&own), ["04web", "02web", "00web"]);
    for (query, field) in [
        ("from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "from"),
        ("cursor=17", "cursor"),
        ("outcome=lost", "outcome"),
    ] {
        let reply = world.get(&format!("/v1/occurrences?{query}")).await;
        assert_eq!(reply.problem(reply.status, "invalid_request")["errors"][0]["path"], field);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ledger_of_a_trigger_is_told_within_a_span() {
    let world = world_with_ledgers().await;
    let path = "/v1/jobs/etl/triggers/every/history?namespace=acme/data";
    for (query, expected) in [
        ("from=2026-01-01T04:00:00Z&until=2026-01-02T00:00:00Z", &["05", "04"][..]),
        ("until=2026-01-01T02:00:00Z", &["01", "00"]),
        ("until=2026-01-01T02:00:00Z&outcome=missed", &[]),
        ("from=2026-01-01T01:00:00Z&until=2026-01-01T01:00:00.000001Z", &["01"]),
    ] {
        assert_eq!(hours(&world.get(&format!("{path}&{query}")).await.expect(200)), expected, "{query}");
    }
    let first = world.get(&format!("{path}&until=2026-01-01T06:00:00Z&limit=4")).await.expect(200);
    let cursor = text(&first["next_cursor"]);
    let rest = world.get(&format!("{path}&until=2026-01-01T06:00:00Z&cursor={cursor}")).await.expect(200);
    assert_eq!(
        (hours(&first), hours(&rest)),
        (["05", "04", "03", "02"].map(String::from).to_vec(), ["01", "00"].map(String::from).to_vec())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planned_moments_are_counted_without_what_was_made_up_for() {
    let world = World::start().await;
    // The moments since the turn of the year passed while nobody looked: one run for the last, the rest is missed.
    let triggers = json!([{"every": "1h", "misfire": "skip"}]);
    world.timed("acme", "etl", triggers).await;
    let set = json!({"cursor": "2026-01-01T00:00:00Z"});
    world.put("/v1/jobs/etl/triggers/every/cursor?namespace=acme", set).await.expect(200);
    let counts = loop {
        let counts = world.get("/v1/occurrences/counts?until=2100-01-01T00:00:00Z").await.expect(200);
        if counts["missed"].as_u64() > Some(0) {
            break counts;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!((&counts["fired"], &counts["late"]), (&json!(0), &json!(0)), "{counts}");
    let nobody = world.somebody("ann", Some("rival"), Some("viewer")).await;
    let none = world.call(&nobody, "GET", "/v1/occurrences/counts", None).await.expect(200);
    assert_eq!(none["missed"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backfills_of_all_triggers_are_listed_by_state() {
    let world = world_with_ledgers().await;
    let all = world.get("/v1/backfills").await.expect(200);
    let jobs: Vec<String> = items(&all).iter().map(|item| text(&item["job_name"])).collect();
    assert_eq!((jobs, &all["partial"]), (vec!["web".to_owned(), "etl".to_owned()], &json!(false)));
    let within = world.get("/v1/backfills?namespace=acme&limit=1").await.expect(200);
    assert_eq!((items(&within).len(), &within["items"][0]["namespace"]), (1, &json!("acme/data")));
    let states = async || {
        let all = world.get("/v1/backfills").await.expect(200);
        items(&all).iter().map(|item| text(&item["state"])).collect::<Vec<_>>()
    };
    // They go on meanwhile: only what stood still between two looks can be compared.
    loop {
        let before = states().await;
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        for state in ["running", "finishing", "done", "stopped"] {
            let of_state = world.get(&format!("/v1/backfills?state={state}")).await.expect(200);
            found.insert(state, items(&of_state).len());
        }
        if before == states().await {
            let expected = |state: &str| before.iter().filter(|one| *one == state).count();
            assert!(found.iter().all(|(state, count)| *count == expected(state)), "{found:?} of {before:?}");
            assert_eq!((before.len(), found["stopped"]), (2, 0));
            break;
        }
    }
    assert_eq!(world.get("/v1/backfills?limit=1").await.expect(200)["partial"], true);
}
