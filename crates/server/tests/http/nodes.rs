//! Nodes, as people see and change them.

use mainspring_model::{CellId, Labels, Node, NodeId, NodeState, Resources, Timestamp, limits};
use mainspring_store::{Outcome, Store, Transaction, Write};
use serde_json::{Value, json};

use super::World;

fn id(n: u128) -> NodeId {
    NodeId::new(Timestamp::from_micros(1), n)
}

fn row(id: NodeId, state: NodeState) -> Write {
    Write::PutNode(Box::new(Node {
        id,
        cell: CellId(0),
        name: format!("name-of-{id}").into(),
        pool: "default".into(),
        labels: Labels::new(),
        capacity: Resources::ZERO,
        slots: 1,
        weight: 1,
        handlers: Default::default(),
        state,
        revision: 1,
        joined_at: Timestamp::ZERO,
        updated_at: Timestamp::ZERO,
    }))
}

async fn commit(store: &dyn Store, writes: Vec<Write>) {
    let outcomes = store.commit(Transaction::unfenced(writes)).await.expect("a store");
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Applied));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_that_no_node_has_is_no_empty_list() {
    let world = World::start().await;
    commit(&*world.store().await, vec![row(id(1), NodeState::Left)]).await;
    for state in NodeState::NAMES {
        world.get(&format!("/v1/nodes?state={state}")).await.expect(200);
    }
    world.get("/v1/nodes?state=bad").await.problem(422, "invalid_request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_label_a_node_as_they_saw_it_one_does() {
    let world = World::start().await;
    commit(&*world.store().await, vec![row(id(1), NodeState::Left)]).await;
    let path = format!("/v1/nodes/{}", id(1));
    let tag = world.get(&path).await.header("etag").expect("a tag").to_owned();
    let label = async |zone: &str, tag: &str| {
        let body = json!({"labels": {"zone": zone}});
        world.with("PUT", &format!("{path}/labels"), &[("if-match", tag)], Some(&body)).await
    };
    let first = label("a", &tag).await;
    assert_eq!(first.expect(200)["labels"], json!({"zone": "a"}), "as the node's next hello makes them");
    label("b", &tag).await.problem(412, "precondition_failed");
    assert_eq!(world.get(&path).await.expect(200)["assigned_labels"], json!({"zone": "a"}));
    let now = first.header("etag").expect("a tag").to_owned();
    assert_eq!(world.get(&path).await.header("etag"), Some(now.as_str()));
    world
        .with("DELETE", &path, &[("if-match", tag.as_str())], None)
        .await
        .problem(412, "precondition_failed");
    label("c", &now).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_empties_itself_before_it_leaves_is_draining() {
    let world = World::start().await;
    let Write::PutNode(mut leaving) = row(id(1), NodeState::Up) else { unreachable!("a node's row") };
    (leaving.slots, leaving.capacity.cpu_milli) = (0, 4_000);
    commit(&*world.store().await, vec![Write::PutNode(leaving), row(id(2), NodeState::Up)]).await;
    let listed = async |state: &str| {
        let found = world.get(&format!("/v1/nodes?state={state}")).await.expect(200);
        found["items"].as_array().expect("nodes").iter().map(|node| node["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed("draining").await, [json!(id(1))]);
    assert_eq!(listed("up").await, [json!(id(2))]);
    let pools = world.get("/v1/pools").await.expect(200);
    let pool = &pools["items"][0];
    assert_eq!(pool["nodes"], json!({"draining": 1, "up": 1}), "{pools}");
    assert_eq!((&pool["slots"], &pool["capacity"]), (&json!(1), &json!({})), "what leaves is not counted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_silent_and_has_runs_is_found() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let run = world.run("acme", "etl").await;
    let mut node = super::node::Node::start(&world).await;
    node.execute(&run).await;
    let is_found =
        async || world.get("/v1/doctor").await.expect(200).to_string().contains("is silent and has 1 run");
    assert!(!is_found().await);
    drop(node);
    while !is_found().await {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_lost_is_missed_until_it_is_removed() {
    let world = World::start().await;
    let store = world.store().await;
    // More than one page of others, which come first.
    let others: Vec<Write> =
        (0..limits::PAGE_ROWS_MAX as u128).map(|n| row(id(n), NodeState::Left)).collect();
    commit(&*store, others).await;
    let lost = id(1 << 40);
    commit(&*store, vec![row(lost, NodeState::Lost)]).await;
    let token = world.app.issue_join_token(None).await.expect("a token").token;
    world.app.redeem_join_token(&token, lost, "a", &[7; 32]).await.expect("a credential");
    let missed = async || {
        let doctor = world.get("/v1/doctor").await.expect(200);
        let says = |finding: &Value| finding["message"].as_str().is_some_and(|text| text.contains("is lost"));
        doctor["findings"].as_array().expect("findings").iter().any(says)
    };
    assert!(missed().await);
    world.call(&world.admin, "DELETE", &format!("/v1/nodes/{lost}"), None).await.expect(204);
    assert!(!missed().await);
}
