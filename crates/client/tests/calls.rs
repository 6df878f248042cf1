//! Calls: repeated where that is safe, redirected with the token, refused with a code.

use mainspring_client::api::Submit;
use mainspring_client::model::{ErrorCode, RunId, Timestamp};
use mainspring_client::{Client, Error, PutJob, RunsQuery};
use serde_json::{Value, json};

use crate::api::{Api, json as answer, problem};

fn id() -> RunId {
    RunId::new(Timestamp::from_micros(1_700_000_000_000_000), 7)
}

fn submitted() -> Value {
    json!({ "id": id(), "namespace": "default", "job": "job_00000000000000000000000001", "job_version": 1, "duplicate": false })
}

fn me() -> Value {
    json!({ "subject": "ann", "token": "t", "grants": [] })
}

#[tokio::test]
async fn a_submission_is_repeated_with_the_same_key() {
    let api = Api::start(|asked| match asked.number {
        0 => problem(503, "store_unavailable", "later"),
        _ => answer(201, submitted()),
    })
    .await;
    let submit = Submit { job: Some("etl".into()), ..Submit::default() };
    assert_eq!(api.client().submit(&submit).await.unwrap().id, id());
    let asked = api.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].line, "POST /v1/runs");
    assert_eq!(asked[0].header("authorization"), Some("Bearer ms_test"));
    let key = asked[0].header("idempotency-key").unwrap();
    assert!(!key.is_empty());
    assert_eq!(asked[1].header("idempotency-key"), Some(key));
    assert_eq!(asked[1].body, r#"{"job":"etl"}"#);
}

#[tokio::test]
async fn what_cannot_help_or_hurt_is_not_repeated() {
    let api = Api::start(|asked| match asked.line.as_str() {
        "POST /v1/tokens" => problem(503, "store_unavailable", "later"),
        _ => problem(404, "not_found", "never"),
    })
    .await;
    let error = api.client().run(id()).await.unwrap_err();
    assert!(error.is_not_found() && error.to_string() == "it is not_found", "{error:?}");
    let error = api.client().create_token(&Default::default()).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::StoreUnavailable));
    assert_eq!(api.asked().len(), 2, "a token must not be made twice");
}

#[tokio::test]
async fn the_owner_of_a_cell_gets_the_token_too() {
    let owner = Api::start(|_| answer(200, me())).await;
    let location = format!("http://{}/v1/me", owner.address);
    let other = Api::start(move |_| {
        let response = axum::response::Response::builder().status(307).header("location", &location);
        response.body(axum::body::Body::empty()).unwrap()
    })
    .await;
    assert_eq!(other.client().me().await.unwrap().subject, "ann");
    assert_eq!(owner.asked()[0].header("authorization"), Some("Bearer ms_test"));
}

#[tokio::test]
async fn lists_are_read_page_by_page() {
    let namespace = |name: &str| {
        let time = "2026-01-01T00:00:00Z";
        json!({ "path": name, "description": "", "revision": 1, "created_at": time, "created_by": "ann", "updated_at": time })
    };
    let api = Api::start(move |asked| match asked.line.as_str() {
        "GET /v1/namespaces" => answer(200, json!({ "items": [namespace("a")], "next_cursor": "x y" })),
        "GET /v1/namespaces?cursor=x+y" => answer(200, json!({ "items": [], "next_cursor": "z" })),
        "GET /v1/namespaces?cursor=z" => answer(200, json!({ "items": [namespace("b")] })),
        other => panic!("{other}"),
    })
    .await;
    let all = api.client().namespaces().all().await.unwrap();
    assert_eq!(all.iter().map(|found| found.path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(api.client().namespaces().take(1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn names_and_queries_are_escaped() {
    let api = Api::start(|_| problem(404, "not_found", "never")).await;
    let client = api.client();
    drop(client.namespace("acme/data").await);
    drop(client.runs(&RunsQuery::matching("job:etl created>-2h")).next().await);
    let put = PutJob { if_revision: Some(7), ..PutJob::default() };
    drop(client.put_job(Some("a/b"), "x", &json!({}), put).await);
    let asked = api.asked();
    assert_eq!(asked[0].line, "GET /v1/namespaces/acme%2Fdata");
    assert_eq!(asked[1].line, "GET /v1/runs?q=job%3Aetl+created%3E-2h");
    assert_eq!(asked[2].line, "PUT /v1/jobs/x?namespace=a%2Fb");
    assert_eq!(asked[2].header("if-match"), Some("\"7\""));
}

#[tokio::test]
async fn nobody_there_is_told_apart() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = Client::builder(format!("http://{address}")).retries(0).build().unwrap();
    assert!(matches!(client.me().await.unwrap_err(), Error::Unreachable { .. }));
    assert!(matches!(Client::builder("ftp://x").build().unwrap_err(), Error::Setup(_)));
    assert!(matches!(Client::builder("nonsense").build().unwrap_err(), Error::Setup(_)));
    let malformed = Client::builder("http://h").token("ms_a\nb").build().unwrap_err();
    assert!(matches!(&malformed, Error::Setup(words) if words.contains("malformed")), "{malformed:?}");
}

#[tokio::test]
async fn a_proxy_in_front_is_understood() {
    let api = Api::start(|_| {
        let response = axum::response::Response::builder().status(413);
        response.body("<html>too big</html>".into()).unwrap()
    })
    .await;
    let error = api.client().me().await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::TooLarge));
}

#[tokio::test]
async fn a_file_is_uploaded_as_it_is() {
    let digest = format!("sha256:{}", "a".repeat(64));
    let answer_digest = digest.clone();
    let api = Api::start(move |asked| {
        let bytes = asked.body.len();
        answer(
            201,
            json!({ "digest": answer_digest, "namespace": "default", "name": "x", "bytes": bytes,
                            "created_at": "2026-01-01T00:00:00Z", "created_by": "ann" }),
        )
    })
    .await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, "x".repeat(600_000)).unwrap();
    let sent = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let told = std::sync::Arc::clone(&sent);
    let add = move |bytes| {
        told.fetch_add(bytes, std::sync::atomic::Ordering::SeqCst);
    };
    let artifact = api.client().push_artifact(None, "x", &path, Some("7d"), add).await.unwrap();
    assert_eq!((artifact.bytes, artifact.digest.to_string()), (600_000, digest));
    assert_eq!(sent.load(std::sync::atomic::Ordering::SeqCst), 600_000);
    assert_eq!(api.asked()[0].header("content-length"), Some("600000"));
}

#[tokio::test]
async fn of_several_servers_the_next_is_asked_when_one_cannot_be_reached() {
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let api = Api::start(|asked| match asked.line.as_str() {
        "GET /readyz" => answer(503, json!({ "ready": false, "waits_for": ["store"] })),
        "POST /v1/tokens" => problem(503, "store_unavailable", "later"),
        _ => answer(200, me()),
    })
    .await;
    let url = format!("http://{gone}, http://{},", api.address);
    let client = Client::builder(&url).token("ms_test").retries(0).build().unwrap();
    assert_eq!(client.me().await.unwrap().subject, "ann");
    assert!(client.url().contains(&api.address.to_string()), "it stays with the one that answered");
    let readiness = Client::builder(&url).retries(0).build().unwrap().readiness().await.unwrap();
    assert!(!readiness.ready && readiness.waits_for == ["store"], "{readiness:?}");
    let nobody = Client::builder(format!("http://{gone},http://{gone}/x")).retries(0).build().unwrap();
    assert!(matches!(nobody.me().await, Err(Error::Unreachable { .. })));
    // An answer is an answer: another server would make a second token.
    assert!(client.create_token(&Default::default()).await.is_err());
    assert_eq!(api.asked().iter().filter(|asked| asked.line == "POST /v1/tokens").count(), 1);
    for wrong in ["", " , ", "http://a,ftp://b"] {
        assert!(matches!(Client::builder(wrong).build(), Err(Error::Setup(_))), "{wrong}");
    }
}
