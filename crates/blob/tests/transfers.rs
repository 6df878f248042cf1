//! Copies from and to URLs that strangers chose.

use std::path::Path;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Redirect;
use axum::routing::get;
use mainspring_blob::{Buckets, Error, Limits, Networks, Places, Transfers};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

use super::bucket::{Bucket, credentials};

const HELLO: &str = "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";
const NO_LIMITS: Limits = Limits { bytes_max: 1_000, digest: None };

/// A web server on loopback: a greeting, ways that lead elsewhere, and a place for uploads.
async fn site() -> (String, Arc<Mutex<Option<Bytes>>>) {
    let uploaded = Arc::new(Mutex::new(None));
    let put = |State(uploaded): State<Arc<Mutex<Option<Bytes>>>>, body: Bytes| async move {
        *uploaded.lock().unwrap() = Some(body);
        StatusCode::CREATED
    };
    let router = Router::new()
        .route("/hello", get(async || "hello world").put(put))
        .route("/moved", get(async || Redirect::temporary("/hello")))
        .route("/trap", get(async || Redirect::temporary("http://169.254.169.254/latest/meta-data/")))
        .route("/file", get(async || Redirect::temporary("file:///etc/passwd")))
        .route("/circle", get(async || Redirect::temporary("/circle")))
        .with_state(Arc::clone(&uploaded));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, uploaded)
}

fn near() -> Transfers {
    near_with("nothing")
}

/// With a bucket.
fn near_with(listed: &str) -> Transfers {
    let places = Places::new(vec![std::env::temp_dir()], Vec::new());
    let (networks, buckets) = (Networks::parse(["127.0.0.1"]).unwrap(), Buckets::parse([listed]).unwrap());
    Transfers::new(networks, places, buckets).with_credentials(credentials())
}

fn far() -> Transfers {
    let buckets = Buckets::parse(["things"]).unwrap();
    Transfers::new(Networks::default(), Places::default(), buckets).with_credentials(credentials())
}

fn nothing_at(path: &Path) {
    assert!(!path.exists());
}

#[tokio::test]
async fn files_are_fetched_whole_and_checked() {
    let directory = tempfile::tempdir().unwrap();
    let (site, _) = site().await;
    std::fs::write(directory.path().join("source"), "hello world").unwrap();
    let bucket = Bucket::start().await;
    bucket.objects.lock().unwrap().insert("greetings/hello".into(), Bytes::from_static(b"hello world"));
    let urls = [
        format!("{site}/hello"),
        format!("{site}/moved"),
        format!("file://{}", directory.path().join("source").display()),
        bucket.url("greetings/hello"),
    ];
    for url in &urls {
        let to = directory.path().join("copy");
        let good = Limits { digest: Some(HELLO.parse().unwrap()), ..NO_LIMITS };
        let near = || near_with(&bucket.url("greetings"));
        let fetched = near().fetch(url, &to, good).await.unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!((fetched.size, fetched.digest.to_string().as_str()), (11, HELLO));
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "hello world");
        std::fs::remove_file(&to).unwrap();
        let bad = Limits { digest: Some(format!("sha256:{}", "0".repeat(64)).parse().unwrap()), ..NO_LIMITS };
        assert!(matches!(near().fetch(url, &to, bad).await, Err(Error::Digest { .. })), "{url}");
        nothing_at(&to);
        let short = Limits { bytes_max: 10, digest: None };
        assert!(matches!(near().fetch(url, &to, short).await, Err(Error::TooLarge { limit: 10 })), "{url}");
        nothing_at(&to);
    }
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("copy");
    let (site, _) = site().await;
    let bucket = Bucket::start().await;
    let missing = near().fetch(&format!("{site}/nothing?secret=1"), &to, NO_LIMITS).await.unwrap_err();
    assert_eq!(missing.to_string(), format!("{site}/nothing answered 404"));
    let near = || near_with(&bucket.url(""));
    for url in [bucket.url("nothing"), format!("file://{}/nothing", directory.path().display())] {
        assert!(matches!(near().fetch(&url, &to, NO_LIMITS).await, Err(Error::NotFound { .. })), "{url}");
    }
    for url in ["ftp://files.example/x", "nonsense", "s3://bucket"] {
        assert!(matches!(near().fetch(url, &to, NO_LIMITS).await, Err(Error::Url { .. })), "{url}");
    }
}

#[tokio::test]
async fn private_addresses_are_not_reached_by_any_way() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("copy");
    let (site, _) = site().await;
    let port = site.rsplit(':').next().unwrap();
    let bucket = Bucket::start().await;
    for url in [
        format!("{site}/hello"),
        format!("http://localhost:{port}/hello"),
        format!("http://[::ffff:127.0.0.1]:{port}/hello"),
        format!("http://2130706433:{port}/hello"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ] {
        let refused = far().fetch(&url, &to, NO_LIMITS).await;
        assert!(matches!(refused, Err(Error::Forbidden { .. })), "{url}: {refused:?}");
        nothing_at(&to);
    }
    assert!(far().fetch(&bucket.url("x"), &to, NO_LIMITS).await.is_err());
    let trapped = near().fetch(&format!("{site}/trap"), &to, NO_LIMITS).await;
    assert!(matches!(trapped, Err(Error::Forbidden { .. })), "{trapped:?}");
    let file = near().fetch(&format!("{site}/file"), &to, NO_LIMITS).await;
    assert!(matches!(file, Err(Error::Status { status: 307, .. })), "{file:?}");
    assert!(matches!(
        near().fetch(&format!("{site}/circle"), &to, NO_LIMITS).await,
        Err(Error::Network { .. })
    ));
}

#[tokio::test]
async fn outputs_are_stored() {
    let directory = tempfile::tempdir().unwrap();
    let from = directory.path().join("result");
    std::fs::write(&from, "totals").unwrap();
    let (site, uploaded) = site().await;
    let bucket = Bucket::start().await;
    let near = || near_with(&bucket.url("out"));
    assert_eq!(near().store(&from, &format!("{site}/hello")).await.unwrap(), 6);
    assert_eq!(uploaded.lock().unwrap().as_deref(), Some(&b"totals"[..]));
    near().store(&from, &bucket.url("out/totals")).await.unwrap();
    assert_eq!(bucket.objects.lock().unwrap()["out/totals"], "totals");
    let refused = near().store(&from, &bucket.url("in/totals")).await;
    assert!(matches!(refused, Err(Error::Bucket { .. })), "{refused:?}");
    let to = directory.path().join("new/place/totals");
    near().store(&from, &format!("file://{}", to.display())).await.unwrap();
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "totals");
    assert_eq!(std::fs::read_dir(to.parent().unwrap()).unwrap().count(), 1);
    std::os::unix::fs::symlink("/etc/passwd", directory.path().join("link")).unwrap();
    assert!(near().store(&directory.path().join("link"), &bucket.url("out/link")).await.is_err());
    assert!(matches!(
        near().store(&directory.path().join("none"), &bucket.url("x")).await,
        Err(Error::NotFound { .. })
    ));
    assert!(matches!(far().store(&from, &format!("{site}/hello")).await, Err(Error::Forbidden { .. })));
    let elsewhere = directory.path().join("elsewhere/totals");
    let refused = far().store(&from, &format!("file://{}", elsewhere.display())).await;
    assert!(matches!(refused, Err(Error::Place { .. })), "{refused:?}");
    assert!(!directory.path().join("elsewhere").exists());
    let read =
        far().fetch(&format!("file://{}", from.display()), &directory.path().join("copy"), NO_LIMITS).await;
    assert!(matches!(read, Err(Error::Place { .. })), "{read:?}");
    nothing_at(&directory.path().join("copy"));
}

/// An upload of 32 MiB to a server that reads so much of it, with a rest after each MiB.
///
/// Only the server moves the clock: bytes on their way through a socket look like a runtime with nothing to do, for which
/// it would leap. And its socket holds little, so that what nobody has read yet is not sent either.
async fn upload_to_a_slow_server(parts: usize) -> Result<u64, Error> {
    const PARTS: usize = 32;
    const PART: usize = 1 << 20;
    let directory = tempfile::tempdir().unwrap();
    let from = directory.path().join("result");
    std::fs::write(&from, vec![7; PARTS * PART]).unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 * 1024).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let url = format!("http://{}/result", listener.local_addr().unwrap());
    // Time stands still while a blocking task runs.
    let (leap, held) = std::sync::mpsc::channel::<()>();
    tokio::task::spawn_blocking(move || held.recv());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut part = vec![0; PART];
        for _ in 0..parts {
            socket.read_exact(&mut part).await.unwrap();
            tokio::time::advance(Duration::from_secs(5)).await;
        }
        if parts < PARTS {
            drop(leap);
            return std::future::pending::<()>().await;
        }
        // What is left is about as long as the head of the request.
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        drop(socket.read(&mut part).await);
    });
    near().store(&from, &url).await
}

#[tokio::test(start_paused = true)]
async fn an_upload_may_take_as_long_as_it_moves() {
    assert_eq!(upload_to_a_slow_server(32).await.unwrap(), 32 << 20);
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_does_not_move_is_given_up() {
    let stuck = upload_to_a_slow_server(1).await;
    assert!(matches!(&stuck, Err(Error::Network { why, .. }) if why.contains("60 s")), "{stuck:?}");
}
