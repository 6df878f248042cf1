//! The web console as static files.

use std::fs;

use tempfile::TempDir;

use super::World;

const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

/// A folder with a console of three files.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder to write to");
    fs::create_dir(folder.path().join("assets")).expect("a folder to write to");
    let page = "<html><base href=\"/\" /><meta property=\"csp-nonce\" nonce=\"\" /></html>";
    fs::write(folder.path().join("index.html"), page).expect("a folder to write to");
    fs::write(folder.path().join("assets/a-1.js"), "plain").expect("a folder to write to");
    fs::write(folder.path().join("assets/a-1.js.gz"), "zipped").expect("a folder to write to");
    folder
}

async fn world(folder: &TempDir) -> World {
    let path = folder.path().to_owned();
    World::with_options(|options| options.console = Some(path)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_url_of_the_console_is_one_page_with_its_own_nonce() {
    let folder = folder();
    let world = world(&folder).await;
    let mut nonces = Vec::new();
    for path in ["/", "/runs", "/runs/run_01?tab=log", "/jobs/etl"] {
        let reply = world.send("GET", path, &[HTML], b"").await;
        assert_eq!(reply.status, 200, "{path}");
        let policy = reply.header("content-security-policy").unwrap().to_owned();
        assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        let page = String::from_utf8(reply.body.clone()).unwrap();
        let nonce = page.split("nonce=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
        assert!(nonce.len() == 32 && policy.contains(&format!("'nonce-{nonce}'")), "{page} {policy}");
        nonces.push(nonce);
    }
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), 4, "a nonce is used once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_works_below_the_prefix_of_a_proxy() {
    let folder = folder();
    let world = world(&folder).await;
    for (prefix, base) in [("/ops/", "<base href=\"/ops/\""), ("//evil.example", "<base href=\"/\"")] {
        let reply = world.send("GET", "/runs", &[HTML, ("x-forwarded-prefix", prefix)], b"").await;
        let page = String::from_utf8(reply.body.clone()).unwrap();
        assert!(page.contains(base), "{prefix}: {page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_cached_for_ever_and_sent_compressed() {
    let folder = folder();
    let world = world(&folder).await;
    let reply = world.send("GET", "/assets/a-1.js", &[("accept-encoding", "gzip, br")], b"").await;
    assert_eq!((reply.status, reply.body.as_slice()), (200, &b"zipped"[..]));
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    assert_eq!(reply.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert!(reply.header("content-type").is_some_and(|kind| kind.starts_with("text/javascript")));
    let reply = world.send("GET", "/assets/a-1.js", &[], b"").await;
    assert_eq!((reply.header("content-encoding"), reply.body.as_slice()), (None, &b"plain"[..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_of_the_api_and_missing_files_are_problems() {
    let folder = folder();
    let world = world(&folder).await;
    for path in
        ["/v1/nothing", "/v1", "/docs/x", "/assets/old-0.js", "/assets/../index.html", "/assets/a-1.js.gz"]
    {
        let reply = world.send("GET", path, &[HTML], b"").await;
        assert_eq!(reply.status, 404, "{path}: {}", String::from_utf8_lossy(&reply.body));
    }
    // What is no browser is told what it was always told.
    world.get("/nothing").await.problem(404, "not_found");
    assert_eq!(world.send("POST", "/runs", &[HTML], b"").await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_without_a_console_says_the_command() {
    let empty = tempfile::tempdir().unwrap();
    let world = world(&empty).await;
    let reply = world.send("GET", "/", &[HTML], b"").await;
    let page = String::from_utf8(reply.body.clone()).unwrap();
    assert!(page.contains("cargo xtask up") && page.contains("data-console=\"not-built\""), "{page}");
}
