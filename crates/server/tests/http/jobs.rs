//! Jobs over the wire.

use serde_json::json;

use super::World;
use super::world::text;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_of_a_job_that_was_deleted_are_found_by_its_name() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    world.job("acme", "other").await;
    let run = world.run("acme", "etl").await;
    world.run("acme", "other").await;
    world.call(&world.admin, "DELETE", "/v1/jobs/etl?namespace=acme", None).await.expect(204);
    let found = world.get("/v1/runs?q=job:etl").await.expect(200);
    let ids: Vec<_> = found["items"].as_array().expect("runs").iter().map(|run| run["id"].clone()).collect();
    assert_eq!(ids, [run.as_str()], "{found}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_written_in_three_languages() {
    let world = World::start().await;
    let bearer = format!("Bearer {}", world.admin);
    for (kind, body) in [
        ("application/json", r#"{"name": "etl", "script": "true"}"#),
        ("application/yaml", "name: etl\nscript: 'true'\n"),
        ("application/toml", "name = \"etl\"\nscript = \"true\"\n"),
    ] {
        let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
        let reply = world.send("PUT", "/v1/jobs/etl?namespace=acme/data", &headers, body.as_bytes()).await;
        let expected = if kind == "application/json" { 201 } else { 200 };
        let job = reply.expect(expected);
        assert_eq!((&job["version"], &job["namespace"]), (&json!(1), &json!("acme/data")), "{kind}");
    }
    let headers = [("authorization", bearer.as_str()), ("content-type", "text/html")];
    let reply = world.send("PUT", "/v1/jobs/etl", &headers, b"x").await;
    reply.problem(415, "unsupported_media_type");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_are_compared_and_changes_are_conditional() {
    let world = World::start().await;
    world.job("default", "etl").await;
    let change = json!({"name": "etl", "script": "true", "retry": {"max": 2}});
    let plan = world.put("/v1/jobs/etl?dry_run=true", change.clone()).await.expect(200);
    assert_eq!((&plan["outcome"], &plan["changes"][0]["path"]), (&json!("updated"), &json!("retry")));
    assert_eq!(world.get("/v1/jobs/etl").await.expect(200)["version"], 1);
    let stale = world.with("PUT", "/v1/jobs/etl", &[("if-match", "\"9\"")], Some(&change)).await;
    stale.problem(412, "precondition_failed");
    let once = world.with("PUT", "/v1/jobs/etl", &[("if-none-match", "*")], Some(&change)).await;
    once.problem(412, "precondition_failed");
    let updated = world.with("PUT", "/v1/jobs/etl", &[("if-match", "\"1\"")], Some(&change)).await;
    assert_eq!(updated.expect(200)["version"], 2);
    assert_eq!(updated.header("etag"), Some("\"2\""));
    let same = world.with("GET", "/v1/jobs/etl", &[("if-none-match", "\"2\"")], None).await;
    assert_eq!((same.status, same.body.len()), (304, 0));
    let versions = world.get("/v1/jobs/etl/versions?limit=1").await.expect(200);
    assert_eq!(versions["items"][0]["version"], 2);
    let older = world.get(&format!("/v1/jobs/etl/versions?cursor={}", text(&versions["next_cursor"]))).await;
    assert_eq!(older.expect(200)["items"][0]["version"], 1);
    let diff = world.get("/v1/jobs/etl/diff?from=1&to=2").await.expect(200);
    assert_eq!(diff["changes"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_paused_resumed_and_removed() {
    let world = World::start().await;
    world.job("default", "etl").await;
    let paused = world.post("/v1/jobs/etl/pause", json!({"note": "look first"})).await.expect(200);
    assert_eq!((&paused["pause"]["by"], &paused["pause"]["note"]), (&json!("admin"), &json!("look first")));
    let run = world.run("default", "etl").await;
    let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
    assert_eq!(why["reason"]["kind"], "paused", "{why}");
    let resumed = world.post("/v1/jobs/etl/resume", json!({})).await.expect(200);
    assert!(resumed.get("pause").is_none());
    world.call(&world.admin, "DELETE", "/v1/jobs/etl", None).await.expect(204);
    world.get("/v1/jobs/etl").await.problem(404, "not_found");
    world.get(&format!("/v1/runs/{run}")).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_problem_of_a_file_is_told() {
    let world = World::start().await;
    let spec = json!({"name": "etl", "script": "true", "retri": {}, "timeout": {"run": "soon"}});
    let problem = world.put("/v1/jobs/etl", spec).await.problem(422, "invalid_spec");
    let paths: Vec<&str> =
        problem["errors"].as_array().unwrap().iter().map(|error| error["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"timeout.run") && paths.contains(&"retri"), "{problem}");
    let other = json!({"name": "other", "script": "true"});
    world.put("/v1/jobs/etl", other).await.problem(422, "invalid_spec");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_show_what_one_may_see() {
    let world = World::start().await;
    for namespace in ["acme/data", "acme/web", "rival"] {
        world.job(namespace, "etl").await;
    }
    let ann = world.somebody("ann", Some("acme/data"), Some("viewer")).await;
    world.put("/v1/members/ann?namespace=rival", json!({"role": "viewer"})).await.expect(201);
    let seen = world.call(&ann, "GET", "/v1/jobs", None).await.expect(200);
    let places: Vec<&str> =
        seen["items"].as_array().unwrap().iter().map(|job| job["namespace"].as_str().unwrap()).collect();
    assert_eq!(places, ["acme/data", "rival"]);
    let all = world.get("/v1/jobs?namespace=acme&limit=1").await.expect(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 1);
    assert!(all["next_cursor"].is_string());
}
