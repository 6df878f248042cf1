//! Planned load over the wire.

use serde_json::{Value, json};

use super::World;

const ASK: &str = "/v1/triggers/load?from=2100-01-04T00:00:00Z&days=2";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_is_told_by_hour_and_pool_with_its_crowds() {
    let world = World::start().await;
    world.timed("acme", "one", json!([{"cron": "0 3 * * *"}])).await;
    world.timed("acme/data", "two", json!([{"cron": "@daily"}, {"every": "3h"}])).await;
    world.timed("other", "three", json!([{"cron": "0 3 * * *"}, {"after": "one"}])).await;
    let load = world.get(&format!("{ASK}&namespace=acme")).await.expect(200);
    assert_eq!((&load["triggers"], &load["following"], &load["firings"]), (&json!(3), &json!(0), &json!(20)));
    assert_eq!(load["until"], "2100-01-06T00:00:00.000000Z");
    let pool = &load["pools"][0];
    assert_eq!(
        (&pool["pool"], &pool["firings"][0], &pool["firings"][3]),
        (&json!("default"), &json!(2), &json!(2))
    );
    assert_eq!(pool["firings"].as_array().map(Vec::len), Some(48));
    let all = world.get(ASK).await.expect(200);
    assert_eq!((&all["triggers"], &all["following"]), (&json!(4), &json!(1)));
    let crowd = &all["crowds"][0];
    assert_eq!((&crowd["at"], &crowd["count"]), (&json!("2100-01-04T03:00:00.000000Z"), &json!(3)));
    let spread = |crowd: &Value, at: usize| crowd["triggers"][at]["spread"].clone();
    assert_eq!(spread(crowd, 0), json!({"field": "cron", "value": "H 3 * * *"}));
    // What is paused plans nothing, by itself or with its job.
    world.post("/v1/jobs/one/pause?namespace=acme", json!({})).await.expect(200);
    world.post("/v1/jobs/two/triggers/every/pause?namespace=acme/data", json!({})).await.expect(200);
    let left = world.get(&format!("{ASK}&namespace=acme")).await.expect(200);
    assert_eq!((&left["triggers"], &left["firings"], &left["crowds"]), (&json!(1), &json!(2), &json!([])));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_makes_sense_is_asked_and_only_what_is_theirs_is_told() {
    let world = World::start().await;
    for wrong in ["days=0", "days=32", "days=x", "from=soon", "from=9999-12-29T00:00:00Z"] {
        world.get(&format!("/v1/triggers/load?{wrong}")).await.problem(422, "invalid_request");
    }
    let nothing = world.get("/v1/triggers/load").await.expect(200);
    assert_eq!(
        (&nothing["firings"], &nothing["pools"], &nothing["truncated"]),
        (&json!(0), &json!([]), &json!(false))
    );
    world.timed("acme", "one", json!([{"every": "1h"}])).await;
    world.timed("other", "two", json!([{"every": "1h"}])).await;
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    let theirs = world.call(&ann, "GET", "/v1/triggers/load?days=1", None).await.expect(200);
    assert_eq!((&theirs["triggers"], &theirs["firings"]), (&json!(1), &json!(24)));
}
