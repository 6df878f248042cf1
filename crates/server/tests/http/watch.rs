//! Event streams.

use super::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn news_are_told_to_those_who_may_hear_them_and_resumed() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    world.job("rival", "etl").await;
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    let mut stream = world.call(&ann, "GET", "/v1/watch", None).await;
    assert_eq!(stream.status, 200);
    let hidden = world.run("rival", "etl").await;
    let seen = world.run("acme", "etl").await;
    let told = stream.read_until(&seen).await;
    assert!(!told.contains(&hidden), "{told}");
    let told = stream.read_until("id: ").await;
    let id = told.lines().find_map(|line| line.strip_prefix("id: ")).expect("an id").trim().to_owned();
    drop(stream);
    let later = world.run("acme", "etl").await;
    let bearer = format!("Bearer {ann}");
    let headers = [("authorization", bearer.as_str()), ("last-event-id", id.as_str())];
    let mut resumed = world.send("GET", "/v1/watch", &headers, b"").await;
    resumed.read_until(&later).await;
    let headers = [("authorization", bearer.as_str()), ("last-event-id", "0.999.1")];
    let mut lost = world.send("GET", "/v1/watch", &headers, b"").await;
    lost.read_until("event: reset").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_of_a_run_that_never_starts_hears_its_end() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let run = world.run("acme", "etl").await;
    let mut follow = world.get(&format!("/v1/runs/{run}/logs?follow=true")).await;
    world.call(&world.admin, "POST", &format!("/v1/runs/{run}/cancel"), None).await.expect(202);
    follow.read_until("event: end").await;
}
