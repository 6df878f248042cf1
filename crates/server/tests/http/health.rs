//! Lists of jobs: found by words and labels, in two orders, with how each fares; and who depends on a job.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{CellId, JobId, Payload, Run, RunHead, RunId, RunState, RunStatus, Timestamp};
use mainspring_store::{Transaction, Write};
use serde_json::{Value, json};

use super::World;
use super::world::text;

fn names(page: &Value) -> Vec<String> {
    page["items"].as_array().expect("jobs").iter().map(|job| text(&job["name"])).collect()
}

async fn labelled(world: &World, namespace: &str, name: &str, labels: Value) {
    let spec = json!({"name": name, "script": "true", "labels": labels});
    world.put(&format!("/v1/jobs/{name}?namespace={namespace}"), spec).await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_found_by_words_and_labels_in_two_orders() {
    let world = World::start().await;
    labelled(&world, "acme/data", "report", json!({"team": "data", "tier": "1"})).await;
    labelled(&world, "acme/data", "import", json!({"team": "data"})).await;
    labelled(&world, "acme", "web", json!({"team": "web"})).await;
    labelled(&world, "beta", "import", json!({})).await;
    for (query, expected) in [
        ("", &["report", "import", "web", "import"][..]),
        ("order=id", &["report", "import", "web", "import"]),
        ("order=name", &["web", "import", "report", "import"]),
        ("q=imp", &["import", "import"]),
        ("q=ACME%20imp", &["import"]),
        ("q=data&order=name", &["import", "report"]),
        ("q=nothing", &[]),
        ("label=team=data", &["report", "import"]),
        ("label=team=data,!tier", &["import"]),
        ("label=team%20in%20(web,data)&q=acme/web", &["web"]),
        ("label=!team", &["import"]),
        ("namespace=acme&order=name", &["web", "import", "report"]),
    ] {
        assert_eq!(names(&world.get(&format!("/v1/jobs?{query}")).await.expect(200)), expected, "{query}");
    }
    for (query, field) in [
        ("label=a%20b", "label"),
        ("order=age", "order"),
        ("with=luck", "with"),
        ("with=health&limit=101", "limit"),
        ("order=name&cursor=0", "cursor"),
    ] {
        let reply = world.get(&format!("/v1/jobs?{query}")).await;
        let problem = reply.problem(if reply.status == 400 { 400 } else { 422 }, "invalid_request");
        assert_eq!(problem["errors"][0]["path"], field, "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_in_either_order_have_each_job_once_and_only_ones_own() {
    let world = World::start().await;
    for n in 0..7 {
        world.job(if n % 2 == 0 { "acme" } else { "rival" }, &format!("job{n}")).await;
        world.job("mine", &format!("job{}", 9 - n)).await;
    }
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    world.put("/v1/members/ann?namespace=mine", json!({"role": "viewer"})).await.expect(201);
    for query in ["order=id", "order=name", "order=name&q=job", "order=id&q=job%20mine"] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/jobs?{query}&limit=2{cursor}");
            let page = world.call(&ann, "GET", &path, None).await.expect(200);
            for job in page["items"].as_array().expect("jobs") {
                seen.push(format!("{}/{}", text(&job["namespace"]), text(&job["name"])));
            }
            assert!(!page.to_string().contains("rival"), "{page}");
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={}", next.replace('/', "%2F"));
        }
        let mut expected = seen.clone();
        if query.starts_with("order=name") {
            expected.sort();
            assert_eq!(seen, expected, "{query}");
        }
        expected.sort();
        expected.dedup();
        let count = if query.contains("%20mine") { 7 } else { 11 };
        assert_eq!((expected.len(), seen.len()), (count, count), "{query}: {seen:?}");
    }
}

/// An ended run of a job that waited so long and took so long, in milliseconds.
fn ended(job: JobId, n: i64, state: RunState, waited: i64, took: i64) -> Write {
    let at = |millis: i64| Timestamp::from_micros(1_700_000_000_000_000 + n * 60_000_000 + millis * 1000);
    let head = RunHead {
        id: RunId::new(at(0), n as u128),
        namespace: "acme".parse().expect("a namespace"),
        job,
        job_version: 1,
        inline_spec: None,
        idempotency_key: None,
        priority: 0,
        created_at: at(0),
        not_before: None,
        deadline: None,
        params: Payload::from(*b"{}"),
        keys: None,
        submitted_by: "ann".into(),
        fired: None,
        overlap: Default::default(),
    };
    let mut status = RunStatus::arrived(CellId(0), at(0));
    (status.state, status.place, status.attempt) = (state, None, 1);
    (status.eligible_at, status.placed_at) = (Some(at(0)), Some(at(waited)));
    (status.started_at, status.finished_at) = (Some(at(waited)), Some(at(waited + took)));
    Write::InsertRun(Run { head: Arc::new(head), status })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_with_health_tells_how_each_job_fares() {
    let world = World::start().await;
    let etl = world
        .timed("acme", "etl", json!([{"every": "1h"}, {"name": "late", "at": "2100-01-01T00:00:00Z"}]))
        .await;
    world.job("acme", "quiet").await;
    let id: JobId = text(&etl["id"]).parse().expect("an id");
    let failed = |n: i64| if n % 4 == 3 { RunState::FinalFailed } else { RunState::Success };
    let rows = (0..40).map(|n| ended(id, n, failed(n), 10 + n, 1000 * (n + 1))).collect();
    world.store().await.commit(Transaction::unfenced(rows)).await.expect("a store");
    let waits = world.run("acme", "etl").await;
    let page = world.get("/v1/jobs?namespace=acme&with=health&order=name").await.expect(200);
    let [etl, quiet] = page["items"].as_array().expect("jobs").as_slice() else { panic!("{page}") };
    let health = &etl["health"];
    let ends = health["ends"].as_array().expect("ends");
    assert_eq!(
        (ends.len(), &ends[0]["state"], &ends[0]["took_ms"]),
        (30, &json!("final_failed"), &json!(40_000))
    );
    assert_eq!(ends[29]["took_ms"], 11_000);
    // 8 of the newest 30 failed: numbers 11, 15 … 39.
    assert_eq!(health["success_rate"], json!(22.0 / 30.0));
    assert_eq!(health["running_ms"], json!({"p50": 25_000.0, "p95": 39_000.0, "samples": 30}));
    assert_eq!(health["queued_ms"], json!({"p50": 34.0, "p95": 48.0, "samples": 30}));
    assert_eq!(health["active"], json!({"running": 0, "waiting": 1, "at_least": false}), "{waits}");
    assert_eq!((&health["triggers"], &health["next"]["trigger"]), (&json!(2), &json!("every")));
    let idle = json!({"ends": [], "active": {"running": 0, "waiting": 0, "at_least": false}, "triggers": 0});
    assert_eq!(quiet["health"], idle);
    world.post("/v1/jobs/etl/pause?namespace=acme", json!({"note": ""})).await.expect(200);
    let page = world.get("/v1/jobs?namespace=acme&with=health&q=etl").await.expect(200);
    assert!(page["items"][0]["health"].get("next").is_none(), "a paused job fires nothing: {page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_owner_a_page_with_health_says_less_and_soon() {
    let store: Arc<dyn mainspring_store::Store> = Arc::new(mainspring_store_mem::MemStore::default());
    let data = tempfile::tempdir().expect("a folder");
    let roles = mainspring_server::Roles { api: true, scheduler: false };
    let world = World::beside(store, data, None, |options| options.roles = roles).await;
    world.job("acme", "etl").await;
    let asked = world.get("/v1/jobs?with=health");
    let page = tokio::time::timeout(Duration::from_secs(4), asked)
        .await
        .expect("an answer before owners are given up");
    assert_eq!(page.expect(200)["items"][0]["health"], json!({"ends": []}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dependents_follow_or_need_a_job_of_their_namespace() {
    let world = World::start().await;
    world.job("acme", "import").await;
    world.job("acme/data", "import").await;
    world
        .timed("acme", "report", json!([{"after": {"job": "import"}}, {"name": "other", "every": "1h"}]))
        .await;
    world
        .timed("acme", "audit", json!([{"name": "nightly", "cron": "0 3 * * *", "needs": ["import"]}]))
        .await;
    world.timed("acme/data", "elsewhere", json!([{"after": {"job": "import"}}])).await;
    let found = world.get("/v1/jobs/import/dependents?namespace=acme").await.expect(200);
    let item = |item: &Value| (text(&item["job_name"]), text(&item["trigger"]), text(&item["kind"]));
    let items: Vec<_> = found["items"].as_array().expect("triggers").iter().map(item).collect();
    let expected = [("audit", "nightly", "needs"), ("report", "after", "follows")];
    let owned =
        |(job, trigger, kind): (&str, &str, &str)| (job.to_owned(), trigger.to_owned(), kind.to_owned());
    assert_eq!((items, &found["partial"]), (expected.map(owned).to_vec(), &json!(false)));
    let none = world.get("/v1/jobs/report/dependents?namespace=acme").await.expect(200);
    assert_eq!(none["items"], json!([]));
    world.get("/v1/jobs/nobody/dependents?namespace=acme").await.problem(404, "not_found");
}
