//! Runs over the wire. No node is there: runs wait, which is enough to look at them.

use std::time::Duration;

use serde_json::{Value, json};

use super::World;
use super::node::Node;
use super::world::text;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_submitted_looked_at_and_ended() {
    let world = World::start().await;
    let spec = json!({"name": "etl", "script": "true", "labels": {"team": "data"}, "retry": {"max": 3},
        "parameters": {"day": "string"}});
    world.put("/v1/jobs/etl?namespace=acme", spec).await.expect(201);
    let missing = world.post("/v1/runs?namespace=acme", json!({"job": "etl"})).await;
    assert_eq!(missing.problem(422, "invalid_parameter")["errors"][0]["path"], "params.day");
    let body = json!({"job": "etl", "params": {"day": "mon"}, "priority": {"level": 80}});
    let submitted = world.post("/v1/runs?namespace=acme", body).await;
    let id = text(&submitted.expect(201)["id"]);
    assert_eq!(submitted.header("location"), Some(format!("/v1/runs/{id}").as_str()));
    let run = world.get(&format!("/v1/runs/{id}")).await.expect(200);
    assert_eq!(run["params"], json!({"day": "mon"}));
    assert_eq!((&run["job_name"], &run["attempts_max"]), (&json!("etl"), &json!(4)));
    assert_eq!(run["labels"]["team"], "data");
    let why = world.get(&format!("/v1/runs/{id}/why")).await.expect(200);
    assert_eq!((&why["state"], &why["reason"]["kind"]), (&json!("waiting"), &json!("no_node")), "{why}");
    assert!(why["live"].as_bool().unwrap());
    let listed = world.get("/v1/runs?namespace=acme").await.expect(200);
    assert_eq!(listed["items"][0]["reason"]["kind"], "no_node", "{listed}");
    let own = json!({"spec": {"name": "once", "script": "true"}});
    let own = text(&world.post("/v1/runs?namespace=acme", own).await.expect(201)["id"]);
    let named = world.get("/v1/runs?namespace=acme&q=job:once").await.expect(200);
    assert_eq!((&named["items"][0]["id"], &named["items"][1]), (&json!(own), &Value::Null), "{named}");
    let early = world.post(&format!("/v1/runs/{id}/rerun"), json!({})).await;
    early.problem(409, "illegal_state");
    let ended = world.call(&world.admin, "POST", &format!("/v1/runs/{id}/cancel"), None).await.expect(202);
    assert_eq!(ended["state"], "cancelled");
    world
        .call(&world.admin, "POST", &format!("/v1/runs/{id}/retry"), None)
        .await
        .problem(409, "illegal_state");
    let timeline = world.get(&format!("/v1/runs/{id}/timeline")).await.expect(200);
    let kinds: Vec<&Value> =
        timeline["items"].as_array().unwrap().iter().map(|entry| &entry["kind"]).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), (&json!("accepted"), &json!("ended")), "{timeline}");
    let again = world.post(&format!("/v1/runs/{id}/rerun"), json!({})).await.expect(201);
    let again = world.get(&format!("/v1/runs/{}", text(&again["id"]))).await.expect(200);
    assert_eq!(again["params"], json!({"day": "mon"}));
    let logs = world.get(&format!("/v1/runs/{id}/logs")).await.expect(200);
    assert_eq!(logs["lines"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_was_not_the_jobs_fault_allows_one_more() {
    let world = World::start().await;
    let mut node = Node::start(&world).await;
    world
        .put("/v1/jobs/etl", json!({"name": "etl", "script": "true", "retry": {"max": 0}}))
        .await
        .expect(201);
    let id = world.run("default", "etl").await;
    node.refuse(&id).await;
    node.execute(&id).await;
    let run = world.get(&format!("/v1/runs/{id}")).await.expect(200);
    assert_eq!((&run["attempt"], &run["attempts_max"], &run["losses"]), (&json!(2), &json!(2), &json!(1)));
    let timeline = world.get(&format!("/v1/runs/{id}/timeline")).await.expect(200);
    let said = timeline["items"].as_array().unwrap().iter().map(|entry| text(&entry["message"]));
    let said: Vec<String> = said.filter(|message| message.starts_with("attempt")).take(3).collect();
    assert_eq!(
        said,
        [
            "attempt 1 of 1 placed on fake",
            "attempt 1 of 1 ended: refused by the node: no",
            "attempt 2 of 2 placed on fake",
        ]
    );
    // It goes on: that it has started is known to the owner only.
    loop {
        let timeline = world.get(&format!("/v1/runs/{id}/timeline")).await.expect(200);
        if timeline.to_string().contains("attempt 2 of 2 started") {
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn why_a_run_waits_names_what_is_asked_for() {
    let world = World::start().await;
    let _node = Node::start(&world).await;
    let why = async |placement: Value, resources: Value| {
        let spec = json!({"name": "large", "script": "true", "placement": placement, "resources": resources});
        let run = world.post("/v1/runs", json!({"spec": spec})).await.expect(201);
        world.get(&format!("/v1/runs/{}/why", text(&run["id"]))).await.expect(200)["reason"].clone()
    };
    let large = why(json!({}), json!({"cpu": 8})).await;
    assert_eq!(large["message"], "it needs 8 CPU; the only node that matches has 1", "{large}");
    assert_eq!(
        (&large["wanted"], &large["most"], &large["nodes"]),
        (&json!("8 CPU"), &json!("1 CPU"), &json!(1))
    );
    let pool = why(json!({"pool": "gpu"}), json!({})).await;
    assert_eq!(pool["message"], "no node is in pool `gpu`; pools with nodes: default (1)", "{pool}");
    assert_eq!((&pool["lacks"], &pool["pool"]), (&json!("pool"), &json!("gpu")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_tells_what_waits_and_for_what() {
    let world = World::with_options(|options| options.waiting_max = 5).await;
    world.job("acme/data", "etl").await;
    world.job("rival", "load").await;
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    let first = world.run("acme/data", "etl").await;
    world.run("acme/data", "etl").await;
    world.run("rival", "load").await;
    let queue = world.get("/v1/queue").await.expect(200);
    let counts = |queue: &Value| {
        let items = queue["items"].as_array().expect("items").iter();
        items.map(|item| (text(&item["job_name"]), item["count"].as_u64())).collect::<Vec<_>>()
    };
    assert_eq!(counts(&queue), [("etl".into(), Some(2)), ("load".into(), Some(1))], "{queue}");
    assert_eq!((&queue["waiting"], &queue["partial"]), (&json!(3), &json!(false)), "{queue}");
    let item = &queue["items"][0];
    assert_eq!((&item["pool"], &item["first"]), (&json!("default"), &json!(first)));
    assert_eq!(item["reason"]["kind"], "no_node", "{item}");
    let theirs = world.call(&ann, "GET", "/v1/queue", None).await.expect(200);
    assert_eq!((counts(&theirs), &theirs["waiting"]), (vec![("etl".into(), Some(2))], &json!(2)));
    let below = world.get("/v1/queue?namespace=rival").await.expect(200);
    assert_eq!(counts(&below), [("load".into(), Some(1))]);
    for _ in 0..5 {
        world.run("rival", "load").await;
    }
    assert_eq!(world.get("/v1/queue").await.expect(200)["partial"], true, "some are in the store alone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_counted_paged_both_ways_and_made_more_important() {
    let world = World::start().await;
    world.job("acme/data", "etl").await;
    world.job("rival", "load").await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.run("acme/data", "etl").await);
    }
    let other = world.run("rival", "load").await;
    world.post(&format!("/v1/runs/{other}/cancel"), json!({})).await.expect(202);
    let counts = world.get("/v1/runs/counts").await.expect(200);
    assert_eq!((&counts["matched"], &counts["exact"]), (&json!(6), &json!(true)), "{counts}");
    assert_eq!(counts["states"], json!({"cancelled": 1, "waiting": 5}));
    assert_eq!(counts["namespaces"][0], json!({"namespace": "acme/data", "count": 5}));
    let ann = world.somebody("ann", Some("rival"), Some("viewer")).await;
    let theirs = world.call(&ann, "GET", "/v1/runs/counts", None).await.expect(200);
    assert_eq!(theirs["matched"], 1, "{theirs}");
    let found = async |q: &str| world.get(&format!("/v1/runs?{q}")).await.expect(200);
    let seen = |page: &Value| {
        page["items"].as_array().expect("items").iter().map(|run| text(&run["id"])).collect::<Vec<_>>()
    };
    let newest: Vec<String> = ids.iter().rev().cloned().collect();
    let page = found("namespace=acme&limit=2").await;
    assert_eq!(seen(&page), newest[..2]);
    let next = found(&format!("namespace=acme&limit=2&cursor={}", text(&page["next_cursor"]))).await;
    assert_eq!(seen(&next), newest[2..4]);
    let back = found(&format!("namespace=acme&limit=2&cursor={}", text(&next["prev_cursor"]))).await;
    assert_eq!(seen(&back), newest[..2], "{back}");
    let sixth = world.run("acme/data", "etl").await;
    let fresh = found(&format!("namespace=acme&cursor={}", text(&page["prev_cursor"]))).await;
    assert_eq!(seen(&fresh), std::slice::from_ref(&sixth), "what was made since");
    assert_eq!(seen(&found("namespace=acme&order=created&limit=3").await), ids[..3]);
    assert_eq!(seen(&found("q=reason:no_node&namespace=acme&limit=1").await), [sixth]);
    assert_eq!(seen(&found(&format!("q=id:{other}")).await), [other]);
    found("q=text:LOAD%20by:admin").await["items"].as_array().filter(|all| all.len() == 1).expect("one");
    let path = format!("/v1/runs/{}/priority", ids[4]);
    let run = world.post(&path, json!({"priority": "service"})).await.expect(202);
    assert_eq!(run["priority"], 3 * 256 + 50);
    let queue = world.get("/v1/queue?namespace=acme").await.expect(200);
    assert!(
        queue["items"].as_array().is_some_and(|items| items.iter().any(|one| one["first"] == json!(ids[4]))),
        "{queue}"
    );
    let timeline = world.get(&format!("/v1/runs/{}/timeline", ids[4])).await.expect(200);
    assert!(
        timeline["items"].as_array().is_some_and(|all| all.iter().any(|one| one["kind"] == "prioritised"))
    );
    let wrong = world.post(&path, json!({"priority": {"level": 101}})).await.problem(422, "invalid_request");
    assert_eq!(wrong["errors"][0]["path"], "priority.level", "{wrong}");
    world.get("/v1/runs?order=took").await.problem(422, "invalid_request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn why_is_told_of_runs_that_are_only_in_the_store() {
    let world = World::with_options(|options| options.waiting_max = 2).await;
    world.job("default", "etl").await;
    let why = async |id: &str| world.get(&format!("/v1/runs/{id}/why")).await.expect(200);
    let later = json!({"job": "etl", "not_before": "2999-01-01T00:00:00Z"});
    let later = why(&text(&world.post("/v1/runs", later).await.expect(201)["id"])).await;
    assert_eq!(later["reason"]["message"], "not before 2999-01-01T00:00:00.000000Z", "{later}");
    assert_eq!(later["live"], true, "somebody owns its cell");
    let mut last = String::new();
    for _ in 0..5 {
        last = world.run("default", "etl").await;
    }
    let last = why(&last).await;
    assert_eq!((&last["reason"]["kind"], &last["live"]), (&json!("overflow"), &json!(true)), "{last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_would_help_can_be_typed_as_it_is_told() {
    let world = World::start().await;
    world.job("default", "etl").await;
    world.post("/v1/jobs/etl/pause", json!({})).await.expect(200);
    let run = world.run("default", "etl").await;
    let remedy = async || {
        let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
        assert!(text(&why["summary"]).ends_with(&text(&why["reason"]["remedy"])), "{why}");
        text(&why["reason"]["remedy"])
    };
    assert_eq!(remedy().await, "resume the job with `mainspring resume etl`");
    world.post("/v1/jobs/etl/resume", json!({})).await.expect(200);
    world.post("/v1/cells/0/pause", json!({})).await.expect(200);
    assert_eq!(remedy().await, "resume the cell with `mainspring resume --cell 0`");
    world.job("acme", "load").await;
    world.post("/v1/jobs/load/pause?namespace=acme", json!({})).await.expect(200);
    world.post("/v1/cells/0/resume", json!({})).await.expect(200);
    let run = world.run("acme", "load").await;
    let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
    assert_eq!(why["reason"]["remedy"], "resume the job with `mainspring resume -n acme load`");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_is_the_same_run() {
    let world = World::start().await;
    world.job("default", "etl").await;
    world.job("default", "other").await;
    let key = [("idempotency-key", "k1")];
    let first = world.with("POST", "/v1/runs", &key, Some(&json!({"job": "etl"}))).await.expect(201);
    let second = world.with("POST", "/v1/runs", &key, Some(&json!({"job": "etl"}))).await.expect(200);
    assert_eq!((&first["id"], &second["duplicate"]), (&second["id"], &json!(true)));
    let third = world.with("POST", "/v1/runs", &key, Some(&json!({"job": "other"}))).await;
    third.problem(422, "idempotency_mismatch");
    // What is left to the job may change, what is said may not.
    let changed = json!({"name": "etl", "script": "echo 2", "priority": "spare"});
    world.put("/v1/jobs/etl", changed).await.expect(200);
    let repeat = async |more: Value| {
        let mut body = json!({"job": "etl"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.with("POST", "/v1/runs", &key, Some(&body)).await
    };
    for same in [json!({}), json!({"version": 1})] {
        assert_eq!(repeat(same).await.expect(200)["id"], first["id"]);
    }
    for other in [json!({"version": 2}), json!({"priority": "service"}), json!({"force": true})] {
        repeat(other).await.problem(422, "idempotency_mismatch");
    }
    let batch = json!({"runs": [{"job": "etl"}, {"job": "etl"}]});
    let one =
        world.with("POST", "/v1/runs/batch", &[("idempotency-key", "b")], Some(&batch)).await.expect(200);
    let two =
        world.with("POST", "/v1/runs/batch", &[("idempotency-key", "b")], Some(&batch)).await.expect(200);
    assert_eq!(one["items"][1]["id"], two["items"][1]["id"]);
    assert_eq!(two["items"][1]["duplicate"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_answers_for_each() {
    let world = World::start().await;
    world.job("default", "etl").await;
    let runs: Vec<Value> = (0..2000).map(|n| json!({"job": if n == 7 { "none" } else { "etl" }})).collect();
    let result = world.post("/v1/runs/batch", json!({ "runs": runs })).await.expect(200);
    assert_eq!((&result["submitted"], &result["refused"]), (&json!(1999), &json!(1)));
    assert_eq!(result["items"][7]["errors"][0]["path"], "runs[7].job");
    let too_many: Vec<Value> = (0..10_001).map(|_| json!({"job": "etl"})).collect();
    world.post("/v1/runs/batch", json!({ "runs": too_many })).await.problem(422, "too_large");
    world.post("/v1/runs/batch", json!({"runs": []})).await.problem(422, "invalid_request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_found_by_query_and_acted_on_together() {
    let world = World::start().await;
    for name in ["etl", "web"] {
        world.job("acme", name).await;
    }
    for job in ["etl", "web", "etl"] {
        world.run("acme", job).await;
    }
    let count = |q: &'static str| {
        let world = &world;
        async move {
            let q = q.replace(' ', "%20").replace('>', "%3E");
            let page = world.get(&format!("/v1/runs?q={q}")).await.expect(200);
            page["items"].as_array().unwrap().len()
        }
    };
    assert_eq!(count("").await, 3);
    assert_eq!(count("job:etl state:waiting").await, 2);
    assert_eq!(count("-job:etl created>-1h").await, 1);
    assert_eq!(count("state:ended").await, 0);
    assert_eq!(count("namespace:rival").await, 0);
    let wrong = world.get("/v1/runs?q=state:waiting%20state:oops").await.problem(422, "invalid_query");
    assert!(text(&wrong["detail"]).contains("position 21"), "{wrong}");
    let body = json!({"action": "cancel", "q": "job:etl"});
    let preview = world.post("/v1/runs/bulk", body).await.expect(200);
    let counts = &preview["counts"];
    assert_eq!((&counts["matched"], &counts["exact"]), (&json!(2), &json!(true)), "{preview}");
    assert_eq!(counts["states"], json!({"waiting": 2}));
    assert_eq!(preview["sample"].as_array().map(Vec::len), Some(2));
    let body = json!({"action": "cancel", "q": "job:etl", "preview": false, "expected_max": 1});
    world.post("/v1/runs/bulk", body).await.problem(412, "precondition_failed");
    let body = json!({"action": "cancel", "q": "job:etl", "preview": false});
    assert_eq!(world.bulk(body).await["done"], 2);
    assert_eq!(count("state:cancelled job:etl cause:cancelled").await, 2);
    let page = world.get("/v1/runs?limit=2").await.expect(200);
    let next =
        world.get(&format!("/v1/runs?limit=2&cursor={}", text(&page["next_cursor"]))).await.expect(200);
    assert_eq!(next["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_skipped_run_names_the_policy_and_the_run_that_was_active() {
    let world = World::start().await;
    let spec = json!({"name": "etl", "script": "true", "concurrency": {"limit": 1, "overlap": "skip"}});
    world.put("/v1/jobs/etl?namespace=acme", spec).await.expect(201);
    let first = world.run("acme", "etl").await;
    let mut node = Node::start(&world).await;
    node.execute(&first).await;
    let second = world.run("acme", "etl").await;
    let why = world.get(&format!("/v1/runs/{second}/why")).await.expect(200);
    let words = format!("overlap policy `skip` with limit 1: {first} was active");
    assert_eq!((&why["state"], &why["summary"]), (&json!("skipped"), &json!(words)), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_that_is_not_text_is_given_as_it_was_written() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let run = world.run("acme", "etl").await;
    let mut node = Node::start(&world).await;
    let token = node.execute(&run).await;
    let written: Vec<u8> =
        (0..600_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut offset = 0;
    for piece in written.chunks(60_000) {
        offset = node.log_bytes(token, offset, piece).await;
    }
    let path = format!("/v1/runs/{run}/logs");
    while world.get(&path).await.expect(200)["length"] != offset {
        tokio::task::yield_now().await;
    }
    let whole = world.with("GET", &path, &[("accept", "text/plain")], None).await;
    assert!(whole.body == written, "{} bytes of {}", whole.body.len(), written.len());
    let (mut told, mut next) = (Vec::new(), 0);
    while next < offset {
        let page = world.get(&format!("{path}?offset={next}")).await.expect(200);
        let page: mainspring_wire::api::LogPage = serde_json::from_value(page).unwrap();
        told.extend(page.lines.iter().flat_map(|line| line.content().into_owned()));
        next = page.next_offset;
    }
    assert!(told == written, "{} bytes of {}", told.len(), written.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_on_every_run_has_to_say_so() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let run = world.run("acme", "etl").await;
    for action in ["cancel", "kill", "retry", "rerun"] {
        for (q, all) in
            [(json!(""), false), (json!(" \t"), false), (Value::Null, false), (json!("job:etl"), true)]
        {
            let mut body = json!({"action": action, "q": q, "all": all, "preview": false});
            if q.is_null() {
                body.as_object_mut().unwrap().remove("q");
            }
            for place in ["", "?namespace=acme"] {
                let refused = world.post(&format!("/v1/runs/bulk{place}"), body.clone()).await;
                let refused = refused.problem(422, "invalid_request");
                assert_eq!(refused["errors"][0]["path"], "q", "{refused}");
            }
        }
    }
    assert_eq!(world.get(&format!("/v1/runs/{run}")).await.expect(200)["state"], "waiting");
    let body = json!({"action": "cancel", "all": true, "preview": false});
    assert_eq!(world.bulk(body).await["done"], 1);
    let audit = world.get("/v1/audit?operation=run.bulk&limit=1").await.expect(200);
    assert_eq!(audit["items"][0]["detail"], "Cancel 1 runs: all", "{audit}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_operation_goes_on_by_itself_within_what_its_starter_may_do() {
    let world = World::start().await;
    for namespace in ["acme", "rival"] {
        world.job(namespace, "etl").await;
    }
    let mine = [world.run("acme", "etl").await, world.run("acme", "etl").await];
    let theirs = world.run("rival", "etl").await;
    let ann = world.somebody("ann", Some("acme"), Some("operator")).await;
    let body = json!({"action": "prioritise", "all": true, "priority": {"class": "spare", "level": 7}, "preview": false});
    let started = world.call(&ann, "POST", "/v1/runs/bulk", Some(&body)).await.expect(202);
    assert_eq!((&started["matched"], &started["by"]), (&json!(2), &json!("ann")), "{started}");
    let path = format!("/v1/runs/bulk/{}", text(&started["id"]));
    let mut over = started;
    while over["state"] == "running" {
        over = world.call(&ann, "GET", &path, None).await.expect(200);
    }
    assert_eq!(
        (&over["state"], &over["done"], &over["failed"]),
        (&json!("done"), &json!(2), &json!(0)),
        "{over}"
    );
    assert!(over["finished_at"].is_string());
    let priority =
        async |run: &str| world.get(&format!("/v1/runs/{run}")).await.expect(200)["priority"].clone();
    assert_eq!((priority(&mine[0]).await, priority(&mine[1]).await), (json!(7), json!(7)));
    assert_ne!(priority(&theirs).await, json!(7), "it is not hers");
    let audit = world.get("/v1/audit?operation=run.prioritise").await.expect(200);
    let entries = audit["items"].as_array().expect("entries");
    assert!(entries.len() == 2 && entries.iter().all(|entry| entry["actor"] == "ann"), "{audit}");
    // Chosen runs: one that she may not touch is left alone, and one that changed meanwhile.
    let body = json!({"action": "cancel", "runs": [mine[0], theirs], "preview": false});
    let chosen = world.call(&ann, "POST", "/v1/runs/bulk", Some(&body)).await.expect(202);
    assert_eq!(chosen["matched"], 1, "{chosen}");
    // Each run is run again once, however often a page is done.
    let body = json!({"action": "rerun", "q": "state:cancelled", "preview": false});
    while world.get(&format!("/v1/runs/{}", mine[0])).await.expect(200)["state"] != "cancelled" {}
    assert_eq!(world.bulk(body).await["done"], 1);
    let list = world.call(&ann, "GET", "/v1/runs/bulk?limit=1", None).await.expect(200);
    assert_eq!(list["items"][0]["id"], chosen["id"], "the admin's is not hers to see: {list}");
    let wrong = json!({"action": "prioritise", "all": true});
    world.post("/v1/runs/bulk", wrong).await.problem(422, "invalid_request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_operation_that_was_stopped_acts_no_more() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let body = json!({"action": "cancel", "q": "job:none", "preview": false});
    let started = world.post("/v1/runs/bulk", body).await.expect(202);
    let path = format!("/v1/runs/bulk/{}", text(&started["id"]));
    let stopped = world.post(&format!("{path}/stop"), json!({})).await.expect(202);
    assert_eq!(stopped["stopped_by"], "admin", "{stopped}");
    world.post(&format!("{path}/stop"), json!({})).await.expect(202);
    while world.get(&path).await.expect(200)["state"] == "running" {}
    world.get("/v1/runs/bulk/blk_0000000000e008000000000001").await.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_may_not_see_does_not_exist() {
    let world = World::start().await;
    world.job("rival", "etl").await;
    let run = world.run("rival", "etl").await;
    let ann = world.somebody("ann", Some("acme"), Some("admin")).await;
    world.call(&ann, "GET", &format!("/v1/runs/{run}"), None).await.problem(404, "not_found");
    world.call(&ann, "POST", &format!("/v1/runs/{run}/cancel"), None).await.problem(404, "not_found");
    let list = world.call(&ann, "GET", "/v1/runs", None).await.expect(200);
    assert_eq!(list["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forced_run_passes_the_overlap_policy_and_the_audit_tells_it() {
    let world = World::start().await;
    let alone = json!({"name": "alone", "script": "true", "concurrency": {"limit": 1, "overlap": "skip"}});
    world.put("/v1/jobs/alone", alone).await.expect(201);
    let state = async |body: Value| {
        let made = world.post("/v1/runs", body).await.expect(201);
        let run = text(&made["id"]).to_owned();
        (world.get(&format!("/v1/runs/{run}")).await.expect(200)["state"].clone(), run)
    };
    assert_eq!(state(json!({"job": "alone"})).await.0, "waiting");
    let (skipped, run) = state(json!({"job": "alone"})).await;
    assert_eq!(skipped, "skipped");
    assert_eq!(state(json!({"job": "alone", "force": true})).await.0, "waiting");
    let again = world.post(&format!("/v1/runs/{run}/rerun"), json!({"force": true})).await.expect(201);
    let again = world.get(&format!("/v1/runs/{}", text(&again["id"]))).await.expect(200);
    assert_eq!(again["state"], "waiting");
    let batch = json!({"runs": [{"job": "alone", "force": true}, {"job": "alone"}]});
    world.post("/v1/runs/batch", batch).await.expect(200);
    let audit = world.get("/v1/audit?limit=50").await.expect(200);
    let said: Vec<&str> =
        audit["items"].as_array().unwrap().iter().filter_map(|entry| entry["detail"].as_str()).collect();
    let forced: Vec<&&str> = said.iter().filter(|detail| detail.contains("forced past")).collect();
    assert_eq!(forced.len(), 3, "{said:?}");
    assert!(forced.iter().any(|detail| detail.starts_with("2 runs, 1 forced")), "{said:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_without_its_row_is_always_told() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let path = format!("/v1/runs/{}", world.run("acme", "etl").await);
    let again = async |path: &str| {
        let tag = world.get(path).await.header("etag").map(str::to_owned).expect("a tag");
        world.with("GET", path, &[("if-none-match", &tag)], None).await.status
    };
    assert_eq!(again(&path).await, 200, "why it waits may have changed");
    world.post(&format!("{path}/cancel"), json!({})).await.expect(202);
    assert_eq!(again(&path).await, 304, "it is over");
    let _node = super::node::Node::start(&world).await;
    assert_eq!(again(&format!("/v1/nodes/{}", world.node().await)).await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_that_did_not_come_is_named() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let run = world.run("acme", "etl").await;
    let path = format!("/v1/runs/{run}/logs");
    let none = world.get(&path).await.expect(200);
    assert_eq!(none["lines"], json!([]), "it has not executed");
    let mut node = super::node::Node::start(&world).await;
    let token = node.execute(&run).await;
    node.end(token).await;
    let said = tokio::time::timeout(Duration::from_secs(600), async {
        loop {
            let page = world.get(&format!("{path}?attempt=1")).await.expect(200);
            if page["lines"][0].is_object() {
                break page["lines"][0].clone();
            }
            tokio::task::yield_now().await;
        }
    });
    let said = said.await.expect("the output is missed within a guard against a hang");
    assert_eq!(said["stream"], "system");
    assert!(text(&said["text"]).contains("not here"), "{said}");
}
