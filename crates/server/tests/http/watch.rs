//! Event streams.

use mainspring_wire::agent::owner_word::Word as Heard;
use serde_json::{Value, json};

use super::World;
use super::node::Node;
use super::world::text;

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
    let told = lost.read_until("id: ").await;
    assert!(
        told.contains("event: reset"),
        "who is cut off goes on from the first id, which covers the reset: {told}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_that_pauses_itself_is_news() {
    let world = World::start().await;
    world.job("rival", "etl").await;
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    let bob = world.somebody("bob", Some("rival"), Some("viewer")).await;
    let mut stream = world.call(&ann, "GET", "/v1/watch", None).await;
    let mut elsewhere = world.call(&bob, "GET", "/v1/watch", None).await;
    // Nobody is there who could take its runs.
    let triggers = json!([{"delay": "1h", "pause_after": 1}]);
    let job = json!({"name": "late", "script": "true", "retry": 0, "timeout": {"queue": "1s"}, "triggers": triggers});
    world.put("/v1/jobs/late?namespace=acme", job).await.expect(201);
    let told = stream.read_until("event: trigger_paused").await + &stream.read_until("}").await;
    assert!(told.contains("paused itself: its last 1 runs failed for good"), "{told}");
    let seen = world.run("rival", "etl").await;
    assert!(!elsewhere.read_until(&seen).await.contains("trigger_paused"));
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_token_hears_no_more_however_much_there_is_to_hear() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    world.put("/v1/members/ann?namespace=acme", json!({"role": "viewer"})).await.expect(201);
    let made = world.post("/v1/tokens", json!({"subject": "ann"})).await.expect(201);
    let (secret, id) = (text(&made["secret"]), text(&made["token"]["id"]));
    let mut stream = world.call(&secret, "GET", "/v1/watch", None).await;
    assert_eq!(stream.status, 200);
    world.call(&world.admin, "DELETE", &format!("/v1/tokens/{id}"), None).await.expect(204);
    let told = async { while !stream.has_ended().await {} };
    let happens = async {
        for _ in 0..500 {
            world.run("acme", "etl").await;
        }
    };
    tokio::select! {
        () = told => {}
        () = happens => panic!("whoever has no token heard everything"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_who_lost_their_role_reads_no_more() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    let mut node = Node::start(&world).await;
    let run = world.run("acme", "etl").await;
    let token = node.execute(&run).await;
    let mut offset = node.log(token, 0, "for all to see\n").await;
    let mut follow = world.call(&ann, "GET", &format!("/v1/runs/{run}/logs?follow=true"), None).await;
    follow.read_until("for all to see").await;
    world.call(&world.admin, "DELETE", "/v1/members/ann?namespace=acme", None).await.expect(204);
    let told = async { while !follow.has_ended().await {} };
    let happens = async {
        for _ in 0..3_000 {
            offset = node.log(token, offset, "a secret\n").await;
            while !matches!(node.hear().await, Ok(Heard::LogHave(_))) {}
        }
    };
    tokio::select! {
        () = told => {}
        () = happens => panic!("whoever has no role read everything"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_came_at_once_are_told_one_by_one_and_each_once_after_a_cut() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let mut node = Node::start(&world).await;
    let run = world.run("acme", "etl").await;
    let token = node.execute(&run).await;
    let offset = node.log(token, 0, "1\n2\n3\n4").await;
    let offset = node.log(token, offset, "4\n5\n").await;
    while !matches!(node.hear().await, Ok(Heard::LogHave(have)) if have.offset == offset) {}
    let texts = ["1\n", "2\n", "3\n", "4", "4\n", "5\n"];
    let page = world.get(&format!("/v1/runs/{run}/logs")).await.expect(200);
    let lines = page["lines"].as_array().expect("lines");
    assert_eq!(lines.iter().map(|line| text(&line["text"])).collect::<Vec<_>>(), texts);
    // A follower that is cut off after any of them goes on with the next.
    let mut position = "1:0".to_owned();
    for expected in texts {
        let path = format!("/v1/runs/{run}/logs?follow=true&last_event_id={position}");
        let told = world.get(&path).await.read_until("\n\n").await;
        let field =
            |name: &str| told.lines().find_map(|line| line.strip_prefix(name)).expect("a field").to_owned();
        let line: Value = serde_json::from_str(&field("data: ")).expect("a line");
        assert_eq!(line["text"], expected, "after {position}");
        position = field("id: ");
    }
    assert_eq!(position, format!("1:{offset}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_of_any_length_is_read_and_a_part_of_a_log_is_not_endless() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let mut node = Node::start(&world).await;
    let run = world.run("acme", "etl").await;
    let token = node.execute(&run).await;
    let long = "x".repeat(400 * 1024);
    let offset = node.log(token, 0, &long).await;
    let offset = node.log(token, offset, "short\n").await;
    while !matches!(node.hear().await, Ok(Heard::LogHave(have)) if have.offset == offset) {}
    let page = world.get(&format!("/v1/runs/{run}/logs?limit=1000")).await.expect(200);
    assert_eq!(page["lines"][0]["text"].as_str(), Some(long.as_str()));
    let next = &page["next_offset"];
    let page = world.get(&format!("/v1/runs/{run}/logs?offset={next}")).await.expect(200);
    assert_eq!(page["lines"][0]["text"], "short\n");
    node.log(token, offset, &"x".repeat(6 << 20)).await;
    let hung_up = loop {
        if let Err(status) = node.hear().await {
            break status;
        }
    };
    assert_eq!(hung_up.code(), tonic::Code::InvalidArgument, "{hung_up}");
}
