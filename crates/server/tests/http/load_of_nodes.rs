//! What nodes reserve and use, for those who look after them and, without the details, for viewers of a namespace.

use mainspring_wire::agent::node_word::Word as Said;
use mainspring_wire::agent::{Heartbeat, NodeUsage};
use serde_json::json;

use super::World;
use super::node::Node;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_tells_what_it_reserves_uses_and_used() {
    let world = World::start().await;
    let mut node = Node::start(&world).await;
    let usage = Some(NodeUsage { cpu_milli: 250, memory_bytes: 7 << 20 });
    node.say(Said::Heartbeat(Heartbeat { session: 1, beat: 2, held: Vec::new(), usage })).await;
    let job = json!({"name": "etl", "script": "true", "resources": {"cpu": "400m", "memory": "256Mi"}});
    world.put("/v1/jobs/etl?namespace=acme", job).await.expect(201);
    let run = world.run("acme", "etl").await;
    node.execute(&run).await;
    let id = world.node().await;
    let seen = loop {
        let seen = world.get(&format!("/v1/nodes/{id}")).await.expect(200);
        if seen["load"].is_object() && seen["running"] == 1 {
            break seen;
        }
    };
    assert_eq!(seen["reserved"], json!({"cpu": "400m", "memory": "256Mi"}), "{seen}");
    assert_eq!((&seen["state"], &seen["cpu_used_milli"]), (&json!("up"), &json!(250)));
    assert_eq!(seen["load"]["cpu_milli"], json!([250]), "one sample in this minute: {seen}");
    assert_eq!(seen["load"]["memory_bytes"], json!([7 << 20]));
    let plain = world.get("/v1/nodes").await.expect(200);
    assert!(plain["items"][0].get("load").is_none(), "{plain}");
    let listed = world.get("/v1/nodes?with=load").await.expect(200);
    assert_eq!(listed["items"][0]["load"], seen["load"]);
    let pools = world.get("/v1/pools").await.expect(200);
    let pool = &pools["items"][0];
    assert_eq!((&pool["reserved"], &pool["cpu_used_milli"]), (&seen["reserved"], &json!(250)), "{pools}");
    world.get("/v1/nodes?with=load&limit=201").await.problem(422, "invalid_request");
    world.get("/v1/nodes?with=loads").await.problem(422, "invalid_request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn viewers_of_a_namespace_see_nodes_without_their_labels() {
    let world = World::start().await;
    let _node = Node::start(&world).await;
    let id = world.node().await;
    world.put(&format!("/v1/nodes/{id}/labels"), json!({"labels": {"zone": "a"}})).await.expect(200);
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    world.call(&ann, "GET", "/v1/nodes", None).await.problem(403, "forbidden");
    world.call(&ann, "GET", "/v1/nodes?namespace=rival", None).await.problem(403, "forbidden");
    let seen = world.call(&ann, "GET", "/v1/nodes?namespace=acme&with=load", None).await.expect(200);
    let node = &seen["items"][0];
    assert_eq!((&node["name"], &node["state"], &node["slots"]), (&json!("fake"), &json!("up"), &json!(4)));
    assert_eq!((&node["labels"], &node["reduced"]), (&json!({}), &json!(true)), "{seen}");
    for hidden in ["assigned_labels", "handlers", "agent_version", "load"] {
        assert!(node.get(hidden).is_none(), "{hidden} in {seen}");
    }
    let pools = world.call(&ann, "GET", "/v1/pools?namespace=acme", None).await.expect(200);
    assert_eq!(pools["items"][0]["slots"], 4, "{pools}");
    let full = world.get("/v1/nodes?namespace=acme").await.expect(200);
    assert_eq!(full["items"][0]["assigned_labels"], json!({"zone": "a"}), "who may see all does");
}
