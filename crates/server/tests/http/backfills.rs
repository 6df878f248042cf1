//! Backfills over the wire: planned, begun, listed, stopped, refused.

use mainspring_model::{BackfillId, Timestamp};
use serde_json::{Value, json};

use super::World;

const ALL: &str = "/v1/jobs/timed/triggers/every/backfills";

fn range() -> Value {
    json!({"from": "2026-01-01T00:00:00Z", "until": "2026-01-01T03:00:00Z"})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backfill_is_planned_begun_and_stopped() {
    let world = World::start().await;
    world.timed("default", "timed", json!([{"every": "1h"}])).await;
    let plan = world
        .get(&format!("{ALL}/plan?from=2026-01-01T00:00:00Z&until=2026-01-01T03:00:00Z"))
        .await
        .expect(200);
    assert_eq!(plan["total"], 3);
    let actions: Vec<&str> =
        plan["moments"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["run", "run", "run"]);
    assert_eq!(plan["moments"][0]["planned"], "2026-01-01T00:00:00.000000Z");

    let mut request = range();
    request["id"] = json!(BackfillId::new(Timestamp::ZERO, 1));
    let begun = world.post(ALL, request.clone()).await.expect(201);
    let again = world.post(ALL, request).await.expect(201);
    assert_eq!(begun["id"], again["id"]);
    let listed = world.get(ALL).await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "the same id is the same backfill");

    let stop = format!("{ALL}/{}/stop", begun["id"].as_str().unwrap());
    let stopped = world.post(&stop, Value::Null).await.expect(200);
    assert!(stopped["stopped_by"].is_string());
    let unknown = format!("{ALL}/{}/stop", BackfillId::new(Timestamp::ZERO, 9));
    world.post(&unknown, Value::Null).await.expect(404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_made_up_for_is_refused_by_name() {
    let world = World::start().await;
    world
        .timed("default", "timed", json!([{"every": "1h"}, {"delay": "1h"}, {"every": "1s", "name": "busy"}]))
        .await;
    let check = async |path: &str, body: Value, field: &str| {
        let refused = world.post(path, body).await.expect(422);
        assert_eq!(refused["errors"][0]["path"], field, "{refused}");
    };
    check(ALL, json!({"from": "2026-01-01T03:00:00Z", "until": "2026-01-01T03:00:00Z"}), "from").await;
    check(ALL, json!({"from": "2026-01-01T03:10:00Z", "until": "2026-01-01T03:20:00Z"}), "from").await;
    let mut many = range();
    many["max_active"] = json!(101);
    check(ALL, many, "max_active").await;
    check("/v1/jobs/timed/triggers/delay/backfills", range(), "trigger").await;
    let busy = json!({"from": "2020-01-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"});
    check("/v1/jobs/timed/triggers/busy/backfills", busy, "from").await;
}
