//! Who asks: what they may do, whom they can ask for more, and what the server says of itself.

use mainspring_wire::api::Time;
use serde_json::{Value, json};

use super::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_tells_its_time_and_its_version() {
    let world = World::start().await;
    let before = world.app.now();
    let me = world.get("/v1/me").await.expect(200);
    let Time(now) = serde_json::from_value(me["server"]["now"].clone()).expect("a time");
    // It is told in milliseconds.
    assert!(before.as_micros() / 1_000 <= now.as_micros() / 1_000 && now <= world.app.now(), "{now}");
    let cluster = world.get("/v1/cluster").await.expect(200);
    assert_eq!(me["server"]["software"], cluster["software"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_are_told_whom_to_ask_for_a_role() {
    let world = World::start().await;
    for (subject, place) in [("dora", "acme/data"), ("alma", "acme"), ("rita", "rival")] {
        world.somebody(subject, Some(place), Some("admin")).await;
    }
    let everywhere = json!({"subject": "admin"});
    let nobody = world.somebody("nobody", None, None).await;
    assert_eq!(admins(&world, &nobody).await, json!([everywhere]));
    let ann = world.somebody("ann", Some("acme"), Some("viewer")).await;
    let dora = json!({"subject": "dora", "namespace": "acme/data"});
    let alma = json!({"subject": "alma", "namespace": "acme"});
    assert_eq!(admins(&world, &ann).await, json!([dora, alma, everywhere]), "not who is admin of a rival");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_all_admins_are_named() {
    let world = World::start().await;
    for number in 0..20 {
        world.put(&format!("/v1/members/admin-{number}"), json!({"role": "admin"})).await.expect(201);
    }
    let me = world.get("/v1/me").await.expect(200);
    assert_eq!(me["admins"]["items"].as_array().map(Vec::len), Some(20));
    assert_eq!(me["admins"]["partial"], json!(true));
}

async fn admins(world: &World, token: &str) -> Value {
    let me = world.call(token, "GET", "/v1/me", None).await.expect(200);
    assert_eq!(me["admins"]["partial"], json!(false));
    me["admins"]["items"].clone()
}
