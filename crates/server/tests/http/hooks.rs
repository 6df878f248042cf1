//! Webhooks over the wire: who may call, what a call makes, and what it is told.

use serde_json::{Value, json};

use super::world::text;
use super::{Reply, World};

/// The example of GitHub's manual: this body, signed with this secret.
const SECRET: &str = "It's a Secret to Everybody";
const BODY: &[u8] = b"Hello, World!";
const SIGNED: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

const TRIGGER: &str = "/v1/jobs/deploy/triggers/webhook";

/// A job `deploy` with this webhook and these parameters; answers where to call.
async fn hook(world: &World, trigger: Value, parameters: Value) -> String {
    put(world, trigger, parameters).await;
    let made = world.post(&format!("{TRIGGER}/token"), json!({"secret": SECRET})).await.expect(201);
    assert_eq!(text(&made["path"]), format!("/v1/hooks/{}", text(&made["token"])));
    text(&made["path"])
}

async fn put(world: &World, trigger: Value, parameters: Value) {
    let spec = json!({"name": "deploy", "script": "true", "parameters": parameters, "triggers": [trigger]});
    let reply = world.put("/v1/jobs/deploy", spec).await;
    assert!(matches!(reply.status, 200 | 201), "{}", String::from_utf8_lossy(&reply.body));
}

async fn call(world: &World, path: &str, body: &Value) -> Reply {
    let bytes = serde_json::to_vec(body).expect("JSON");
    world.send("POST", path, &[("content-type", "application/json")], &bytes).await
}

async fn params(world: &World, delivered: &Value) -> Value {
    world.get(&format!("/v1/runs/{}", text(&delivered["id"]))).await.expect(200)["params"].clone()
}

async fn history(world: &World) -> Vec<Value> {
    let page = world.get(&format!("{TRIGGER}/history")).await.expect(200);
    page["items"].as_array().expect("items").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_makes_a_run_of_what_it_brings() {
    let world = World::start().await;
    let trigger = json!({"webhook": {}, "parameters": {
        "repo": "{{ payload.repository.name }}", "size": "{{ payload.size }}", "files": "{{ payload.files }}",
        "event": "{{ headers['x-event'] | default('push') }}", "day": "{{ logical_time | date }}",
    }});
    let declared =
        json!({"repo": "string", "size": "integer", "files": "list", "event": "string", "day": "string"});
    let path = hook(&world, trigger, declared).await;
    let body = json!({"repository": {"name": "shop"}, "size": 5, "files": ["a", {"b": 1}]});
    let reply = call(&world, &path, &body).await;
    let made = reply.expect(201);
    assert_eq!(made["duplicate"], json!(false));
    assert_eq!(reply.header("location"), Some(format!("/v1/runs/{}", text(&made["id"])).as_str()));
    let given = params(&world, &made).await;
    assert_eq!(
        (&given["repo"], &given["size"], &given["files"], &given["event"]),
        (&json!("shop"), &json!(5), &json!(["a", {"b": 1}]), &json!("push"))
    );
    assert_eq!(text(&given["day"]).len(), 10);
    let run = world.get(&format!("/v1/runs/{}", text(&made["id"]))).await.expect(200);
    assert_eq!((&run["trigger"], &run["submitted_by"]), (&json!("webhook"), &json!("trigger:webhook")));
    let lines = history(&world).await;
    assert_eq!((&lines[0]["outcome"], &lines[0]["run"]), (&json!("fired"), &made["id"]));
    // Without a key each call counts; a form is as good as JSON.
    let form = [("content-type", "application/x-www-form-urlencoded"), ("x-event", "tag")];
    let trigger = json!({"webhook": {}, "parameters": {"size": "{{ payload.size }}", "event": "{{ headers['x-event'] }}"}});
    put(&world, trigger, json!({"size": "integer", "event": "string"})).await;
    let again = world.send("POST", &path, &form, b"size=7").await.expect(201);
    assert_eq!(params(&world, &again).await, json!({"size": 7, "event": "tag"}));
    let audit = world.get("/v1/audit?operation=hook.call").await.expect(200);
    let entry = &audit["items"][0];
    assert_eq!(
        (&entry["actor"], &entry["outcome"], &entry["target"]),
        (&json!("trigger:webhook"), &json!("allowed"), &json!("deploy/webhook"))
    );
    assert!(!audit.to_string().contains("msh_"), "no credential is written down");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_last_token_is_right_and_nobody_learns_more() {
    let world = World::start().await;
    let first = hook(&world, json!({"webhook": {}}), json!({})).await;
    call(&world, &first, &json!({})).await.expect(201);
    let made = world.post(&format!("{TRIGGER}/token"), json!({})).await.expect(201);
    let second = text(&made["path"]);
    assert!(text(&made["secret"]).starts_with("msk_"));
    call(&world, &second, &json!({})).await.expect(201);
    let shaped = format!("/v1/hooks/{}", mainspring_app::SecretKind::Hook.secret([7; 32]));
    let wrong = [first.as_str(), &shaped, "/v1/hooks/nonsense", &format!("/v1/hooks/{}", world.admin)];
    let mut told = Vec::new();
    for path in wrong {
        let mut problem = call(&world, path, &json!({})).await.problem(401, "unauthenticated");
        problem.as_object_mut().unwrap().remove("request_id");
        told.push(problem);
    }
    assert!(told.iter().all(|problem| *problem == told[0]), "{told:?}");
    assert!(!told[0].to_string().contains("msh_"), "{}", told[0]);
    // What is no webhook has no token, and a token goes with its trigger.
    world.timed("default", "clock", json!([{"every": "1h"}])).await;
    let none = world.post("/v1/jobs/clock/triggers/every/token", json!({})).await;
    none.problem(409, "illegal_state");
    world.call(&world.admin, "DELETE", &format!("{TRIGGER}/token"), None).await.expect(204);
    call(&world, &second, &json!({})).await.problem(401, "unauthenticated");
    world.call(&world.admin, "DELETE", &format!("{TRIGGER}/token"), None).await.problem(404, "not_found");
    let third = hook(&world, json!({"webhook": {}}), json!({})).await;
    put(&world, json!({"every": "1h"}), json!({})).await;
    call(&world, &third, &json!({})).await.problem(401, "unauthenticated");
    put(&world, json!({"webhook": {}}), json!({})).await;
    call(&world, &third, &json!({})).await.problem(401, "unauthenticated");
    let fourth = hook(&world, json!({"webhook": {}}), json!({})).await;
    world.call(&world.admin, "DELETE", "/v1/jobs/deploy", None).await.expect(204);
    call(&world, &fourth, &json!({})).await.problem(401, "unauthenticated");
    let secret = json!({"secret": "short"});
    hook(&world, json!({"webhook": {}}), json!({})).await;
    let short = world.post(&format!("{TRIGGER}/token"), secret).await.problem(422, "invalid_request");
    assert_eq!(short["errors"][0]["path"], "secret");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_wrong_tokens_does_not_fill_the_store() {
    let world = World::start().await;
    let path = hook(&world, json!({"webhook": {"signature": {"header": "X-Sig"}}}), json!({})).await;
    for _ in 0..30 {
        call(&world, "/v1/hooks/msh_wrong", &json!({})).await.problem(401, "unauthenticated");
        call(&world, &path, &json!({})).await.problem(401, "unauthenticated");
    }
    let audit = world.get("/v1/audit?limit=1000&operation=hook.call").await.expect(200);
    let entries = audit["items"].as_array().unwrap();
    assert!((1..=30).contains(&entries.len()), "{}", entries.len());
    assert!(entries.iter().all(|entry| entry["outcome"] == "denied" && entry["actor"] == "anonymous"));
    assert!(!audit.to_string().contains("msh_"), "no credential is written down");
    assert_eq!(history(&world).await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signature_is_needed_where_the_trigger_asks_for_it() {
    let world = World::start().await;
    let signature = json!({"header": "X-Hub-Signature-256", "prefix": "sha256="});
    let path = hook(&world, json!({"webhook": {"signature": signature}}), json!({})).await;
    let form = ("content-type", "application/x-www-form-urlencoded");
    let signed = |said: &'static str, body: &'static [u8]| {
        let (world, path) = (&world, &path);
        async move { world.send("POST", path, &[form, ("x-hub-signature-256", said)], body).await }
    };
    signed(SIGNED, BODY).await.expect(201);
    signed(SIGNED, b"Hello, World?").await.problem(401, "unauthenticated");
    signed("sha256=00", BODY).await.problem(401, "unauthenticated");
    signed(&SIGNED[7..], BODY).await.problem(401, "unauthenticated");
    world.send("POST", &path, &[form], BODY).await.problem(401, "unauthenticated");
    // The header may be one that templates do not see.
    let signature = json!({"header": "Authorization", "prefix": "HMAC ", "encoding": "base64"});
    let parameters = json!({"said": "{{ headers.authorization | default('nothing') }}"});
    put(
        &world,
        json!({"webhook": {"signature": signature}, "parameters": parameters}),
        json!({"said": "string"}),
    )
    .await;
    let headers = [form, ("authorization", "HMAC dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=")];
    let made = world.send("POST", &path, &headers, BODY).await.expect(201);
    assert_eq!(params(&world, &made).await, json!({"said": "nothing"}));
    let headers = [form, ("authorization", "HMAC AAEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=")];
    world.send("POST", &path, &headers, BODY).await.problem(401, "unauthenticated");
    // Another token has another secret.
    let made = world.post(&format!("{TRIGGER}/token"), json!({})).await.expect(201);
    let headers = [form, ("x-hub-signature-256", SIGNED)];
    world.send("POST", &text(&made["path"]), &headers, BODY).await.problem(401, "unauthenticated");
    // Neither the token nor the secret is in the store.
    let store = world.store().await;
    for kind in [13, 14] {
        let kind = mainspring_store::RecordKind(kind);
        let rows = store.records(mainspring_store::RecordQuery::all(kind, 100)).await.unwrap().rows;
        assert_eq!(rows.len(), 1);
        let kept = String::from_utf8_lossy(&rows[0].value).into_owned();
        for secret in ["token", "secret"] {
            assert!(!kept.contains(&text(&made[secret])), "{kept}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_delivery_is_the_same_run() {
    let world = World::start().await;
    let trigger = json!({"webhook": {"dedupe": "{{ payload.id }}"}, "count": 3});
    let path = hook(&world, trigger, json!({})).await;
    let first = call(&world, &path, &json!({"id": 1})).await.expect(201);
    let again = call(&world, &path, &json!({"id": 1, "more": true})).await.expect(200);
    assert_eq!((&again["id"], &again["duplicate"]), (&first["id"], &json!(true)));
    let same = json!({"id": 2});
    let many = futures_util::future::join_all((0..10).map(|_| call(&world, &path, &same))).await;
    let made: Vec<&Reply> = many.iter().filter(|reply| reply.status == 201).collect();
    assert_eq!(made.len(), 1, "{:?}", many.iter().map(|reply| reply.status).collect::<Vec<_>>());
    let second = made[0].json();
    let told: Vec<Value> = many.iter().map(Reply::json).collect();
    assert!(told.iter().all(|one| one["id"] == second["id"]), "{told:?}");
    let long = "x".repeat(5_000);
    let third = call(&world, &path, &json!({"id": long})).await.expect(201);
    assert_eq!(call(&world, &path, &json!({"id": long})).await.expect(200)["id"], third["id"]);
    // It fired as often as it may; what it made before is still told.
    call(&world, &path, &json!({"id": 4})).await.problem(409, "inactive");
    assert_eq!(call(&world, &path, &json!({"id": 1})).await.expect(200)["id"], first["id"]);
    let runs = world.get("/v1/runs?q=job:deploy").await.expect(200);
    assert_eq!(runs["items"].as_array().unwrap().len(), 3);
    let lines = history(&world).await;
    let of = |outcome: &str| lines.iter().filter(|line| line["outcome"] == outcome).count();
    assert_eq!((of("fired"), of("merged"), of("missed")), (3, 12, 1), "{lines:?}");
    assert_eq!(world.get(TRIGGER).await.expect(200)["fired"], json!(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_call_is_told_with_its_place() {
    let world = World::start().await;
    let trigger = json!({
        "webhook": {"dedupe": "{{ headers['x-id'] }}"},
        "parameters": {"repo": "{{ payload.repo }}", "size": "{{ payload.size }}"},
    });
    let declared = json!({"repo": "string", "size": {"type": "integer", "max": 9}});
    let path = hook(&world, trigger, declared).await;
    for (body, id, errors) in [
        (r#"{"repo": "x"}"#, "1", vec!["parameters.size"]),
        ("", "2", vec!["parameters.repo", "parameters.size"]),
        (r#"{"repo": 5, "size": 10}"#, "3", vec!["parameters.repo", "parameters.size"]),
        (r#"{"repo": null, "size": 1}"#, "4", vec!["parameters.repo"]),
        (r#"{"repo": "x", "size": 1}"#, "", vec!["dedupe"]),
    ] {
        let headers = [("content-type", "application/json"), ("x-id", id)];
        let problem =
            world.send("POST", &path, &headers, body.as_bytes()).await.problem(422, "invalid_parameter");
        let paths: Vec<&str> = problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, errors, "{problem}");
    }
    let json = ("content-type", "application/json");
    let missing = world.send("POST", &path, &[json], br#"{"repo": "x", "size": 1}"#).await;
    assert_eq!(missing.problem(422, "invalid_parameter")["errors"][0]["path"], "dedupe");
    let broken = world.send("POST", &path, &[json], b"{\"repo\":").await.problem(422, "invalid_request");
    assert_eq!(broken["errors"][0]["path"], "payload");
    let xml = world.send("POST", &path, &[("content-type", "text/xml")], b"<a/>").await;
    xml.problem(415, "unsupported_media_type");
    let large = vec![b' '; 256 * 1024 + 1];
    world.send("POST", &path, &[json], &large).await.problem(413, "too_large");
    assert_eq!(history(&world).await.len(), 0);
    let audit = world.get("/v1/audit?limit=100&operation=hook.call").await.expect(200);
    let codes: Vec<&Value> = audit["items"].as_array().unwrap().iter().map(|entry| &entry["code"]).collect();
    assert_eq!(codes.iter().filter(|code| **code == "invalid_parameter").count(), 6, "{codes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_paused_or_over_takes_no_calls() {
    let world = World::start().await;
    let path = hook(&world, json!({"webhook": {}}), json!({})).await;
    let refused = |expected: &'static str| {
        let (world, path) = (&world, &path);
        async move {
            let problem = call(world, path, &json!({})).await.problem(409, "inactive");
            assert!(text(&problem["detail"]).contains(expected), "{problem}");
            let line = &history(world).await[0];
            assert_eq!(line["outcome"], "missed");
            assert!(text(&line["reason"]).contains(expected), "{line}");
        }
    };
    world.post(&format!("{TRIGGER}/pause"), json!({"note": "look at it"})).await.expect(200);
    refused("the trigger is paused by admin: look at it").await;
    world.post(&format!("{TRIGGER}/resume"), json!({})).await.expect(200);
    world.post("/v1/jobs/deploy/pause", json!({"note": "broken"})).await.expect(200);
    refused("the job is paused by admin: broken").await;
    world.post("/v1/jobs/deploy/resume", json!({})).await.expect(200);
    world.post("/v1/cells/0/pause", json!({})).await.expect(200);
    refused("the cell is paused by admin").await;
    world.post("/v1/cells/0/resume", json!({})).await.expect(200);
    put(&world, json!({"webhook": {}, "from": "2100-01-01T00:00:00Z"}), json!({})).await;
    refused("from 2100-01-01").await;
    put(&world, json!({"webhook": {}, "until": "2020-01-01T00:00:00Z"}), json!({})).await;
    refused("until 2020-01-01").await;
    put(&world, json!({"webhook": {}}), json!({})).await;
    call(&world, &path, &json!({})).await.expect(201);
    let moved = world.put(&format!("{TRIGGER}/cursor"), json!({"cursor": "2100-01-01T00:00:00Z"})).await;
    moved.problem(400, "invalid_request");
    let listed = world.get("/v1/triggers").await.expect(200);
    assert_eq!(listed["items"][0]["description"]["en"], "when it is called");
    let preview = world.get("/v1/triggers/preview?trigger=%7B%22webhook%22:%7B%7D%7D").await.expect(200);
    assert_eq!(preview["moments"], json!([]));
    assert_eq!(world.get("/v1/triggers/load").await.expect(200)["following"], json!(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_replaced_by_who_knows_the_last_one() {
    let world = World::start().await;
    put(&world, json!({"webhook": {}}), json!({})).await;
    let path = format!("{TRIGGER}/token");
    let send =
        async |method: &str, condition: (&str, &str)| world.with(method, &path, &[condition], None).await;
    let first = send("POST", ("if-none-match", "*")).await;
    first.expect(201);
    send("POST", ("if-none-match", "*")).await.problem(412, "precondition_failed");
    let tag = first.header("etag").expect("a tag");
    send("POST", ("if-match", tag)).await.expect(201);
    send("POST", ("if-match", tag)).await.problem(412, "precondition_failed");
    send("DELETE", ("if-match", tag)).await.problem(412, "precondition_failed");
    send("DELETE", ("if-match", "*")).await.expect(204);
}

/// A row as the program before wrote it: the secret under a pad of the token, without authentication.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_row_is_read_and_sealed_anew_by_the_first_right_call() {
    const TOKEN: &str = "msh_0w3ge1r70w3ge1r70w3ge1r70w3ge1r70w3ge1r70w3ge1r70w3gw5y55k";
    const KEY: (u128, u128) = (0x0dbf4926ed181c28c4e79bca352b6db5, 0x0a0ae7f88372c70f5b1dacbd996ebf4e);
    const SEALED: &str = "e0344111db77de53006341fb3d4d2beae1b686e9d3b4130b9e6b";
    let world = World::start().await;
    let signature = json!({"header": "X-Hub-Signature-256", "prefix": "sha256="});
    hook(&world, json!({"webhook": {"signature": signature}}), json!({})).await;
    let store = world.store().await;
    let kind = mainspring_store::RecordKind(13);
    let made = store.records(mainspring_store::RecordQuery::all(kind, 10)).await.unwrap().rows.remove(0);
    let mut document: Value = serde_json::from_slice(&made.value).unwrap();
    document["sealed"] = json!(SEALED);
    let key: Vec<u8> = [KEY.0.to_be_bytes(), KEY.1.to_be_bytes()].concat();
    let key = mainspring_store::RecordKey::from(&key[..]);
    let value = document.to_string().into_bytes().into();
    let old = mainspring_store::Record { kind, key: key.clone(), revision: 1, expires_at: None, value };
    let write = mainspring_store::Write::PutRecord(Box::new(old));
    store.commit(mainspring_store::Transaction::unfenced(vec![write])).await.unwrap();
    let row = async || store.record(kind, &key).await.unwrap().unwrap();
    let signed = async |said: &str| {
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [form, ("x-hub-signature-256", said)];
        world.send("POST", &format!("/v1/hooks/{TOKEN}"), &headers, BODY).await
    };
    signed("sha256=00").await.problem(401, "unauthenticated");
    assert_eq!(row().await.revision, 1, "a wrong call changes nothing");
    signed(SIGNED).await.expect(201);
    let anew = row().await;
    let document: Value = serde_json::from_slice(&anew.value).unwrap();
    assert_eq!(anew.revision, 2);
    assert!(text(&document["sealed"]).starts_with("v1:"), "{document}");
    signed(SIGNED).await.expect(201);
    assert_eq!(row().await.revision, 2, "it is sealed anew once");
}
