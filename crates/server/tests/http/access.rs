//! Why somebody may do something; what a server goes by; whether the audit is whole; when tokens were used.

use serde_json::{Value, json};

use super::World;
use super::world::text;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_grant_that_decides_is_named() {
    let world = World::start().await;
    world.somebody("ann", Some("acme"), Some("operator")).await;
    let ask = async |operation: &str, place: &str| -> Value {
        let path = format!("/v1/access?subject=ann&operation={operation}{place}");
        world.get(&path).await.expect(200)
    };
    let may = ask("run.cancel", "&namespace=acme/data").await;
    assert_eq!((&may["allowed"], &may["needs"]), (&json!(true), &json!("operator")));
    assert_eq!(may["grant"], json!({"namespace": "acme", "role": "operator"}));
    let too_little = ask("job.put", "&namespace=acme").await;
    assert_eq!((&too_little["allowed"], &too_little["grant"]["role"]), (&json!(false), &json!("operator")));
    let elsewhere = ask("run.cancel", "&namespace=rival").await;
    assert_eq!((&elsewhere["allowed"], elsewhere.get("grant")), (&json!(false), None));
    let everywhere = ask("node.drain", "&namespace=acme").await;
    assert_eq!((&everywhere["allowed"], &everywhere["place"]), (&json!(false), &json!("everywhere")));
    let own = ask("me", "").await;
    assert_eq!((&own["allowed"], &own["place"], own.get("needs")), (&json!(true), &json!("signed_in"), None));
    world.get("/v1/access?subject=ann&operation=run.fly").await.problem(422, "invalid_request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_in_force_are_told() {
    let world = World::with_options(|options| options.cells = 3).await;
    let settings = world.get("/v1/settings").await.expect(200);
    let of = |name: &str| {
        let list = settings["settings"].as_array().expect("settings");
        list.iter().find(|one| one["name"] == name).map(|one| one["value"].clone())
    };
    assert_eq!((of("cells"), of("roles")), (Some(json!("3")), Some(json!("api, scheduler"))), "{settings}");
    assert_eq!(of("header_timeout"), Some(json!("10s")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_audit_is_checked_part_by_part() {
    let world = World::start().await;
    for number in 0..5 {
        world.job("acme", &format!("job-{number}")).await;
    }
    let check = world.get("/v1/audit/verify").await.expect(200);
    assert_eq!((&check["breaks"], check.get("next_cursor")), (&json!([]), None), "{check}");
    assert!(check["checked"].as_u64() >= Some(5), "{check}");
    assert!(text(&check["from"]) < text(&check["until"]), "{check}");
    world.get("/v1/audit/verify?cursor=xyz").await.problem(422, "invalid_request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_tells_when_it_was_last_used() {
    let world = World::start().await;
    let made = world.post("/v1/tokens", json!({"name": "ci"})).await.expect(201);
    let (secret, id) = (text(&made["secret"]), text(&made["token"]["id"]));
    assert!(made["token"].get("last_used_at").is_none());
    world.call(&secret, "GET", "/v1/me", None).await.expect(200);
    let used = loop {
        let token = world.get(&format!("/v1/tokens/{id}")).await.expect(200);
        if token["last_used_at"].is_string() {
            break token;
        }
    };
    assert_eq!((&used["from"], &used["kind"]), (&json!("127.0.0.1"), &json!("api")), "{used}");
    let listed = world.get("/v1/tokens").await.expect(200);
    let found = listed["items"].as_array().expect("tokens").iter().find(|token| token["id"] == id.as_str());
    assert_eq!(found.expect("it")["last_used_at"], used["last_used_at"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_names_what_a_finding_is_about_in_both_languages() {
    let world = World::start().await;
    world.post("/v1/cells/0/pause", json!({"note": "look"})).await.expect(200);
    world.timed("acme", "late", json!([{"after": "nowhere"}])).await;
    let doctor = world.get("/v1/doctor").await.expect(200);
    let findings = doctor["findings"].as_array().expect("findings");
    for finding in findings {
        for field in ["message_zh", "remedy_zh"] {
            assert!(finding[field].as_str().is_some_and(|words| !words.is_ascii()), "{finding}");
        }
    }
    let about = |kind: &str| {
        let found = findings.iter().find(|finding| finding["subject"]["kind"] == kind);
        found.unwrap_or_else(|| panic!("{kind} in {doctor}"))
    };
    assert_eq!(about("cell")["subject"]["name"], "0");
    assert!(about("cell")["since"].is_string(), "{doctor}");
    assert_eq!(about("job")["subject"]["namespace"], "acme");
}
