//! Why a run waits: what would unblock it, for whom, and what each node lacks for it.

use serde_json::{Value, json};

use super::World;
use super::node::Node;
use super::world::text;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_unblocks_a_run_can_be_sent_as_it_is_told() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    world.post("/v1/jobs/etl/pause?namespace=acme", json!({})).await.expect(200);
    let run = world.run("acme", "etl").await;
    let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
    assert_eq!(operations(&why), ["job.resume", "run.cancel"], "{why}");
    assert!(text(&why["summary_zh"]).starts_with("作业被 admin 暂停；"), "{why}");
    let resume = &why["actions"][0];
    assert_eq!((&resume["target"], &resume["allowed"]), (&json!("etl"), &json!(true)));
    let (method, path) = (text(&resume["method"]), text(&resume["path"]));
    assert_eq!(method, "POST");
    world.post(&path, resume["body"].clone()).await.expect(200);
    let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
    assert_eq!(why["reason"]["kind"], "no_node", "{why}");
    let cancel = action(&why, "run.cancel");
    world.post(&text(&cancel["path"]), cancel["body"].clone()).await.expect(202);
    let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
    assert_eq!(
        (operations(&why), &why["cause"]["message_zh"]),
        (vec!["run.rerun".into()], &json!("由 admin 取消"))
    );
    let rerun = action(&why, "run.rerun");
    world.post(&text(&rerun["path"]), rerun["body"].clone()).await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_say_what_the_caller_may_not_do() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let run = world.run("acme", "etl").await;
    let allowed = async |role: &str| -> Vec<String> {
        let somebody = world.somebody(role, Some("acme"), Some(role)).await;
        let why = world.call(&somebody, "GET", &format!("/v1/runs/{run}/why"), None).await.expect(200);
        let items = why["actions"].as_array().expect("actions").clone();
        items
            .iter()
            .filter(|item| item["allowed"] == json!(true))
            .map(|item| text(&item["operation"]))
            .collect()
    };
    assert_eq!(allowed("viewer").await, [] as [&str; 0]);
    assert_eq!(allowed("operator").await, ["run.cancel"]);
    assert_eq!(allowed("editor").await, ["job.put", "run.cancel"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_node_says_what_it_lacks() {
    let world = World::start().await;
    let _node = Node::start(&world).await;
    let large = json!({"name": "large", "script": "true", "resources": {"memory": "8Gi"}});
    world.put("/v1/jobs/large?namespace=acme", large).await.expect(201);
    let run = world.run("acme", "large").await;
    let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
    let verdict = &why["nodes"][0];
    assert_eq!((&verdict["name"], &verdict["lacks"]), (&json!("fake"), &json!("capacity")), "{why}");
    assert_eq!((&verdict["wanted"], &verdict["has"]), (&json!("8 GiB of memory"), &json!("1 GiB of memory")));
    let amount = json!({"dimension": "memory", "wanted": 8_u64 << 30, "has": 1_u64 << 30});
    assert_eq!(verdict["amount"], amount);
    let node = text(&verdict["id"]);
    world.post(&format!("/v1/nodes/{node}/drain"), json!({})).await.expect(200);
    world.job("acme", "etl").await;
    let run = world.run("acme", "etl").await;
    let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
    assert_eq!(
        (&why["nodes"][0]["lacks"], &why["nodes"][0]["away"]),
        (&json!("available"), &json!("draining"))
    );
    let resume = action(&why, "node.resume");
    assert_eq!(resume["target"], "fake");
    world.post(&text(&resume["path"]), json!({})).await.expect(200);
    while world.get(&format!("/v1/runs/{run}")).await.expect(200)["state"] != "running" {}
    let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
    assert_eq!((operations(&why), &why["nodes"]), (vec!["run.cancel".into()], &json!([])), "{why}");
}

fn operations(why: &Value) -> Vec<String> {
    why["actions"].as_array().expect("actions").iter().map(|action| text(&action["operation"])).collect()
}

fn action<'a>(why: &'a Value, operation: &str) -> &'a Value {
    let actions = why["actions"].as_array().expect("actions");
    actions
        .iter()
        .find(|action| action["operation"] == operation)
        .unwrap_or_else(|| panic!("{operation} in {why}"))
}
