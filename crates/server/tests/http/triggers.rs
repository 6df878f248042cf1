//! Triggers over the wire.

use serde_json::{Value, json};

use super::World;
use super::world::text;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn triggers_are_written_with_their_job_and_go_with_it() {
    let world = World::start().await;
    world
        .timed("acme/data", "etl", json!([{"cron": "0 3 * * *", "zone": "Asia/Shanghai"}, {"every": "1h"}]))
        .await;
    let listed = world.get("/v1/triggers?namespace=acme").await.expect(200);
    let names: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["cron", "every"]);
    let cron = &listed["items"][0];
    assert_eq!(cron["description"]["en"], "at 03:00 (Asia/Shanghai)");
    assert!(text(&cron["next"]).ends_with("T19:00:00.000000Z"), "{cron}");
    // What says the same stays where it is, what is gone is gone.
    world.timed("acme/data", "etl", json!([{"every": "1h", "misfire": "skip"}])).await;
    let left = world.get("/v1/jobs/etl/triggers?namespace=acme/data").await.expect(200);
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&left["items"][0]["version"], &left["items"][0]["spec"]["misfire"]),
        (&json!(2), &json!({"policy": "skip"}))
    );
    world.get("/v1/jobs/etl/triggers/cron?namespace=acme/data").await.problem(404, "not_found");
    world.call(&world.admin, "DELETE", "/v1/jobs/etl?namespace=acme/data", None).await.expect(204);
    assert_eq!(world.get("/v1/triggers").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_that_names_a_job_that_is_not_there_is_told_everywhere() {
    let world = World::start().await;
    world.job("acme", "first").await;
    let triggers = json!([
        {"after": "nojob"},
        {"every": "1h", "needs": ["first", "other"]},
        {"name": "own", "after": "first"},
    ]);
    let spec = json!({"name": "etl", "script": "true", "triggers": triggers});
    let paths = |job: &Value| -> Vec<Value> {
        let warnings = job["warnings"].as_array().cloned().unwrap_or_default();
        warnings.into_iter().map(|warning| json!([warning["path"], warning["missing_job"]])).collect()
    };
    let expected = [json!(["triggers[0].after", "nojob"]), json!(["triggers[1].needs[1]", "other"])];
    let planned = world.put("/v1/jobs/etl?namespace=acme&dry_run=true", spec.clone()).await.expect(200);
    assert_eq!(paths(&planned), expected, "{planned}");
    let put = world.put("/v1/jobs/etl?namespace=acme", spec.clone()).await.expect(201);
    assert_eq!(paths(&put), expected, "{put}");
    let again = world.put("/v1/jobs/etl?namespace=acme", spec.clone()).await.expect(200);
    assert_eq!((paths(&again), &again["outcome"]), (expected.to_vec(), &json!("unchanged")), "{again}");
    let missing = async || -> Vec<Value> {
        let listed = world.get("/v1/triggers").await.expect(200);
        listed["items"].as_array().unwrap().iter().map(|trigger| trigger["missing_jobs"].clone()).collect()
    };
    let found = async || {
        let doctor = world.get("/v1/doctor").await.expect(200);
        let says = |finding: &&Value| text(&finding["message"]).contains("there is no job");
        doctor["findings"].as_array().unwrap().iter().filter(says).count()
    };
    assert_eq!(missing().await, [json!(["nojob"]), json!(["other"]), Value::Null]);
    assert_eq!(found().await, 2);
    // A job of that name elsewhere is another.
    world.job("rival", "nojob").await;
    assert_eq!(found().await, 2);
    world.job("acme", "nojob").await;
    world.job("acme", "other").await;
    assert_eq!(missing().await, [Value::Null, Value::Null, Value::Null]);
    assert_eq!(found().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_that_is_not_there_has_no_history_and_one_of_a_paused_job_says_so() {
    let world = World::start().await;
    world.timed("default", "etl", json!([{"every": "1h"}])).await;
    assert_eq!(world.get("/v1/jobs/etl/triggers/every/history").await.expect(200)["items"], json!([]));
    world.get("/v1/jobs/etl/triggers/nosuch/history").await.problem(404, "not_found");
    world.post("/v1/jobs/etl/pause", json!({"note": "look"})).await.expect(200);
    for path in ["/v1/triggers", "/v1/jobs/etl/triggers"] {
        let listed = world.get(path).await.expect(200);
        assert_eq!(listed["items"][0]["job_pause"]["note"], "look", "{listed}");
    }
    world.post("/v1/jobs/etl/resume", json!({})).await.expect(200);
    assert!(world.get("/v1/triggers").await.expect(200)["items"][0]["job_pause"].is_null());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_is_paused_resumed_moved_and_fired() {
    let world = World::start().await;
    world.timed("default", "etl", json!([{"every": "1h"}])).await;
    let path = "/v1/jobs/etl/triggers/every";
    let stale = world.with("POST", &format!("{path}/pause"), &[("if-match", "\"9\"")], None).await;
    stale.problem(412, "precondition_failed");
    let paused = world.post(&format!("{path}/pause"), json!({"note": "look"})).await.expect(200);
    assert_eq!((&paused["pause"]["by"], &paused["pause"]["note"]), (&json!("admin"), &json!("look")));
    // Who asks does not wait for the clock, nor for the pause of the clock.
    let made = world.post(&format!("{path}/fire"), json!({})).await.expect(201);
    let run = world.get(&format!("/v1/runs/{}", text(&made["id"]))).await.expect(200);
    assert_eq!((&run["trigger"], &run["submitted_by"]), (&json!("every"), &json!("trigger:every")));
    let history = world.get(&format!("{path}/history")).await.expect(200);
    let line = &history["items"][0];
    assert_eq!(
        (&line["outcome"], &line["reason"], &line["run"]),
        (&json!("fired"), &json!("fired by admin"), &made["id"])
    );
    let resumed = world.post(&format!("{path}/resume"), json!({})).await.expect(200);
    assert!(resumed["pause"].is_null());
    let moved =
        world.put(&format!("{path}/cursor"), json!({"cursor": "2100-01-01T00:00:00Z"})).await.expect(200);
    assert_eq!(moved["cursor"], "2100-01-01T00:00:00.000000Z");
    assert_eq!(world.get(path).await.header("etag").map(|tag| tag.len() > 2), Some(true));
    let audit = world.get("/v1/audit?limit=50").await.expect(200);
    let did: Vec<&Value> =
        audit["items"].as_array().unwrap().iter().map(|entry| &entry["operation"]).collect();
    for operation in ["trigger.pause", "trigger.resume", "trigger.fire", "trigger.cursor"] {
        assert!(did.contains(&&json!(operation)), "{operation} in {did:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_is_previewed_with_the_turns_of_the_clock() {
    let world = World::start().await;
    let ask = |trigger: &str, count: u32| {
        let trigger = trigger.replace('"', "%22").replace(' ', "%20").replace('{', "%7B").replace('}', "%7D");
        format!("/v1/triggers/preview?trigger={trigger}&after=2027-03-27T12:00:00Z&count={count}")
    };
    let nightly = r#"{"cron": "30 2 * * *", "zone": "Europe/Berlin"}"#;
    let preview = world.get(&ask(nightly, 2)).await.expect(200);
    let moments = preview["moments"].as_array().unwrap();
    assert_eq!(moments[0]["at"], "2027-03-28T01:00:00.000000Z");
    assert_eq!(moments[0]["local"], "2027-03-28T03:00:00+02");
    assert_eq!(moments[0]["note"], "clocks are turned forward by 1h before this");
    assert_eq!(moments[1]["note"], Value::Null);
    for (trigger, count, path, code) in [
        (r#"{"cron": "61 * * * *"}"#, 2, "trigger.cron", "invalid_spec"),
        (nightly, 5_000, "count", "invalid_request"),
        ("{", 1, "trigger", "invalid_spec"),
    ] {
        let problem = world.get(&ask(trigger, count)).await.problem(422, code);
        assert_eq!(problem["errors"][0]["path"], path, "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_read_the_same_one_changes_it() {
    let world = World::start().await;
    world.timed("default", "etl", json!([{"cron": "0 0 1 1 *"}])).await;
    let run = world.run("default", "etl").await;
    let _node = super::node::Node::start(&world).await;
    let node = world.node().await;
    let trigger = "/v1/jobs/etl/triggers/cron";
    let tag = |reply: super::Reply| reply.header("etag").expect("a tag").to_owned();
    let same = async |method: &str, path: &str, tag: &str, body: serde_json::Value| {
        let headers = [("if-match", tag)];
        let calls = (0..12).map(|_| world.with(method, path, &headers, Some(&body)));
        let replies = futures_util::future::join_all(calls).await;
        let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
        let done = statuses.iter().filter(|status| (200..300).contains(*status)).count();
        let stale = statuses.iter().filter(|status| **status == 412).count();
        assert_eq!((done, stale), (1, 11), "{method} {path}: {statuses:?}");
    };
    let known = tag(world.get(trigger).await);
    same("POST", &format!("{trigger}/pause"), &known, json!({"note": "a"})).await;
    let known = tag(world.get(trigger).await);
    same("PUT", &format!("{trigger}/cursor"), &known, json!({"cursor": "2030-01-01T00:00:00Z"})).await;
    let known = tag(world.get(&format!("/v1/nodes/{node}")).await);
    same("POST", &format!("/v1/nodes/{node}/drain"), &known, json!({})).await;
    let cell = world.post("/v1/cells/0/pause", json!({})).await;
    same("POST", "/v1/cells/0/pause", &tag(cell), json!({"note": "again"})).await;
    let known = tag(world.get(&format!("/v1/runs/{run}")).await);
    same("POST", &format!("/v1/runs/{run}/cancel"), &known, json!({})).await;
}
