//! Several servers on one store: two that own two cells each, and one in front of them that owns none.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{CellId, MemberId, Namespace, NodeId, Timestamp};
use mainspring_server::Roles;
use mainspring_store::{LeaseGrant, LeaseRequest, Store};
use mainspring_store_mem::MemStore;
use serde_json::{Value, json};

use super::World;
use super::node::Node;
use super::world::text;

const CELLS: u16 = 4;

struct Cluster {
    front: World,
    /// The first owns the cells 0 and 1, the other 2 and 3.
    owners: [World; 2],
}

impl Cluster {
    async fn start() -> Self {
        let store: Arc<dyn Store> = Arc::new(MemStore::default());
        let (one, admin) = Self::owner(&store, 1, None).await;
        let (other, admin) = Self::owner(&store, 2, Some(admin)).await;
        let roles = Roles { api: true, scheduler: false };
        let data = tempfile::tempdir().expect("a folder");
        let front = World::beside(store, data, Some(admin), |options| {
            (options.roles, options.cells) = (roles, CELLS);
        });
        Self { front: front.await, owners: [one, other] }
    }

    /// A server that finds leases of its own, and of others for the other cells.
    async fn owner(store: &Arc<dyn Store>, number: u16, admin: Option<String>) -> (World, String) {
        let member = |number: u16| MemberId::new(Timestamp::from_micros(1), u128::from(number));
        let data = tempfile::tempdir().expect("a folder");
        std::fs::write(data.path().join("member"), member(number).to_string()).expect("a file");
        let until = store.clock().await.expect("a clock") + Duration::from_secs(60);
        for cell in 0..CELLS {
            let lease = LeaseRequest {
                cell: CellId(cell),
                member: member(1 + cell / 2),
                observed: None,
                expires_at: until,
            };
            store.acquire_lease(lease).await.expect("a store");
        }
        let world = World::beside(Arc::clone(store), data, admin, |options| options.cells = CELLS).await;
        let admin = world.admin.clone();
        (world, admin)
    }

    /// A namespace for each cell.
    fn namespaces() -> Vec<String> {
        let of = |cell: u16| {
            let mut names = (0..).map(|number| format!("n{number}"));
            let is_there = |name: &String| {
                CellId::of(&name.parse::<Namespace>().expect("a namespace"), CELLS) == CellId(cell)
            };
            names.find(is_there).expect("some name")
        };
        (0..CELLS).map(of).collect()
    }

    /// A node in one of an owner's cells.
    async fn node(&self, owner: usize) -> (NodeId, Node) {
        let mut ids = (1..).map(|number| NodeId::new(Timestamp::from_micros(1), number));
        let is_there = |id: &NodeId| (id.hash64() % u64::from(CELLS) / 2) as usize == owner;
        let id = ids.find(is_there).expect("some id");
        (id, Node::start_as(&self.owners[owner], id).await)
    }

    /// A waiting run in each cell.
    async fn wait_everywhere(&self) -> Vec<String> {
        let mut runs = Vec::new();
        for namespace in Self::namespaces() {
            self.front.job(&namespace, "job").await;
            runs.push(self.front.run(&namespace, "job").await);
        }
        runs
    }
}

fn items(page: &Value) -> &[Value] {
    page["items"].as_array().expect("items")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_passed_on_keeps_its_one_id() {
    let Cluster { front, owners: _owners } = Cluster::start().await;
    let trigger = json!({"webhook": {"dedupe": "{{ headers['x-request-id'] }}"}});
    front.timed("default", "deploy", json!([trigger])).await;
    let made = front.post("/v1/jobs/deploy/triggers/webhook/token", json!({})).await.expect(201);
    let path = text(&made["path"]);
    let call = async |id: &str| {
        let headers = [("content-type", "application/json"), ("x-request-id", id)];
        front.send("POST", &path, &headers, b"{}").await
    };
    let (first, again) = (call("one").await, call("one").await);
    assert_eq!(first.expect(201)["id"], again.expect(200)["id"], "the same delivery");
    let unfit = call("not fit!").await;
    unfit.expect(201);
    let audit = front.get("/v1/audit?operation=hook.call&limit=1").await.expect(200);
    assert_eq!(audit["items"][0]["request_id"].as_str(), unfit.header("x-request-id"), "{audit}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_changed_something_finds_it_changed_whoever_is_asked() {
    let Cluster { front, owners: _owners } = Cluster::start().await;
    front.job("acme", "etl").await;
    let wish = json!({"namespace": "acme", "job": "etl"});
    assert_eq!(front.post("/v1/runs", wish.clone()).await.expect(201)["job_version"], 1);
    let spec = json!({"name": "etl", "script": "echo two"});
    front.put("/v1/jobs/etl?namespace=acme", spec).await.expect(200);
    assert_eq!(front.post("/v1/runs", wish.clone()).await.expect(201)["job_version"], 2);
    let ann = front.somebody("ann", Some("acme"), Some("viewer")).await;
    front.call(&ann, "POST", "/v1/runs", Some(&wish)).await.problem(403, "forbidden");
    front.put("/v1/members/ann?namespace=acme", json!({"role": "operator"})).await.expect(200);
    front.call(&ann, "POST", "/v1/runs", Some(&wish)).await.expect(201);
    front.call(&front.admin, "DELETE", "/v1/members/ann?namespace=acme", None).await.expect(204);
    front.call(&ann, "POST", "/v1/runs", Some(&wish)).await.problem(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_has_what_each_owner_knows() {
    let cluster = Cluster::start().await;
    let runs = cluster.wait_everywhere().await;
    let (_one, _other) = (cluster.node(0).await, cluster.node(1).await);
    for world in [&cluster.front, &cluster.owners[0], &cluster.owners[1]] {
        let nodes = world.get("/v1/nodes").await.expect(200);
        assert_eq!(items(&nodes).len(), 2, "{nodes}");
        for node in items(&nodes) {
            assert_eq!(node["connected"], true, "{node}");
        }
        let listed = world.get("/v1/runs").await.expect(200);
        assert_eq!(items(&listed).len(), runs.len());
        for run in items(&listed) {
            let alone = world.get(&format!("/v1/runs/{}", text(&run["id"]))).await.expect(200);
            assert_eq!((&run["state"], &run["reason"]), (&alone["state"], &alone["reason"]), "{run}");
        }
        let seen = world.get("/v1/cluster").await.expect(200);
        for cell in seen["cells"].as_array().expect("cells") {
            assert_eq!(cell["loaded"], true, "{cell}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_asks_every_owner_and_names_those_who_do_not_answer() {
    let cluster = Cluster::start().await;
    cluster.wait_everywhere().await;
    let worlds = [&cluster.front, &cluster.owners[0], &cluster.owners[1]];
    let checks = |doctor: &Value| -> Vec<String> {
        let findings = doctor["findings"].as_array().expect("findings");
        findings.iter().map(|finding| text(&finding["check"])).collect()
    };
    for world in worlds {
        let doctor = world.get("/v1/doctor").await.expect(200);
        assert_eq!(checks(&doctor).iter().filter(|check| *check == "waiting").count(), 1, "{doctor}");
        assert!(!checks(&doctor).contains(&"owners".to_owned()), "all were asked: {doctor}");
        assert_eq!(
            (&doctor["healthy"], &doctor["findings"][0]["severity"]),
            (&json!(false), &json!("failure"))
        );
    }
    // What an owner says by itself is not the whole.
    let alone = cluster.owners[0].with("GET", "/v1/doctor", &[("x-mainspring-forwarded", "1")], None).await;
    let alone = alone.expect(200);
    assert_eq!(checks(&alone).iter().filter(|check| *check == "owners").count(), 2, "{alone}");
    assert!(alone.to_string().contains("cell 2") && alone.to_string().contains("cell 3"), "{alone}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_on_many_runs_reaches_each_owner_and_is_written_down_once() {
    let cluster = Cluster::start().await;
    for (world, matched) in [(&cluster.front, 4), (&cluster.owners[1], 4)] {
        cluster.wait_everywhere().await;
        let done = world.bulk(json!({"q": "state:active", "action": "cancel", "preview": false})).await;
        assert_eq!((&done["matched"], &done["done"]), (&json!(matched), &json!(matched)), "{done}");
        let left = world.get("/v1/runs?q=state:active").await.expect(200);
        assert!(items(&left).is_empty(), "{left}");
    }
    let entries = cluster.front.get("/v1/audit?operation=run.bulk").await.expect(200);
    assert_eq!(items(&entries).len(), 2, "one for each call: {entries}");
    let entries = cluster.front.get("/v1/audit?operation=run.cancel").await.expect(200);
    assert_eq!(items(&entries).len(), 8, "one for each run: {entries}");
    let rerun = json!({"q": "state:cancelled", "action": "rerun", "preview": false});
    let done = cluster.front.bulk(rerun).await;
    assert_eq!((&done["matched"], &done["done"]), (&json!(8), &json!(8)), "{done}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_taken_while_their_owner_is_away() {
    let cluster = Cluster::start().await;
    let namespace = &Cluster::namespaces()[0];
    cluster.front.job(namespace, "job").await;
    let before = cluster.front.run(namespace, "job").await;
    let address = cluster.owners[0].address;
    cluster.owners[0].stop();
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let during = cluster.front.run(namespace, "job").await;
    let runs = cluster.front.get("/v1/runs").await.expect(200);
    let mut listed: Vec<String> = items(&runs).iter().map(|run| text(&run["id"])).collect();
    listed.sort();
    assert_eq!(listed, [before, during]);
    let entries = cluster.front.get("/v1/audit?operation=run.submit").await.expect(200);
    assert_eq!(items(&entries).len(), 2, "{entries}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_passed_on_ends_with_the_server_that_does() {
    let cluster = Cluster::start().await;
    let namespace = &Cluster::namespaces()[0];
    cluster.front.job(namespace, "job").await;
    let run = cluster.front.run(namespace, "job").await;
    let bearer = format!("Bearer {}", cluster.front.admin);
    let path = format!("/v1/runs/{run}/logs?follow=true");
    let headers = [("authorization", bearer.as_str()), ("accept", "text/event-stream")];
    let mut events = cluster.front.send("GET", &path, &headers, b"").await;
    cluster.front.stop();
    let ended = tokio::time::timeout(Duration::from_secs(600), events.has_ended()).await;
    assert_eq!(ended, Ok(true), "nobody waits for a stream");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_put_where_no_cell_is_owned_counts_when_it_is_acknowledged() {
    let Cluster { front, owners } = Cluster::start().await;
    for (cell, namespace) in Cluster::namespaces().iter().enumerate() {
        let path = |tail: &str| format!("/v1/jobs/ticks{tail}?namespace={namespace}");
        for version in 1..=3 {
            let triggers = json!([{"name": "hourly", "every": "1h"}]);
            let spec = json!({"name": "ticks", "script": format!("exit {version}"), "triggers": triggers});
            front.put(&path(""), spec.clone()).await;
            let fired = owners[cell / 2].post(&path("/triggers/hourly/fire"), json!({})).await.expect(201);
            let run = front.get(&format!("/v1/runs/{}", text(&fired["id"]))).await.expect(200);
            assert_eq!(run["job_version"], version, "{run}");
            assert_eq!(front.put(&path(""), spec).await.expect(200)["outcome"], "unchanged");
        }
        assert_eq!(front.post(&path("/confirm"), json!({})).await.status, 204);
        let removed = front.call(&front.admin, "DELETE", &path(""), None).await;
        assert_eq!(removed.status, 204);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_no_owner_confirms_is_not_acknowledged() {
    let store = Arc::new(MemStore::default());
    let (owner, data) = (MemberId::new(Timestamp::from_micros(1), 7), tempfile::tempdir().expect("a folder"));
    let expires_at = store.clock().await.expect("a clock") + Duration::from_secs(60);
    let lease = LeaseRequest { cell: CellId(0), member: owner, observed: None, expires_at };
    let LeaseGrant::Granted(lease) = store.acquire_lease(lease).await.expect("a store") else {
        panic!("the lease is held")
    };
    let front = World::beside(Arc::clone(&store) as _, data, None, |options| {
        options.roles = Roles { api: true, scheduler: false };
        options.store_wait = Duration::from_millis(500);
    })
    .await;
    let spec = json!({"name": "ticks", "script": "true", "triggers": [{"every": "1h"}]});
    let waits = front.put("/v1/jobs/ticks", spec.clone()).await;
    assert_eq!((waits.status, waits.json()["code"].as_str()), (503, Some("store_unavailable")));
    assert_eq!(front.get("/v1/jobs/ticks").await.expect(200)["version"], 1, "it is stored");
    // Whoever takes the cell from now on loads it.
    store.release_lease(CellId(0), owner, lease.epoch).await.expect("a store");
    assert_eq!(front.put("/v1/jobs/ticks", spec).await.expect(200)["outcome"], "unchanged");
}
