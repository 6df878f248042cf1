//! Every mutating call leaves an entry, allowed or denied, and the chain is whole.

use serde_json::{Value, json};

use super::World;

async fn entries(world: &World, query: &str) -> Vec<Value> {
    let page = world.get(&format!("/v1/audit?limit=1000{query}")).await.expect(200);
    page["items"].as_array().expect("items").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_written_down_allowed_or_denied() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    let body = json!({"namespace": "acme", "job": "etl"});
    world.call(&ann, "POST", "/v1/runs", Some(&body)).await.problem(403, "forbidden");
    let run = world.run("acme", "etl").await;
    world.call(&ann, "POST", &format!("/v1/runs/{run}/cancel"), None).await.problem(403, "forbidden");
    world.call(&world.admin, "POST", &format!("/v1/runs/{run}/cancel"), None).await.expect(202);
    world.post("/v1/jobs/none/pause", json!({})).await.problem(404, "not_found");
    let told: Vec<String> = entries(&world, "")
        .await
        .iter()
        .rev()
        .map(|entry| {
            let code = entry["code"].as_str().map(|code| format!(" {code}")).unwrap_or_default();
            let word = |name: &str| entry[name].as_str().unwrap_or("-").to_owned();
            format!("{} {} {}{code}", word("actor"), word("operation"), word("outcome"))
        })
        .collect();
    assert_eq!(
        told,
        [
            "bootstrap member.put allowed",
            "admin job.put allowed",
            "admin member.put allowed",
            "admin token.create_other allowed",
            "ann run.submit denied",
            "admin run.submit allowed",
            "ann run.cancel denied",
            "admin run.cancel allowed",
            "admin job.pause allowed not_found",
        ]
    );
    let denied = entries(&world, "&actor=ann&operation=run.cancel").await;
    assert_eq!((denied.len(), &denied[0]["from"]), (1, &json!("127.0.0.1")));
    assert!(denied[0]["request_id"].is_string());
    assert_eq!(entries(&world, "&namespace=rival").await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_is_written_down_too() {
    let world = World::start().await;
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    world.raw(&world.admin, "POST", "/v1/runs", "{\"job\":").await.problem(400, "invalid_request");
    world.raw(&world.admin, "POST", "/v1/runs", "[\"etl\"]").await.problem(422, "invalid_request");
    world.raw(&ann, "POST", "/v1/runs", "{").await.problem(400, "invalid_request");
    world.raw(&ann, "POST", "/v1/tokens?x=1", "{}").await.problem(422, "invalid_request");
    // Nobody asked for a change; nobody knows who did.
    world.raw(&ann, "GET", "/v1/runs?x=1", "").await.problem(422, "invalid_request");
    world.raw("ms_nobody", "POST", "/v1/runs", "{").await.problem(401, "unauthenticated");
    let submits = entries(&world, "&operation=run.submit").await;
    let told: Vec<_> =
        submits.iter().rev().map(|entry| (&entry["actor"], &entry["outcome"], &entry["code"])).collect();
    let (refused, denied) = (json!("invalid_request"), Value::Null);
    let (admin, ann) = (json!("admin"), json!("ann"));
    assert_eq!(
        told,
        [
            (&admin, &json!("allowed"), &refused),
            (&admin, &json!("allowed"), &refused),
            (&ann, &json!("denied"), &denied),
            (&json!("anonymous"), &json!("denied"), &denied),
        ]
    );
    assert!(
        submits[3]["detail"].as_str().is_some_and(|words| words.contains("not valid JSON")),
        "{submits:?}"
    );
    assert_eq!(entries(&world, "&operation=token.create").await.len(), 1);
    assert_eq!(entries(&world, "&operation=run.list").await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_the_audit_goes_on_within_a_record() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let submits = (0..20).map(|_| world.run("acme", "etl"));
    futures_util::future::join_all(submits).await;
    let (mut found, mut cursor) = (0, String::new());
    loop {
        let page = world.get(&format!("/v1/audit?limit=3&operation=run.submit{cursor}")).await.expect(200);
        found += page["items"].as_array().unwrap().len();
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(found, 20);
    let doctor = world.get("/v1/doctor").await.expect(200);
    let broken = doctor["findings"].as_array().unwrap().iter().any(|found| found["check"] == "audit");
    assert!(!broken, "the chain is whole: {doctor}");
}

/// Asks for a change that fails with this code, and looks for its entry.
async fn check_failed(world: &World, token: &str, request: (&str, &str, Value), told: (&str, &str, &str)) {
    let ((method, path, body), (actor, operation, code)) = (request, told);
    let reply = world.call(token, method, path, Some(&body)).await;
    assert!(reply.status >= 400, "{method} {path}: {}", reply.status);
    let id = reply.header("x-request-id").expect("an id").to_owned();
    let all = entries(world, &format!("&operation={operation}")).await;
    let of_request: Vec<&Value> = all.iter().filter(|entry| entry["request_id"] == id.as_str()).collect();
    let [entry] = of_request.as_slice() else {
        panic!("{method} {path} has {} entries: {all:?}", of_request.len())
    };
    let found = if entry["outcome"] == "denied" { "denied" } else { entry["code"].as_str().unwrap_or("-") };
    assert_eq!((entry["actor"].as_str(), found), (Some(actor), code), "{method} {path}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_early_is_written_down_once() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let admin = world.admin.as_str();
    let long = "x".repeat(100_000);
    let gone = "run_00000000000000000000000001";
    for (method, path, body, operation, code) in [
        ("POST", "/v1/tokens", json!({"ttl": "0s"}), "token.create", "invalid_request"),
        ("POST", "/v1/tokens", json!({"name": long}), "token.create", "invalid_request"),
        ("POST", "/v1/join-tokens", json!({"pool": "no such!"}), "node.invite", "invalid_request"),
        ("POST", "/v1/join-tokens", json!({"ttl": "9000d"}), "node.invite", "invalid_request"),
        ("POST", "/v1/login-codes", json!({"ttl": "soon"}), "login_code.create", "invalid_request"),
        ("POST", "/v1/runs/batch", json!({"runs": []}), "run.batch", "invalid_request"),
        (
            "POST",
            "/v1/runs/bulk",
            json!({"action": "cancel", "q": "(", "preview": false}),
            "run.bulk",
            "invalid_query",
        ),
        ("POST", &format!("/v1/runs/{gone}/cancel"), json!({}), "run.cancel", "not_found"),
        ("POST", "/v1/runs/nonsense/cancel", json!({}), "run.cancel", "not_found"),
        (
            "PUT",
            "/v1/jobs/etl?namespace=acme",
            json!({"name": "etl", "colour": 1}),
            "job.put",
            "invalid_spec",
        ),
        ("POST", "/v1/jobs/etl/pause?namespace=acme", json!({"note": long}), "job.pause", "too_large"),
        ("POST", "/v1/cells/0/pause", json!({"note": long}), "cell.pause", "too_large"),
        ("PUT", "/v1/members/%00", json!({"role": "admin"}), "member.put", "invalid_request"),
        ("DELETE", "/v1/tokens/tok_00", json!({}), "token.delete", "not_found"),
    ] {
        check_failed(&world, admin, (method, path, body), ("admin", operation, code)).await;
    }
    // A preview and a plan change nothing.
    world.post("/v1/runs/bulk", json!({"action": "cancel", "q": "("})).await.problem(422, "invalid_query");
    let plan = json!({"name": "etl", "colour": 1});
    world.put("/v1/jobs/etl?namespace=acme&dry_run=true", plan).await.problem(422, "invalid_spec");
    assert_eq!(entries(&world, "&operation=run.bulk").await.len(), 1);
    assert_eq!(entries(&world, "&operation=job.put").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_are_written_down_but_not_for_ever() {
    let world = World::start().await;
    let wrong = json!({"code": "msl_wrong"});
    let told = ("anonymous", "session.create", "denied");
    check_failed(&world, "", ("POST", "/v1/sessions", wrong.clone()), told).await;
    let told = ("anonymous", "run.submit", "denied");
    check_failed(&world, "ms_nobody", ("POST", "/v1/runs", json!({})), told).await;
    let cookie = format!("mainspring_session={}", world.admin);
    let foreign = [("cookie", cookie.as_str()), ("origin", "http://evil.example")];
    world.send("PUT", "/v1/namespaces/acme", &foreign, b"").await.problem(403, "forbidden");
    let seen = entries(&world, "&operation=namespace.put").await;
    assert_eq!((&seen[0]["actor"], &seen[0]["outcome"]), (&json!("anonymous"), &json!("denied")));
    for _ in 0..50 {
        world.post("/v1/sessions", wrong.clone()).await.problem(401, "unauthenticated");
    }
    assert!(entries(&world, "&actor=anonymous").await.len() <= 30, "a flood does not fill the store");
    let all = world.get("/v1/audit?limit=1000").await;
    assert!(!String::from_utf8_lossy(&all.body).contains("msl_wrong"), "secrets are not kept");
}
