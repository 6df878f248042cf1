//! The text of a job as it was put, with a note and an origin; and looking at a text without putting it.

use serde_json::{Value, json};

use super::world::text;
use super::{Reply, World};

const YAML: &str = "# who to ask: data\nscript: 'true'\nname: etl # the short one\n";

async fn put(world: &World, query: &str, kind: &str, body: &str) -> Reply {
    let bearer = format!("Bearer {}", world.admin);
    let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
    world.send("PUT", &format!("/v1/jobs/etl?{query}"), &headers, body.as_bytes()).await
}

async fn validate(world: &World, token: &str, query: &str, kind: &str, body: &str) -> Reply {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
    world.send("POST", &format!("/v1/jobs/validate?{query}"), &headers, body.as_bytes()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_keeps_its_text_its_note_and_where_it_came_from() {
    let world = World::start().await;
    put(&world, "note=first%20try&origin=console", "application/yaml", YAML).await.expect(201);
    let first = world.get("/v1/jobs/etl/versions/1").await.expect(200);
    assert_eq!(first["source"], json!({"text": YAML, "media_type": "application/yaml"}));
    assert_eq!((&first["note"], &first["origin"]), (&json!("first try"), &json!("console")));
    // Longer than one record; of more than one language.
    let long = format!("name = \"etl\"\nscript = \"true\"\n# {}\nowner = \"x\"\n", "数据 ".repeat(60_000));
    put(&world, "", "application/toml", &long).await.expect(200);
    let second = world.get("/v1/jobs/etl/versions/2").await.expect(200);
    assert_eq!(second["source"], json!({"text": long, "media_type": "application/toml"}));
    assert_eq!((second.get("note"), &second["origin"]), (None, &json!("api")));
    let versions = world.get("/v1/jobs/etl/versions").await.expect(200);
    let told: Vec<(&Value, &Value, bool)> = versions["items"]
        .as_array()
        .expect("versions")
        .iter()
        .map(|version| (&version["note"], &version["origin"], version.get("source").is_some()))
        .collect();
    assert_eq!(told, [(&Value::Null, &json!("api"), false), (&json!("first try"), &json!("console"), false)]);
    let page = world.get("/v1/jobs/etl/versions?cursor=2").await.expect(200);
    assert_eq!(page["items"][0]["note"], "first try");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_comments_are_kept_without_a_new_version() {
    let world = World::start().await;
    put(&world, "", "application/yaml", YAML).await.expect(201);
    let other = "name: etl\nscript: 'true' # nothing\n";
    for (query, body, expected) in
        [("dry_run=true", other, YAML), ("", other, other), ("", other, other), ("", YAML, YAML)]
    {
        assert_eq!(put(&world, query, "application/yaml", body).await.expect(200)["outcome"], "unchanged");
        let first = world.get("/v1/jobs/etl/versions/1").await.expect(200);
        assert_eq!(first["source"]["text"], expected, "{query}");
    }
    assert_eq!(world.get("/v1/jobs/etl").await.expect(200)["version"], 1);
    let long = "x".repeat(4097);
    put(&world, &format!("note={long}"), "application/yaml", YAML).await.expect(422);
    put(&world, "origin=moon", "application/yaml", YAML).await.expect(422);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn problems_have_their_line_and_column() {
    let world = World::start().await;
    let vera = world.somebody("vera", Some("acme"), Some("viewer")).await;
    let check = async |kind: &str, body: &str, expected: &[(&str, Option<(u64, u64)>)]| {
        let reply = validate(&world, &vera, "namespace=acme", kind, body).await.expect(200);
        assert_eq!(reply["valid"], expected.is_empty(), "{reply}");
        let problem = |problem: &Value| {
            let place = problem["line"].as_u64().zip(problem["column"].as_u64());
            (text(&problem["path"]), place)
        };
        let mut found: Vec<_> = reply["problems"].as_array().expect("problems").iter().map(problem).collect();
        found.sort();
        let expected: Vec<_> = expected.iter().map(|(path, place)| ((*path).to_owned(), *place)).collect();
        assert_eq!(found, expected, "{reply}");
    };
    check("application/yaml", "name: etl\nscript: 'true'\n", &[]).await;
    let wrong =
        "name: etl\nscript: 'true'\nretri: {}\ntimeout:\n  run: soon\ntriggers:\n- cron: '99 * * * *'\n";
    let places = [("retri", Some((3, 1))), ("timeout.run", Some((5, 3))), ("triggers[0].cron", Some((7, 3)))];
    check("application/yaml", wrong, &places).await;
    check(
        "application/json",
        "{\"name\": \"etl\",\n \"script\": \"true\", \"retri\": {}}",
        &[("retri", Some((2, 20)))],
    )
    .await;
    check("application/toml", "name = \"etl\"\nscript = \"true\"\n[retri]\n", &[("retri", Some((3, 2)))])
        .await;
    check("application/json", "{\"name\": \n!}", &[("", Some((2, 1)))]).await;
    check(
        "application/yaml",
        "script: 'true'\nname: etl\nnamespace: rival\n",
        &[("namespace", Some((3, 1)))],
    )
    .await;
    let put = put(&world, "", "application/yaml", wrong).await.problem(422, "invalid_spec");
    assert_eq!(put["errors"].as_array().map(Vec::len), Some(3), "{put}");
    assert!(put["errors"].as_array().expect("errors").iter().all(|error| error["line"].is_u64()), "{put}");
    let other = validate(&world, &vera, "namespace=acme&job=web", "application/yaml", YAML).await.expect(200);
    assert_eq!((&other["problems"][0]["path"], &other["problems"][0]["line"]), (&json!("name"), &json!(3)));
    validate(&world, &vera, "namespace=rival", "application/yaml", YAML).await.problem(403, "forbidden");
    world.get("/v1/jobs/etl").await.problem(404, "not_found");
}
