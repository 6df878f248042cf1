//! Tokens, sessions, nodes at the door.

use mainspring_model::{ErrorCode, NodeId, Timestamp};
use serde_json::{Value, json};

use super::World;
use super::world::text;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gets_in_without_a_token() {
    let world = World::start().await;
    let none = world.send("GET", "/v1/jobs", &[], b"").await;
    none.problem(401, "unauthenticated");
    assert!(none.header("www-authenticate").is_some());
    for wrong in
        ["Bearer x", "Basic eDp5", "Bearer ms_0000000000000000000000000000000000000000000000000000000000"]
    {
        world.send("GET", "/v1/jobs", &[("authorization", wrong)], b"").await.problem(401, "unauthenticated");
    }
    assert!(world.app.bootstrap().await.unwrap().is_none(), "there is one first admin");
    let me = world.get("/v1/me").await.expect(200);
    assert_eq!(me["grants"], json!([{"role": "admin"}]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_limited_and_revoked_at_once() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let scopes = json!([{"namespace": "acme", "role": "viewer"}]);
    let created =
        world.post("/v1/tokens", json!({"name": "ci", "ttl": "1h", "scopes": scopes})).await.expect(201);
    let (secret, id) = (text(&created["secret"]), text(&created["token"]["id"]));
    assert!(secret.starts_with("ms_"));
    world.call(&secret, "GET", "/v1/jobs/etl?namespace=acme", None).await.expect(200);
    let body = json!({"namespace": "acme", "job": "etl"});
    world.call(&secret, "POST", "/v1/runs", Some(&body)).await.problem(403, "forbidden");
    world.call(&secret, "GET", "/v1/nodes", None).await.problem(403, "forbidden");
    let made = world.call(&secret, "POST", "/v1/tokens", None).await.expect(201);
    assert_eq!(made["token"]["scopes"], scopes, "a limited token makes no better one");
    world.call(&world.admin, "DELETE", &format!("/v1/tokens/{id}"), None).await.expect(204);
    world.call(&secret, "GET", "/v1/jobs/etl?namespace=acme", None).await.problem(401, "unauthenticated");
    let all = world.get("/v1/tokens?all=true").await;
    assert!(!String::from_utf8_lossy(&all.body).contains(&secret), "secrets are not kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limited_token_revokes_only_itself() {
    let world = World::start().await;
    let scopes = json!([{"namespace": "acme", "role": "viewer"}]);
    let limited = world.post("/v1/tokens", json!({ "scopes": scopes })).await.expect(201);
    let other = world.post("/v1/tokens", json!({})).await.expect(201);
    let path = |made: &Value| format!("/v1/tokens/{}", text(&made["token"]["id"]));
    let secret = text(&limited["secret"]);
    world.call(&secret, "DELETE", &path(&other), None).await.problem(403, "forbidden");
    world.call(&text(&other["secret"]), "GET", "/v1/me", None).await.expect(200);
    world.call(&secret, "DELETE", &path(&limited), None).await.expect(204);
    world.call(&secret, "GET", "/v1/me", None).await.problem(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_that_is_taken_away_is_gone() {
    let world = World::start().await;
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    world.call(&ann, "GET", "/v1/jobs?namespace=acme/data", None).await.expect(200);
    world.call(&ann, "GET", "/v1/jobs?namespace=rival", None).await.problem(403, "forbidden");
    world.call(&world.admin, "DELETE", "/v1/members/ann?namespace=acme", None).await.expect(204);
    world.call(&ann, "GET", "/v1/jobs?namespace=acme/data", None).await.problem(403, "forbidden");
    world.call(&world.admin, "DELETE", "/v1/members/admin", None).await.problem(409, "illegal_state");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_code_opens_one_session() {
    let world = World::start().await;
    let code = text(&world.call(&world.admin, "POST", "/v1/login-codes", None).await.expect(201)["code"]);
    let body = serde_json::to_vec(&json!({ "code": code })).unwrap();
    let json_type = ("content-type", "application/json");
    let opened = world.send("POST", "/v1/sessions", &[json_type], &body).await;
    opened.expect(201);
    let cookie = opened.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    world.send("POST", "/v1/sessions", &[json_type], &body).await.problem(401, "unauthenticated");

    world.send("GET", "/v1/me", &[("cookie", pair)], b"").await.expect(200);
    let put = |origin: Option<&'static str>| {
        let host = format!("http://{}", world.address);
        let (world, pair) = (&world, pair.to_owned());
        async move {
            let origin = origin.map_or(host, Into::into);
            let headers = [("cookie", pair.as_str()), ("origin", origin.as_str())];
            world.send("PUT", "/v1/namespaces/acme", &headers, b"").await
        }
    };
    put(Some("http://evil.example")).await.problem(403, "forbidden");
    put(None).await.expect(201);
    let none = world.send("PUT", "/v1/namespaces/acme", &[("cookie", pair)], b"").await;
    none.problem(403, "forbidden");
    let origin = format!("http://{}", world.address);
    world.send("DELETE", "/v1/sessions", &[("cookie", pair), ("origin", &origin)], b"").await.expect(204);
    world.send("GET", "/v1/me", &[("cookie", pair)], b"").await.problem(401, "unauthenticated");
}

/// Opens a session and tells its cookie and when it ends.
async fn open(world: &World, with: Value) -> (String, String) {
    let body = serde_json::to_vec(&with).expect("JSON");
    let opened = world.send("POST", "/v1/sessions", &[("content-type", "application/json")], &body).await;
    let ends = text(&opened.expect(201)["expires_at"]);
    (opened.header("set-cookie").expect("a cookie").split(';').next().expect("a pair").to_owned(), ends)
}

/// A login code made with a session.
async fn code_of(world: &World, cookie: &str) -> Value {
    let origin = format!("http://{}", world.address);
    let headers = [("cookie", cookie), ("origin", origin.as_str())];
    world.send("POST", "/v1/login-codes", &headers, b"").await.expect(201)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ends_with_what_it_came_from() {
    let world = World::start().await;
    let made = world.post("/v1/tokens", json!({"ttl": "5m"})).await.expect(201);
    let (secret, id) = (text(&made["secret"]), text(&made["token"]["id"]));
    let end = text(&made["token"]["expires_at"]);
    let code = world.call(&secret, "POST", "/v1/login-codes", None).await.expect(201);
    assert_eq!(text(&code["expires_at"]), end, "a code ends with its token");
    let (first, ends) = open(&world, json!({"code": code["code"]})).await;
    assert_eq!(ends, end, "a session by code ends with the token behind the code");
    let (second, ends) = open(&world, json!({"code": code_of(&world, &first).await["code"]})).await;
    assert_eq!(ends, end, "and so does the next one in the chain");
    let (third, _) = open(&world, json!({"token": secret})).await;
    let unused = code_of(&world, &second).await;
    for cookie in [&first, &second, &third] {
        world.send("GET", "/v1/me", &[("cookie", cookie)], b"").await.expect(200);
    }
    world.call(&world.admin, "DELETE", &format!("/v1/tokens/{id}"), None).await.expect(204);
    for cookie in [&first, &second, &third] {
        world.send("GET", "/v1/me", &[("cookie", cookie)], b"").await.problem(401, "unauthenticated");
    }
    let unused = json!({"code": unused["code"]});
    world.post("/v1/sessions", unused).await.problem(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_token_is_good_for_one_node() {
    let world = World::start().await;
    let issued = world.post("/v1/join-tokens", json!({"pool": "gpu", "ttl": "5m"})).await.expect(201);
    let token = text(&issued["token"]);
    let node = |n| NodeId::new(Timestamp::from_micros(1), n);
    let nonce = [7; 32];
    assert!(world.app.redeem_join_token(&token, node(1), "a", b"short").await.is_err());
    let credential = world.app.redeem_join_token(&token, node(1), "a", &nonce).await.unwrap();
    let again = world.app.redeem_join_token(&token, node(1), "a", &nonce).await.unwrap();
    assert_eq!(again, credential, "the answer may have been lost");
    assert!(world.app.redeem_join_token(&token, node(1), "a", &[8; 32]).await.is_err());
    assert!(world.app.redeem_join_token(&token, node(2), "b", &nonce).await.is_err());
    let identity = world.app.authenticate_node(&credential).await.unwrap();
    assert_eq!((identity.node, identity.pool.as_deref()), (node(1), Some("gpu")));
    assert!(world.app.authenticate_node(&world.admin).await.is_err());
    world.call(&credential, "GET", "/v1/me", None).await.problem(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_joined_is_nobody_elses() {
    let world = World::start().await;
    let node = NodeId::new(Timestamp::from_micros(1), 1);
    let path = format!("/v1/nodes/{node}");
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let issued = world.call(&world.admin, "POST", "/v1/join-tokens", None).await.expect(201);
        tokens.push(text(&issued["token"]));
    }
    world.call(&world.admin, "DELETE", &path, None).await.problem(404, "not_found");
    let credential = world.app.redeem_join_token(&tokens[0], node, "a", &[7; 32]).await.unwrap();
    let thief = world.app.redeem_join_token(&tokens[1], node, "a", &[8; 32]).await;
    assert_eq!(thief.unwrap_err().code, ErrorCode::Forbidden);
    assert_eq!(world.app.redeem_join_token(&tokens[0], node, "a", &[7; 32]).await.unwrap(), credential);
    world.app.authenticate_node(&credential).await.unwrap();

    world.call(&world.admin, "DELETE", &path, None).await.expect(204);
    assert!(world.app.authenticate_node(&credential).await.is_err(), "a removed node is not let in");
    assert!(world.app.redeem_join_token(&tokens[0], node, "a", &[7; 32]).await.is_err());
    let audit = world.get("/v1/audit?operation=node.remove").await.expect(200);
    let told: Vec<_> = audit["items"].as_array().unwrap().iter().map(|entry| &entry["target"]).collect();
    assert_eq!(told, [&json!(node.to_string()), &json!(node.to_string())]);
    let again = world.app.redeem_join_token(&tokens[1], node, "a", &[8; 32]).await.unwrap();
    world.app.authenticate_node(&again).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_admins_do_not_remove_each_other() {
    let world = World::start().await;
    let ann = world.somebody("ann", None, Some("admin")).await;
    for round in 0..20 {
        // Once as a removal, once as a lower role.
        let lower = async |token: &str, subject: &str| match round % 2 {
            0 => world.call(token, "DELETE", &format!("/v1/members/{subject}"), None).await.status,
            _ => {
                let role = json!({"role": "viewer"});
                world.call(token, "PUT", &format!("/v1/members/{subject}"), Some(&role)).await.status
            }
        };
        let (one, other) = tokio::join!(lower(&ann, "admin"), lower(&world.admin, "ann"));
        let survivor = match (one, other) {
            (200 | 204, 403 | 409) => (&ann, "admin"),
            (403 | 409, 200 | 204) => (&world.admin, "ann"),
            both => panic!("round {round}: {both:?}"),
        };
        let role = json!({"role": "admin"});
        let path = format!("/v1/members/{}", survivor.1);
        let again = world.call(survivor.0, "PUT", &path, Some(&role)).await;
        assert!(matches!(again.status, 200 | 201), "round {round}: somebody is admin");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_can_be_made_with_the_last_which_is_then_revoked() {
    let world = World::start().await;
    let mut last = world.post("/v1/tokens", json!({})).await.expect(201);
    for _ in 0..20 {
        let next =
            world.call(&text(&last["secret"]), "POST", "/v1/tokens", Some(&json!({}))).await.expect(201);
        let path = format!("/v1/tokens/{}", text(&last["token"]["id"]));
        world.call(&text(&next["secret"]), "DELETE", &path, None).await.expect(204);
        world.call(&text(&last["secret"]), "GET", "/v1/me", None).await.problem(401, "unauthenticated");
        last = next;
    }
}
