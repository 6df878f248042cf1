//! The same things asked of a directory and of a bucket.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, Stream, TryStreamExt, stream};
use mainspring_blob::{Blobs, Error, Listed, content_key};

use super::bucket::{Bucket, credentials};

fn parts(parts: &[&'static str]) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
    let parts: Vec<io::Result<Bytes>> =
        parts.iter().map(|part| Ok(Bytes::from_static(part.as_bytes()))).collect();
    stream::iter(parts)
}

async fn read(blobs: &Blobs, key: &str, range: Option<std::ops::Range<u64>>) -> String {
    let parts: Vec<Bytes> = blobs.get(key, range).await.unwrap().try_collect().await.unwrap();
    String::from_utf8(parts.concat()).unwrap()
}

async fn check(blobs: Blobs) {
    let stored = blobs.put_content(parts(&["hello ", "world"]), 100).await.unwrap();
    assert_eq!(stored.size, 11);
    let expected = "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";
    assert_eq!(stored.digest.to_string(), expected);
    let key = content_key(&stored.digest);
    assert_eq!(read(&blobs, &key, None).await, "hello world");
    assert_eq!(read(&blobs, &key, Some(6..9)).await, "wor");
    assert_eq!(read(&blobs, &key, Some(6..900)).await, "world");
    // Again: the same thing, once.
    assert_eq!(blobs.put_content(parts(&["hello world"]), 100).await.unwrap(), stored);
    assert_eq!(blobs.list("sha256").await.unwrap(), [Listed { key: key.clone(), size: 11 }]);
    // What is too long, or breaks off, leaves nothing behind.
    let long = blobs.put_content(parts(&["hello ", "world"]), 10).await;
    assert!(matches!(long, Err(Error::TooLarge { limit: 10 })), "{long:?}");
    let broken = stream::iter([Ok(Bytes::from_static(b"hel")), Err(io::Error::other("gone"))]);
    assert!(matches!(blobs.put_content(broken, 100).await, Err(Error::Source(_))));
    assert!(blobs.list("incoming").await.unwrap().is_empty());
    // What nobody keeps goes by itself: nobody finds it, and after a while it is not there at all.
    let incoming = blobs.receive(parts(&["nobody's"]), 100).await.unwrap();
    assert!(!blobs.exists(&content_key(&incoming.content().digest)).await.unwrap());
    drop(incoming);
    drop(blobs.receive(stream::pending(), 100).now_or_never());
    while !blobs.list("incoming").await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    // What a process left that ended is removed when it is old.
    blobs.put("incoming/0192f5a1b2c37def8123456789abcdef", Bytes::from_static(b"left")).await.unwrap();
    blobs.remove_incoming(Duration::from_secs(1)).await.unwrap();
    assert_eq!(blobs.list("incoming").await.unwrap().len(), 1);
    blobs.remove_incoming(Duration::from_secs(1 << 40)).await.unwrap();
    assert!(blobs.list("incoming").await.unwrap().is_empty());

    blobs.put("notes/a.txt", Bytes::from_static(b"first")).await.unwrap();
    blobs.put("notes/a.txt", Bytes::from_static(b"second")).await.unwrap();
    assert_eq!(read(&blobs, "notes/a.txt", None).await, "second");
    assert!(blobs.exists("notes/a.txt").await.unwrap() && !blobs.exists("notes/b.txt").await.unwrap());
    blobs.remove("notes/a.txt").await.unwrap();
    blobs.remove("notes/a.txt").await.unwrap();
    assert!(!blobs.exists("notes/a.txt").await.unwrap());
    assert!(matches!(blobs.get("notes/a.txt", None).await.map(drop), Err(Error::NotFound { .. })));
    for bad in ["../etc/passwd", "/etc/passwd", "a/../../b", ""] {
        assert!(matches!(blobs.put(bad, Bytes::new()).await, Err(Error::Outside { .. })), "{bad}");
        assert!(matches!(blobs.get(bad, None).await.map(drop), Err(Error::Outside { .. })), "{bad}");
    }
}

#[tokio::test]
async fn in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    check(Blobs::open(&format!("file://{}", directory.path().join("made/when/needed").display())).unwrap())
        .await;
}

#[tokio::test]
async fn in_a_bucket() {
    let bucket = Bucket::start().await;
    check(Blobs::open_with(&bucket.url("some/prefix"), Some(&credentials())).unwrap()).await;
    let objects = bucket.objects.lock().unwrap();
    assert!(objects.keys().all(|key| key.starts_with("some/prefix/")), "{objects:?}");
}

#[test]
fn other_urls_are_refused() {
    for bad in ["ftp://files.example/x", "s3:///x", "s3://b/x?colour=red", "file://host/x", "nonsense"] {
        assert!(matches!(Blobs::open(bad).map(drop), Err(Error::Url { .. })), "{bad}");
    }
}
