//! A whole server on a fresh SQLite file, with its first admin.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mainspring_app::App;
use mainspring_server::{Options, Server};
use mainspring_store::{Registry, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Reply, wire};

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) app: Arc<App>,
    pub(crate) admin: String,
    stop: CancellationToken,
    data: TempDir,
}

impl World {
    /// A server that is ready.
    pub(crate) async fn start() -> Self {
        Self::with_options(|_| {}).await
    }

    /// The same, with other options.
    pub(crate) async fn with_options(change: impl FnOnce(&mut Options)) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let store = format!("sqlite:{}", data.path().join("store.db").display());
        let mut options = Options::new(store, data.path());
        options.recheck_every = Duration::from_millis(100);
        change(&mut options);
        let server = Server::build(options).await.expect("a server");
        let admin = server.app().bootstrap().await.expect("a store").expect("the first start").token;
        Self::run_server(server, data, admin).await
    }

    /// One of several servers on a store; the first has to make the admin.
    pub(crate) async fn beside(
        store: Arc<dyn Store>,
        data: TempDir,
        admin: Option<String>,
        change: impl FnOnce(&mut Options),
    ) -> Self {
        // It is not opened, but says that others may.
        let mut options = Options::new("postgres://nowhere", data.path());
        options.recheck_every = Duration::from_millis(100);
        change(&mut options);
        let server = Server::build_on(options, store).await.expect("a server");
        let admin = match admin {
            Some(admin) => admin,
            None => server.app().bootstrap().await.expect("a store").expect("the first start").token,
        };
        Self::run_server(server, data, admin).await
    }

    async fn run_server(server: Server, data: TempDir, admin: String) -> Self {
        let app = Arc::clone(server.app());
        let address =
            server.url().strip_prefix("http://").and_then(|text| text.parse().ok()).expect("an address");
        let stop = CancellationToken::new();
        tokio::spawn(server.run(stop.clone()));
        let world = Self { address, app, admin, stop, data };
        while world.get("/readyz").await.status != 200 {
            tokio::task::yield_now().await;
        }
        world
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        wire::send(self.address, method, path, headers, body).await
    }

    /// Ends the server as a signal would.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// A request of somebody with a token.
    pub(crate) async fn call(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let bearer = format!("Bearer {token}");
        let mut headers = vec![("authorization", bearer.as_str())];
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        let bytes = body.map(|body| serde_json::to_vec(body).expect("JSON")).unwrap_or_default();
        self.send(method, path, &headers, &bytes).await
    }

    /// A request of somebody whose body says that it is JSON.
    pub(crate) async fn raw(&self, token: &str, method: &str, path: &str, body: &str) -> Reply {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        self.send(method, path, &headers, body.as_bytes()).await
    }

    /// A request of the admin with further headers.
    pub(crate) async fn with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Reply {
        let bearer = format!("Bearer {}", self.admin);
        let mut all = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        all.extend_from_slice(headers);
        let bytes = body.map(|body| serde_json::to_vec(body).expect("JSON")).unwrap_or_default();
        self.send(method, path, &all, &bytes).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call(&self.admin, "GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(&self.admin, "POST", path, Some(&body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        self.call(&self.admin, "PUT", path, Some(&body)).await
    }

    /// A job that does nothing.
    pub(crate) async fn job(&self, namespace: &str, name: &str) -> Value {
        let spec = json!({"name": name, "script": "true"});
        let reply = self.put(&format!("/v1/jobs/{name}?namespace={namespace}"), spec).await;
        assert!(matches!(reply.status, 200 | 201), "{}", String::from_utf8_lossy(&reply.body));
        reply.json()
    }

    /// A job that fires by itself.
    pub(crate) async fn timed(&self, namespace: &str, name: &str, triggers: Value) -> Value {
        let spec = json!({"name": name, "script": "true", "triggers": triggers});
        let reply = self.put(&format!("/v1/jobs/{name}?namespace={namespace}"), spec).await;
        assert!(matches!(reply.status, 200 | 201), "{}", String::from_utf8_lossy(&reply.body));
        reply.json()
    }

    /// A run of a job; no node is there, so it waits.
    pub(crate) async fn run(&self, namespace: &str, job: &str) -> String {
        let body = json!({"namespace": namespace, "job": job});
        text(&self.post("/v1/runs", body).await.expect(201)["id"])
    }

    /// A bulk operation, as it is when it is over.
    pub(crate) async fn bulk(&self, body: Value) -> Value {
        let started = self.post("/v1/runs/bulk", body).await.expect(202);
        let path = format!("/v1/runs/bulk/{}", text(&started["id"]));
        loop {
            let operation = self.get(&path).await.expect(200);
            if operation["state"] != "running" {
                return operation;
            }
        }
    }

    /// The id of the first node, as soon as its row is there.
    pub(crate) async fn node(&self) -> String {
        loop {
            let nodes = self.get("/v1/nodes").await.expect(200);
            if let Some(id) = nodes["items"][0]["id"].as_str() {
                return id.to_owned();
            }
        }
    }

    /// The store, beside the server: for what only another process would do.
    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        let mut registry = Registry::new();
        mainspring_store_sql::register(&mut registry);
        let url = format!("sqlite:{}", self.data.path().join("store.db").display());
        registry.open(&url).await.expect("a store")
    }

    /// How many files the repository of artifacts has.
    pub(crate) fn files(&self) -> usize {
        fn count(folder: &Path) -> usize {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
            entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
        }
        count(&self.data.path().join("artifacts"))
    }

    /// A token of somebody who has a role; without a namespace, everywhere.
    pub(crate) async fn somebody(
        &self,
        subject: &str,
        namespace: Option<&str>,
        role: Option<&str>,
    ) -> String {
        if let Some(role) = role {
            let place = namespace.map(|namespace| format!("?namespace={namespace}")).unwrap_or_default();
            let path = format!("/v1/members/{subject}{place}");
            self.put(&path, json!({"role": role})).await.expect(201);
        }
        let created = self.post("/v1/tokens", json!({"subject": subject})).await.expect(201);
        text(&created["secret"])
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("text, not {value}")).to_owned()
}
