//! Kinds of news: what is told to those who ask for more than runs and nodes.

use mainspring_wire::agent::node_word::Word as Said;
use mainspring_wire::agent::{Progress, Progressed, Report, report};
use serde_json::json;

use super::World;
use super::node::Node;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_begins_with_the_servers_time_and_version() {
    let world = World::start().await;
    let mut stream = world.get("/v1/watch").await;
    let told = stream.read_until("}").await;
    let begin = told.lines().find(|line| line.starts_with("event: ")).expect("an event");
    assert_eq!(begin, "event: hello", "{told}");
    let version = world.get("/v1/me").await.expect(200)["server"]["software"].clone();
    assert!(told.contains(&format!("\"software\":{version}")) && told.contains("\"now\":\""), "{told}");
    world.get("/v1/watch?kinds=run,jobs").await.problem(422, "invalid_request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_news_when_they_are_put_paused_and_removed() {
    let world = World::start().await;
    world.job("rival", "hidden").await;
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    let mut stream = world.call(&ann, "GET", "/v1/watch?kinds=job", None).await;
    let mut plain = world.call(&ann, "GET", "/v1/watch", None).await;
    world.job("rival", "hidden-too").await;
    world.job("acme", "put").await;
    stream.read_until("\"name\":\"put\"").await;
    world.job("acme", "paused").await;
    world.post("/v1/jobs/paused/pause?namespace=acme", json!({})).await.expect(200);
    world.job("acme", "gone").await;
    world.call(&world.admin, "DELETE", "/v1/jobs/gone?namespace=acme", None).await.expect(204);
    world.job("acme", "last").await;
    let told = stream.read_until("\"name\":\"last\"").await;
    let times = |name: &str| told.matches(&format!("\"name\":\"{name}\"")).count();
    assert_eq!((times("paused"), times("gone")), (2, 2), "{told}");
    assert!(!told.contains("hidden"), "{told}");
    let run = world.run("acme", "last").await;
    let told = plain.read_until(&run).await;
    assert!(!told.contains("event: job"), "nobody asked for it: {told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn firings_and_backfills_are_news() {
    let world = World::start().await;
    let mut stream = world.get("/v1/watch?kinds=trigger,occurrence,backfill").await;
    world.timed("acme", "timed", json!([{"every": "1h"}])).await;
    let path = |tail: &str| format!("/v1/jobs/timed/triggers/every{tail}?namespace=acme");
    let body = json!({"from": "2026-01-01T00:00:00Z", "until": "2026-01-01T02:00:00Z"});
    world.post(&path("/backfills"), body).await.expect(201);
    let told = stream.read_until("event: backfill").await + &stream.read_until("event: occurrence").await;
    assert!(told.contains("event: trigger"), "{told}");
    let told = stream.read_until("\"outcome\":\"fired\"").await;
    assert!(told.contains("\"planned\":\"2026-01-01T00:00:00") && told.contains("\"made\":1"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_and_reasons_are_told_in_passing() {
    let world = World::start().await;
    let mut node = Node::start(&world).await;
    world.job("acme", "etl").await;
    let mut stream = world.get("/v1/watch?kinds=progress,reason").await;
    let run = world.run("acme", "etl").await;
    let token = node.execute(&run).await;
    for permille in [100, 200, 300] {
        let progress = Some(Progress { permille, message: "on it".into() });
        let news = Some(report::News::Progressed(Progressed { progress, checkpoint: None }));
        let report = Report { session: 1, beat: 1, token: Some(token.into()), news };
        node.say(Said::Report(report)).await;
    }
    let told = stream.read_until("\"fraction\":0.3").await;
    assert!(told.contains("on it") && told.matches("event: progress").count() <= 2, "{told}");
    // Somebody looks at a run that waits; then its reason changes.
    world.post("/v1/jobs/etl/pause?namespace=acme", json!({})).await.expect(200);
    let waits = world.run("acme", "etl").await;
    let why = world.get(&format!("/v1/runs/{waits}/why")).await.expect(200);
    assert_eq!(why["reason"]["kind"], "paused", "{why}");
    world.post("/v1/cells/0/pause", json!({"note": "all of it"})).await.expect(200);
    let told = stream.read_until("\"kind\":\"cell_paused\"").await;
    assert!(told.contains(&waits), "{told}");
}
