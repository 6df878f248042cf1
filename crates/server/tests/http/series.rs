//! How runs ended, step by step: from real runs of a node, so that roll-ups and rows are those of the engine.

use serde_json::{Value, json};

use super::World;
use super::world::text;

fn sum(series: &Value, what: &str) -> u64 {
    let points = series["points"].as_array().expect("points").iter();
    let sum = points.map(|point| point[what].as_u64().unwrap_or_default()).sum();
    assert_eq!(series["total"][what], sum, "{series}");
    sum
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_are_told_by_step_job_and_namespace() {
    let world = World::start().await;
    for (namespace, job, count) in [("acme/data", "etl", 3), ("acme", "web", 2), ("rival", "own", 1)] {
        world.job(namespace, job).await;
        for _ in 0..count {
            let run = world.run(namespace, job).await;
            world.post(&format!("/v1/runs/{run}/cancel"), json!({})).await.expect(202);
        }
    }
    let all = world.get("/v1/stats/series").await.expect(200);
    assert_eq!((all["groups"].as_array().map(Vec::len), sum(&all, "cancelled")), (Some(0), 6), "{all}");
    let point = &all["points"][0];
    for absent in ["queued_ms_mean", "running_ms_mean", "queued_ms", "running_ms"] {
        assert!(point.get(absent).is_none(), "nothing ran: {point}");
    }
    let by_job = world.get("/v1/stats/series?by=job&namespace=acme").await.expect(200);
    let names: Vec<String> =
        by_job["groups"].as_array().expect("groups").iter().map(|group| text(&group["job_name"])).collect();
    assert_eq!(names, ["etl", "web"], "{by_job}");
    let by_place = world.get("/v1/stats/series?by=namespace").await.expect(200);
    assert_eq!(by_place["groups"].as_array().map(Vec::len), Some(3), "{by_place}");
    let one = world.get("/v1/stats/series?namespace=acme/data&job=etl&step=1d").await.expect(200);
    assert_eq!((sum(&one, "cancelled"), &one["step_s"]), (3, &json!(86_400)));
    let ann = world.somebody("ann", Some("rival"), Some("viewer")).await;
    let own = world.call(&ann, "GET", "/v1/stats/series", None).await.expect(200);
    assert_eq!(sum(&own, "cancelled"), 1);
    for (query, field) in [
        ("step=90m", "step"),
        ("step=0s", "step"),
        ("step=soon", "step"),
        ("from=2020-01-01T00:00:00Z", "step"),
        ("from=2100-01-01T00:00:00Z", "from"),
        ("by=node", "by"),
    ] {
        let reply = world.get(&format!("/v1/stats/series?{query}")).await;
        assert_eq!(reply.problem(reply.status, "invalid_request")["errors"][0]["path"], field, "{query}");
    }
}
