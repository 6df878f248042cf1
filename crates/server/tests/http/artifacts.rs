//! Files: whose they are, and who may name them.

use std::time::Duration;

use mainspring_model::spec::Digest;
use mainspring_store::{Outcome, Record, RecordKind, RecordQuery, Store, Transaction, Write};
use serde_json::{Value, json};

use super::World;
use super::world::text;

/// Puts a file into a namespace and tells its digest.
async fn push(world: &World, namespace: &str, content: &[u8]) -> String {
    let bearer = format!("Bearer {}", world.admin);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/octet-stream")];
    let reply = world.send("POST", &format!("/v1/artifacts?namespace={namespace}"), &headers, content).await;
    assert!(matches!(reply.status, 200 | 201), "{}", String::from_utf8_lossy(&reply.body));
    text(&reply.json()["digest"])
}

fn naming(digest: &str) -> Value {
    json!({"name": "tool", "script": "true", "artifacts": [{"digest": digest, "path": "tool"}]})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_files_of_the_own_namespace_are_named() {
    let world = World::start().await;
    let digest = push(&world, "rival", b"secret").await;
    let field = |problem: Value| text(&problem["errors"][0]["path"]);
    let put = world.put("/v1/jobs/tool?namespace=acme", naming(&digest)).await;
    assert_eq!(field(put.problem(422, "invalid_spec")), "artifacts[0].digest");
    let body = json!({"namespace": "acme", "spec": naming(&digest)});
    let one = world.post("/v1/runs", body.clone()).await;
    assert_eq!(field(one.problem(422, "invalid_spec")), "spec.artifacts[0].digest");
    let many = world.post("/v1/runs/batch", json!({"runs": [body.clone()]})).await.expect(200);
    assert_eq!(many["items"][0]["errors"][0]["path"], "runs[0].spec.artifacts[0].digest");
    // A namespace above or below is another one, too.
    let below = json!({"namespace": "rival/lab", "spec": naming(&digest)});
    world.post("/v1/runs", below).await.problem(422, "invalid_spec");
    let mut elsewhere = naming(&digest);
    elsewhere["artifacts"][0]["url"] = json!("https://files.example/tool");
    world.put("/v1/jobs/tool?namespace=acme", elsewhere).await.expect(201);

    push(&world, "acme", b"secret").await;
    world.put("/v1/jobs/tool?namespace=acme", naming(&digest)).await.expect(200);
    let run = text(&world.post("/v1/runs", body).await.expect(201)["id"]);
    world.call(&world.admin, "POST", &format!("/v1/runs/{run}/cancel"), None).await.expect(202);
    world.call(&world.admin, "POST", &format!("/v1/runs/{run}/rerun"), None).await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_a_page_ends_tells_nothing_of_others() {
    let world = World::start().await;
    let (ann, mut own) = (world.somebody("ann", Some("acme"), Some("viewer")).await, Vec::new());
    for number in 0..12u8 {
        let place = if number % 4 == 0 { "acme" } else { "rival" };
        let digest = push(&world, place, &[number]).await;
        own.extend((place == "acme").then_some(digest));
        world.post("/v1/tokens", json!({"subject": "bob"})).await.expect(201);
    }
    own.sort();
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = world.call(&ann, "GET", &format!("/v1/artifacts?limit=1{cursor}"), None).await.expect(200);
        let digest = text(&page["items"][0]["digest"]);
        let Some(next) = page["next_cursor"].as_str() else {
            seen.push(digest);
            break;
        };
        assert!(next.starts_with(digest.trim_start_matches("sha256:")), "{next} is not of {digest}");
        cursor = format!("&cursor={next}");
        seen.push(digest);
    }
    assert_eq!(seen, own);
    let tokens = world.call(&ann, "GET", "/v1/tokens?limit=1", None).await.expect(200);
    assert_eq!((tokens["items"].as_array().map(Vec::len), &tokens["next_cursor"]), (Some(1), &Value::Null));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_removed_as_it_was_seen() {
    let world = World::start().await;
    let path = format!("/v1/artifacts/{}?namespace=acme", push(&world, "acme", b"x").await);
    let seen = world.get(&path).await;
    assert_eq!(seen.expect(200)["revision"], 1);
    let tag = seen.header("etag").expect("a tag").to_owned();
    assert_eq!(world.with("GET", &path, &[("if-none-match", &tag)], None).await.status, 304);
    let other = world.with("DELETE", &path, &[("if-match", "\"7\"")], None).await;
    other.problem(412, "precondition_failed");
    world.with("DELETE", &path, &[("if-match", &tag)], None).await.expect(204);
    world.get(&path).await.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cell_is_paused_as_it_was_seen() {
    let world = World::start().await;
    let free = world.get("/v1/cluster").await.expect(200)["cells"][0]["revision"].clone();
    let free = format!("\"{free}\"");
    let pause = |tag: String| {
        let world = &world;
        async move { world.with("POST", "/v1/cells/0/pause", &[("if-match", &tag)], None).await }
    };
    let paused = pause(free.clone()).await;
    paused.expect(200);
    pause(free).await.problem(412, "precondition_failed");
    let tag = paused.header("etag").expect("a tag");
    world.with("POST", "/v1/cells/0/resume", &[("if-match", tag)], None).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_a_run_names_stays() {
    let world = World::start().await;
    let digest = push(&world, "acme", b"tool").await;
    let path = format!("/v1/artifacts/{digest}?namespace=acme");
    let body = json!({"namespace": "acme", "spec": naming(&digest)});
    let run = text(&world.post("/v1/runs", body).await.expect(201)["id"]);
    let refused = world.call(&world.admin, "DELETE", &path, None).await.problem(409, "illegal_state");
    assert!(text(&refused["detail"]).contains(&run), "{refused}");
    world.call(&world.admin, "POST", &format!("/v1/runs/{run}/cancel"), None).await.expect(202);
    world.call(&world.admin, "DELETE", &path, None).await.expect(204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_outlives_its_last_owner_for_a_while() {
    let world = World::start().await;
    let digest = push(&world, "acme", b"tool").await;
    let content = |place: &str| format!("/v1/artifacts/{digest}/content?namespace={place}");
    let path = format!("/v1/artifacts/{digest}?namespace=acme");
    let later = world.app.now() + Duration::from_secs(2 * 3600);
    world.call(&world.admin, "DELETE", &path, None).await.expect(204);
    world.app.tidy_files(world.app.now(), 100, &|| true).await.unwrap();
    // Whoever brings it back in time keeps it, however long after the mark.
    push(&world, "rival", b"tool").await;
    world.app.tidy_files(later, 100, &|| true).await.unwrap();
    assert_eq!(world.get(&content("rival")).await.body, b"tool");
    let path = format!("/v1/artifacts/{digest}?namespace=rival");
    world.call(&world.admin, "DELETE", &path, None).await.expect(204);
    assert_eq!(world.files(), 1, "the content stays for a while");
    world.app.tidy_files(later, 100, &|| true).await.unwrap();
    assert_eq!(world.files(), 0);
    push(&world, "acme", b"tool").await;
    assert_eq!(world.get(&content("acme")).await.body, b"tool");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_whose_time_is_over_goes_unless_it_is_named() {
    let world = World::start().await;
    let mut paths = Vec::new();
    for (content, ttl) in [(b"a", "&ttl=1h"), (b"b", "&ttl=1h"), (b"c", "")] {
        let bearer = format!("Bearer {}", world.admin);
        let path = format!("/v1/artifacts?namespace=acme{ttl}");
        let kept = world.send("POST", &path, &[("authorization", &bearer)], content).await.expect(201);
        assert_eq!(kept["expires_at"].is_string(), !ttl.is_empty());
        paths
            .push((text(&kept["digest"]), format!("/v1/artifacts/{}?namespace=acme", text(&kept["digest"]))));
    }
    world.put("/v1/jobs/tool?namespace=acme", naming(&paths[1].0)).await.expect(201);
    world.app.tidy_files(world.app.now() + Duration::from_secs(2 * 3600), 100, &|| true).await.unwrap();
    let found = async |at: usize| world.get(&paths[at].1).await.status;
    assert_eq!((found(0).await, found(1).await, found(2).await), (404, 200, 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_removes_a_bounded_number_of_files() {
    let world = World::start().await;
    for content in [b"a", b"b", b"c"] {
        push(&world, "acme&ttl=1h", content).await;
    }
    let known = async || {
        let page = world.get("/v1/artifacts?namespace=acme").await.expect(200);
        page["items"].as_array().map(Vec::len)
    };
    let mut left = Vec::new();
    for hours in [2, 4] {
        let later = world.app.now() + Duration::from_secs(hours * 3600);
        world.app.tidy_files(later, 2, &|| true).await.unwrap();
        left.push((known().await, world.files()));
    }
    assert_eq!(left, [(Some(1), 1), (Some(0), 0)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_record_that_cannot_be_read_does_not_keep_the_other_files() {
    let world = World::start().await;
    let digest = push(&world, "acme&ttl=1h", b"a").await;
    let later = world.app.now() + Duration::from_secs(4 * 3600);
    let store = world.store().await;
    for kind in [ARTIFACT, FILE_MARK] {
        put(&*store, kind, [0; 32], "nonsense").await;
    }
    world.app.tidy_files(later, 100, &|| true).await.unwrap();
    world.get(&format!("/v1/artifacts/{digest}?namespace=acme")).await.problem(404, "not_found");
    world.app.tidy_files(later, 100, &|| true).await.unwrap();
    assert_eq!(world.files(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_else_removes_is_left_to_them_for_a_while() {
    let world = World::start().await;
    let digest = push(&world, "acme", b"tool").await;
    let path = format!("/v1/artifacts/{digest}?namespace=acme");
    world.call(&world.admin, "DELETE", &path, None).await.expect(204);
    let later = |seconds| world.app.now() + Duration::from_secs(seconds);
    world.app.tidy_files(later(2 * 3600), 100, &|| false).await.unwrap();
    assert_eq!(world.files(), 1, "it is claimed by somebody who was held up");
    world.app.tidy_files(later(60), 100, &|| true).await.unwrap();
    assert_eq!(world.files(), 1, "whoever claimed it may be about to remove it");
    world.app.tidy_files(later(180), 100, &|| true).await.unwrap();
    assert_eq!(world.files(), 0);
    // Whoever brings it meanwhile is told to come again, and what they brought does not stay.
    let digest: Digest = digest.parse().unwrap();
    let mark = r#"{"since":0,"being_removed":true,"claimed_at":9000000000000000}"#;
    put(&*world.store().await, FILE_MARK, *digest.as_bytes(), mark).await;
    let bearer = format!("Bearer {}", world.admin);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/octet-stream")];
    world.send("POST", "/v1/artifacts?namespace=acme", &headers, b"tool").await.problem(409, "conflict");
    while world.files() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_that_is_not_what_was_named_is_never_there() {
    let world = World::start().await;
    let bearer = format!("Bearer {}", world.admin);
    let wrong = format!("sha256:{}", "0".repeat(64));
    let path = format!("/v1/artifacts?namespace=acme&digest={wrong}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/octet-stream")];
    world.send("POST", &path, &headers, b"other").await.problem(422, "invalid_request");
    while world.files() > 0 {
        tokio::task::yield_now().await;
    }
    push(&world, "acme", b"tool").await;
    let marks = world.store().await.records(RecordQuery::all(FILE_MARK, 10)).await.unwrap().rows;
    assert!(marks.is_empty(), "whoever has a file takes its mark away");
}

const ARTIFACT: RecordKind = RecordKind(8);
const FILE_MARK: RecordKind = RecordKind(11);

async fn put(store: &dyn Store, kind: RecordKind, key: [u8; 32], value: &str) {
    let key = [&key[..], b"acme"].concat();
    let key = if kind == FILE_MARK { key[..32].to_vec() } else { key };
    let value = value.as_bytes().to_vec().into();
    let record = Record { kind, key: key.into(), revision: 1, expires_at: None, value };
    let outcomes =
        store.commit(Transaction::unfenced(vec![Write::PutRecord(Box::new(record))])).await.expect("a store");
    assert_eq!(outcomes, [Outcome::Applied]);
}
