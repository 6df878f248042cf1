//! From a path to a URL.

use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use reqwest::{Body, Url};
use tokio::fs::{self, File};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::io::ReaderStream;

use super::Transfers;
use super::guarded::{self, SILENCE_MAX};
use crate::error::{Error, bare};
use crate::location;
use crate::places::{Places, through};

const READ_BYTES: usize = 256 * 1024;

impl Transfers {
    /// Copies the plain file at `from` to `url`: to a path, into a bucket, or by `PUT`. How many bytes it had.
    pub async fn store(&self, from: &Path, url: &str) -> Result<u64, Error> {
        let parsed = location::parse(url)?;
        let (file, size) = open_plain(from).await?;
        match parsed.scheme() {
            "file" => store_file(&self.places, file, &location::path_of(&parsed)?).await?,
            "http" | "https" => self.put(file, size, &parsed).await?,
            "s3" => {
                let (operator, key) = self.bucket(&parsed).await?;
                let failed = || Error::storage(&bare(url));
                let mut writer = operator.writer_with(&key).chunk(8 * 1024 * 1024).await.map_err(failed())?;
                let mut content = ReaderStream::with_capacity(file, READ_BYTES);
                while let Some(bytes) = content.next().await {
                    writer.write(bytes.map_err(Error::Source)?).await.map_err(failed())?;
                }
                writer.close().await.map_err(failed())?;
            }
            other => return Err(Error::url(url, format!("`{other}` cannot be copied to"))),
        }
        Ok(size)
    }

    async fn put(&self, file: File, size: u64, url: &Url) -> Result<(), Error> {
        guarded::check(&self.networks, url)?;
        let (moved, moves) = watch::channel(());
        let content = ReaderStream::with_capacity(file, READ_BYTES).inspect(move |_| moved.send_replace(()));
        let body = Body::wrap_stream(content);
        let request = self.upload_client().await?.put(url.clone());
        let request = request.header(reqwest::header::CONTENT_LENGTH, size).body(body);
        let answer = tokio::select! {
            answer = request.send() => answer.map_err(|error| Error::network(url.as_str(), &error))?,
            () = silence(moves) => {
                let why = format!("nothing was taken or answered for {} s", SILENCE_MAX.as_secs());
                return Err(Error::Network { url: bare(url.as_str()), why });
            }
        };
        if answer.status().is_success() {
            return Ok(());
        }
        Err(Error::Status { url: bare(url.as_str()), status: answer.status().as_u16() })
    }
}

/// Returns when nothing moved for too long, be it the content or, after all of it, the answer.
async fn silence(mut moves: watch::Receiver<()>) {
    while let Ok(Ok(())) = timeout(SILENCE_MAX, moves.changed()).await {}
    if moves.has_changed().is_err() {
        // All of it was sent.
        sleep(SILENCE_MAX).await;
    }
}

/// A task made the file: no link is followed, and nothing but a plain file is taken.
async fn open_plain(path: &Path) -> Result<(File, u64), Error> {
    const NOFOLLOW_NONBLOCK: i32 = 0o400_000 | 0o4_000;
    let mut options = std::fs::OpenOptions::new();
    options.read(true).custom_flags(NOFOLLOW_NONBLOCK);
    let file = fs::OpenOptions::from(options).open(path).await.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NotFound { what: path.display().to_string() },
        _ => Error::file("read", path)(error),
    })?;
    let metadata = file.metadata().await.map_err(Error::file("read", path))?;
    if !metadata.is_file() {
        return Err(Error::file("read", path)(io::Error::other("it is not a plain file")));
    }
    Ok((file, metadata.len()))
}

/// Beside its place first, so that nobody reads half of it.
async fn store_file(places: &Places, mut file: File, to: &Path) -> Result<(), Error> {
    let wrong = || Error::Outside { path: to.display().to_string() };
    let (directory, name) = (to.parent().ok_or_else(wrong)?, to.file_name().ok_or_else(wrong)?);
    let opened = places.open_directory(directory).map_err(|error| match error {
        Error::Place { .. } => Error::Place { path: to.to_owned() },
        other => other,
    })?;
    let directory = through(&opened);
    let fresh = directory.join(format!(".{}.{}", name.to_string_lossy(), uuid::Uuid::now_v7().simple()));
    let fresh = Unfinished(fresh);
    let copied = async {
        let mut into = File::create(&fresh.0).await?;
        tokio::io::copy(&mut file, &mut into).await?;
        into.sync_all().await?;
        fs::rename(&fresh.0, directory.join(name)).await
    };
    copied.await.map_err(Error::file("write", to))
}

/// A file that is removed when its copy fails, or is given up half-way.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // One that was moved to its place is not there any more.
        let _ = std::fs::remove_file(&self.0);
    }
}
