//! Calendars over the wire: put, inherited, heeded, and not removed under those who heed them.

use serde_json::{Value, json};

use super::World;

fn job(calendar: &str) -> Value {
    json!({"name": "daily", "script": "true", "triggers": [{"cron": "0 9 * * *", "calendar": calendar}]})
}

/// The owner hears of a change right after it was answered.
async fn until_next(world: &World, trigger: &str, expected: &str) {
    let planned = async { while world.get(trigger).await.expect(200)["next"] != expected {} };
    let patience = std::time::Duration::from_secs(600);
    tokio::time::timeout(patience, planned)
        .await
        .unwrap_or_else(|_| panic!("{trigger} never came to {expected}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calendar_of_the_parent_holds_below_and_the_nearest_is_heeded() {
    let world = World::start().await;
    let path = "/v1/jobs/daily?namespace=acme/data";
    let refused = world.put(path, job("rest")).await.expect(422);
    assert_eq!(refused["errors"][0]["path"], "triggers[0].calendar");

    let all_week = json!(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]);
    world
        .put("/v1/calendars/rest?namespace=acme", json!({"weekend": all_week, "working": ["2030-05-05"]}))
        .await
        .expect(201);
    world.put(path, job("rest")).await.expect(201);
    let trigger = "/v1/jobs/daily/triggers/cron?namespace=acme/data";
    assert_eq!(world.get(trigger).await.expect(200)["next"], "2030-05-05T09:00:00.000000Z");

    // One that is nearer, and then a change of it.
    world
        .put(
            "/v1/calendars/rest?namespace=acme/data",
            json!({"weekend": all_week, "working": ["2030-06-06"]}),
        )
        .await
        .expect(201);
    until_next(&world, trigger, "2030-06-06T09:00:00.000000Z").await;
    let changed = json!({"weekend": all_week, "working": ["2030-03-03"]});
    world.put("/v1/calendars/rest?namespace=acme/data", changed).await.expect(200);
    until_next(&world, trigger, "2030-03-03T09:00:00.000000Z").await;

    let preview = "/v1/triggers/preview?namespace=acme/data&count=2&trigger=%7B%22cron%22:%220%209%20*%20*%20*%22,%22calendar%22:%22rest%22%7D";
    let moments = world.get(preview).await.expect(200);
    assert_eq!(moments["moments"].as_array().unwrap().len(), 1);
    assert_eq!(moments["moments"][0]["local"], "2030-03-03T09:00:00+00");

    // What is heeded stays; what is not goes.
    world.call(&world.admin, "DELETE", "/v1/calendars/rest?namespace=acme/data", None).await.expect(409);
    world.call(&world.admin, "DELETE", "/v1/calendars/rest?namespace=acme", None).await.expect(204);
    let names: Vec<Value> = world.get("/v1/calendars").await.expect(200)["items"].as_array().unwrap().clone();
    assert_eq!(names.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_problem_of_a_calendar_is_told() {
    let world = World::start().await;
    let wrong = json!({"off": ["2026-13-01", "12-25"], "working": ["12-25"], "blackouts": ["22-23"]});
    let refused = world.put("/v1/calendars/rest", wrong).await.expect(422);
    let fields: Vec<&str> =
        refused["errors"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(fields, ["off[0]", "blackouts[0]", "working[0]"]);
    world.put("/v1/calendars/Rest%20Days", json!({})).await.expect(422);
    world.put("/v1/calendars/rest", json!({"weekdays": []})).await.expect(422);
}
