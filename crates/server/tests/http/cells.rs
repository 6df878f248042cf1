//! The number of cells is the store's: a server with another does not start, and runs of a cell that nobody owns can be ended.

use std::sync::Arc;

use mainspring_model::{CellId, MemberId, RunHead, RunId, Timestamp};
use mainspring_server::{Error, Options, Roles, Server};
use mainspring_store::{LeaseRequest, Store, Transaction, Write};
use mainspring_store_mem::MemStore;
use serde_json::{Value, json};

use super::World;

async fn beside(store: &Arc<dyn Store>, cells: u16) -> World {
    let data = tempfile::tempdir().expect("a folder");
    World::beside(Arc::clone(store), data, None, |options| options.cells = cells).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_another_number_of_cells_does_not_start() {
    let store: Arc<dyn Store> = Arc::new(MemStore::default());
    let _first = beside(&store, 2).await;
    for (cells, starts) in [(1, false), (2, true), (3, false)] {
        let data = tempfile::tempdir().expect("a folder");
        let options = Options { cells, ..Options::new("postgres://nowhere", data.path()) };
        match Server::build_on(options, Arc::clone(&store)).await {
            Ok(_) => assert!(starts, "{cells} cells"),
            Err(Error::Cells { configured, recorded }) => {
                assert_eq!((configured, recorded, starts), (cells, 2, false));
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(store.leases().await.expect("leases").iter().all(|lease| lease.cell.0 < 2));
}

/// A copy of a run in another cell, as a server with more cells put it there.
async fn put_into(store: &dyn Store, run: &str, cell: u16) -> RunId {
    let row = store.runs_by_id(&[run.parse().expect("an id")]).await.expect("a store").remove(0);
    let id = RunId::new(row.head.created_at, 77 + u128::from(cell));
    let head = RunHead { id, ..(*row.head).clone() };
    let write = Write::insert_arrived(head, CellId(cell));
    store.commit(Transaction::unfenced(vec![write])).await.expect("a store");
    id
}

fn about(doctor: &Value, run: RunId) -> usize {
    let findings = doctor["findings"].as_array().expect("findings");
    let names =
        |finding: &&Value| finding["message"].as_str().is_some_and(|text| text.contains(&run.to_string()));
    findings.iter().filter(names).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_a_cell_without_an_owner_is_found_and_can_be_cancelled() {
    let store: Arc<dyn Store> = Arc::new(MemStore::default());
    let world = beside(&store, 2).await;
    world.job("default", "etl").await;
    let first = world.run("default", "etl").await;
    // The server that put the second there took a lease and gave it back; that of the third owned nothing.
    let left = put_into(&*store, &first, 2).await;
    let member = MemberId::from_bytes([9; 16]);
    let lease =
        LeaseRequest { cell: CellId(2), member, observed: None, expires_at: Timestamp::from_micros(1) };
    store.acquire_lease(lease).await.expect("a store");
    let epoch = store.leases().await.expect("leases").last().expect("a lease").epoch;
    assert!(store.release_lease(CellId(2), member, epoch).await.expect("a store"));
    let deposited = put_into(&*store, &first, 3).await;
    for run in [left, deposited] {
        let doctor = world.get("/v1/doctor").await.expect(200);
        assert_eq!(about(&doctor, run), 1, "{doctor}");
        let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
        assert_eq!(why["reason"]["kind"], "no_owner", "{why}");
        assert!(why.to_string().contains(&format!("`mainspring cancel {run}`")), "{why}");
        let stale = [("if-match", "\"9\"")];
        world.with("POST", &format!("/v1/runs/{run}/cancel"), &stale, Some(&json!({}))).await.expect(412);
        let ended = world.post(&format!("/v1/runs/{run}/cancel"), json!({})).await.expect(202);
        assert_eq!(ended["state"], "cancelled", "{ended}");
        assert_eq!(about(&world.get("/v1/doctor").await.expect(200), run), 0);
        world.post(&format!("/v1/runs/{run}/retry"), json!({})).await.expect(409);
    }
    let held = store.leases().await.expect("leases");
    assert!(held.iter().filter(|lease| lease.cell.0 > 1).all(|lease| lease.holder.is_none()), "{held:?}");
    let audit = world.get("/v1/audit?operation=run.cancel").await.expect(200);
    assert_eq!(audit["items"].as_array().map(Vec::len), Some(4), "{audit}");
    let stats = world.get("/v1/stats").await.expect(200);
    assert!(stats.to_string().contains("\"cancelled\":2"), "{stats}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_while_there_is_no_scheduler_is_told() {
    let store: Arc<dyn Store> = Arc::new(MemStore::default());
    let data = tempfile::tempdir().expect("a folder");
    let roles = Roles { api: true, scheduler: false };
    let world = World::beside(store, data, None, |options| options.roles = roles).await;
    world.job("default", "etl").await;
    let run = world.run("default", "etl").await;
    let why = world.get(&format!("/v1/runs/{run}/why")).await.expect(200);
    assert_eq!((&why["state"], &why["reason"]["kind"]), (&json!("ready"), &json!("no_owner")), "{why}");
    assert!(why["summary"].as_str().is_some_and(|text| text.contains("no scheduler owns cell 0")), "{why}");
    assert!(why["reason"]["message_zh"].as_str().is_some_and(|text| text.contains("调度器")), "{why}");
    // One whose time has not come waits for that.
    let later = json!({"job": "etl", "not_before": "2100-01-01T00:00:00Z"});
    let later = world.post("/v1/runs", later).await.expect(201);
    let why = world.get(&format!("/v1/runs/{}/why", later["id"].as_str().expect("an id"))).await.expect(200);
    assert_ne!(why["reason"]["kind"], "backoff", "{why}");
}
