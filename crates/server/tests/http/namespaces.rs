//! Namespaces: what keeps one from being removed.

use serde_json::json;

use super::World;
use super::world::text;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_goes_only_when_nothing_is_left_in_it() {
    let world = World::start().await;
    let delete = async |path: &str| world.call(&world.admin, "DELETE", path, None).await;
    let (here, near) = ("/v1/namespaces/acme", "/v1/namespaces/acme-two");
    for path in [here, near] {
        world.call(&world.admin, "PUT", path, None).await.expect(201);
    }
    world.put("/v1/members/ann?namespace=acme", json!({"role": "viewer"})).await.expect(201);
    let bearer = format!("Bearer {}", world.admin);
    let upload =
        world.send("POST", "/v1/artifacts?namespace=acme", &[("authorization", &bearer)], b"x").await;
    let digest = text(&upload.expect(201)["digest"]);

    let refused = delete(here).await.problem(409, "illegal_state");
    assert!(text(&refused["detail"]).contains("`ann`"), "{refused}");
    delete("/v1/members/ann?namespace=acme").await.expect(204);
    let refused = delete(here).await.problem(409, "illegal_state");
    assert!(text(&refused["detail"]).contains(&digest), "{refused}");
    delete(near).await.expect(204);
    delete(&format!("/v1/artifacts/{digest}?namespace=acme")).await.expect(204);
    delete(here).await.expect(204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_that_jobs_live_in_exists() {
    let world = World::start().await;
    let (path, body) = ("/v1/namespaces/acme", json!({"description": "x"}));
    world.job("acme", "etl").await;
    let tag = world.get(path).await.header("etag").map(str::to_owned).expect("a tag");
    let put = async |condition: (&str, &str)| world.with("PUT", path, &[condition], Some(&body)).await;
    put(("if-none-match", "*")).await.problem(412, "precondition_failed");
    put(("if-match", &tag)).await.expect(201);
    put(("if-match", &tag)).await.problem(412, "precondition_failed");
}
