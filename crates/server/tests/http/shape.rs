//! What every request has in common.

use serde_json::json;

use super::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_goes_wrong_is_a_problem() {
    let world = World::start().await;
    world.get("/v1/nothing").await.problem(404, "not_found");
    world.get("/nothing").await.problem(404, "not_found");
    let reply = world.call(&world.admin, "DELETE", "/v1/runs", None).await;
    reply.problem(405, "method_not_allowed");
    assert!(reply.header("allow").is_some_and(|allow| allow.contains("GET") && allow.contains("POST")));
    world.get("/v1/runs/run_x").await.problem(404, "not_found");
    world.get("/v1/runs/run_00000000000000000000000001").await.problem(404, "not_found");
    let unknown = world.get("/v1/runs?limti=5").await.problem(422, "invalid_request");
    assert!(unknown["detail"].as_str().unwrap().contains("limti"), "{unknown}");
    world.get("/v1/runs?limit=0").await.problem(422, "invalid_request");
    for (query, words) in [
        ("limit=x", "limit: takes a whole number that is not negative"),
        ("limit=-1", "limit: takes a whole number that is not negative"),
        ("limit=99999999999999999999", "limit: is too large"),
    ] {
        let wrong = world.get(&format!("/v1/runs?{query}")).await.problem(422, "invalid_request");
        assert_eq!(wrong["detail"], words, "{wrong}");
    }
    let wrong = world.get("/v1/jobs?spec=maybe").await.problem(422, "invalid_request");
    assert_eq!(wrong["detail"], "spec: takes `true` or `false`", "{wrong}");
    world.get("/v1/runs?cursor=x").await.problem(422, "invalid_request");
    let field =
        world.post("/v1/runs", json!({"job": "x", "prams": {}})).await.problem(422, "invalid_request");
    assert_eq!(field["errors"][0]["path"], "prams", "{field}");
    world.post("/v1/runs", json!({})).await.problem(422, "invalid_request");
    let bearer = format!("Bearer {}", world.admin);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    world.send("POST", "/v1/runs", &headers, b"{").await.problem(400, "invalid_request");
    world.send("POST", "/v1/runs", &headers, &vec![b' '; 3 << 20]).await.problem(413, "too_large");
    world.send("POST", "/v1/runs", &headers[..1], b"{}").await.problem(415, "unsupported_media_type");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_have_ids_and_options_are_told() {
    let world = World::start().await;
    let mine = world.with("GET", "/healthz", &[("x-request-id", "abc-1")], None).await;
    assert_eq!(mine.header("x-request-id"), Some("abc-1"));
    let ours = world.with("GET", "/healthz", &[("x-request-id", "bad id\u{1}")], None).await;
    assert_ne!(ours.header("x-request-id"), Some("bad id\u{1}"));
    let head = world.with("HEAD", "/v1/jobs", &[], None).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    let options = world.with("OPTIONS", "/v1/jobs/etl", &[], None).await;
    assert_eq!(options.status, 204);
    assert!(options.header("allow").is_some_and(|allow| allow.contains("PUT")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_schema_and_its_page_are_served() {
    let world = World::start().await;
    let schema = world.send("GET", "/openapi.json", &[], b"").await.expect(200);
    assert_eq!(schema["openapi"], "3.1.0");
    let page = world.send("GET", "/docs", &[], b"").await;
    assert_eq!(page.status, 200);
    let text = String::from_utf8_lossy(&page.body).into_owned();
    assert!(!text.contains("http://") && !text.contains("https://"), "nothing from elsewhere");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_link_leads_to_a_page_that_can_sign_in() {
    // Also in a program without the console.
    let empty = tempfile::tempdir().unwrap();
    let folder = empty.path().to_owned();
    let world = World::with_options(|options| options.console = Some(folder)).await;
    let path = world.app.issue_login_code().await.unwrap().path;
    let (page, code) = path.split_once("#login=").expect("a page and a code");
    for (language, words) in [("en", "To sign in"), ("zh-CN,zh;q=0.9", "登录")] {
        let reply = world.send("GET", page, &[("accept-language", language)], b"").await;
        assert_eq!(reply.status, 200);
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(text.contains(words) && text.contains("/v1/sessions"), "{text}");
        assert!(!text.contains("http://") && !text.contains("https://"), "nothing from elsewhere");
        let policy = reply.header("content-security-policy").expect("a policy");
        let nonce = policy.split_once("script-src 'nonce-").and_then(|(_, rest)| rest.split('\'').next());
        let nonce = nonce.expect("a nonce");
        assert!(text.contains(&format!("<script nonce=\"{nonce}\">")), "{policy}");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    }
    // As the page asks.
    let origin = format!("http://{}", world.address);
    let headers = [("content-type", "application/json"), ("origin", origin.as_str())];
    let body = serde_json::to_vec(&json!({ "code": code })).unwrap();
    let opened = world.send("POST", "/v1/sessions", &headers, &body).await;
    assert_eq!(opened.expect(201)["identity"]["subject"], "admin", "what the page shows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cluster_is_looked_at() {
    let world = World::start().await;
    let cluster = world.get("/v1/cluster").await.expect(200);
    assert_eq!(cluster["cells"][0]["loaded"], true, "{cluster}");
    let doctor = world.get("/v1/doctor").await.expect(200);
    let checks: Vec<&str> =
        doctor["findings"].as_array().unwrap().iter().map(|found| found["check"].as_str().unwrap()).collect();
    assert_eq!(checks, ["nodes"], "no node is up: {doctor}");
    let paused = world.post("/v1/cells/0/pause", json!({"note": "maintenance"})).await.expect(200);
    assert_eq!(paused["pause"]["note"], "maintenance");
    world.post("/v1/cells/9/pause", json!({})).await.problem(404, "not_found");
    assert!(world.get("/v1/stats").await.expect(200)["hours"].is_array());
    assert_eq!(world.get("/v1/nodes").await.expect(200)["items"], json!([]));
    assert_eq!(world.get("/v1/pools").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statistics_add_up_all_that_is_asked_for() {
    use mainspring_model::{CellId, CounterKey, Counts, JobId, MemberId, Timestamp, counter};
    use mainspring_store::{Fence, LeaseGrant, LeaseRequest, Store, Transaction, Write};

    let store = std::sync::Arc::new(mainspring_store_mem::MemStore::default());
    let now = store.clock().await.expect("a clock");
    let count = |namespace: &str, number: u128| {
        let key = CounterKey {
            namespace: namespace.parse().expect("a namespace"),
            job: JobId::new(Timestamp::ZERO, number),
            hour: counter::hour_of(now - std::time::Duration::from_secs(7_200)),
        };
        Write::AddCounts(Box::new((key, Counts { success: 1, ..Counts::default() })))
    };
    let (cell, member) = (CellId(0), MemberId::MIN);
    let request = LeaseRequest { cell, member, observed: None, expires_at: now };
    let Ok(LeaseGrant::Granted(lease)) = store.acquire_lease(request).await else { panic!("nobody has it") };
    let fence = |seq| Fence { cell, epoch: lease.epoch, seq };
    let crowd: Vec<Write> = (0..6_000).map(|number| count("crowd", number)).collect();
    store.commit(Transaction::fenced(fence(1), crowd)).await.expect("a commit");
    let more = (6_000..12_000)
        .map(|number| count("crowd", number))
        .chain([count("quiet", 20_000), count("still", 20_001)]);
    store.commit(Transaction::fenced(fence(2), more.collect())).await.expect("a commit");
    assert!(store.release_lease(cell, member, lease.epoch).await.expect("a store"));
    let data = tempfile::tempdir().expect("a folder");
    let world = World::beside(store, data, None, |_| {}).await;
    let all = world.get("/v1/stats").await.expect(200);
    assert_eq!((&all["total"]["success"], &all["truncated"]), (&json!(12_002), &json!(true)));
    assert_eq!(all["hours"].as_array().map(Vec::len), Some(10_000));
    let ann = world.somebody("ann", Some("quiet"), Some("viewer")).await;
    world.put("/v1/members/ann?namespace=still", json!({"role": "viewer"})).await.expect(201);
    let own = world.call(&ann, "GET", "/v1/stats", None).await.expect(200);
    assert_eq!((&own["total"]["success"], &own["truncated"]), (&json!(2), &json!(false)), "what she may see");
}

#[tokio::test]
async fn the_first_start_makes_the_folder_of_the_store() {
    let place = tempfile::tempdir().expect("a folder");
    let data = place.path().join("new");
    let store = format!("sqlite:{}", data.join("store.db").display());
    let server = mainspring_server::Server::build(mainspring_server::Options::new(store, &data)).await;
    assert!(server.is_ok(), "{:?}", server.err());
}
