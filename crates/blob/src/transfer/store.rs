//! From a path to a URL.

use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use reqwest::{Body, Url};
use rustix::fs::OFlags;
use tokio::fs::{self, File};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::io::ReaderStream;

use super::Transfers;
use super::guarded::{self, SILENCE_MAX};
use crate::error::{Error, bare};
use crate::flags::custom;
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
    let mut options = std::fs::OpenOptions::new();
    options.read(true).custom_flags(custom(OFlags::NOFOLLOW | OFlags::NONBLOCK));
    let file = fs::OpenOptions::from(options).open(path).await.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NotFound { what: path.display().to_string() },
        _ => Error::file("read", path)(error),
    })?;
    let metadata = file.metadata().await.map_err(Error::file("read", path))?;
    if !metadata.is_file() {
        return Err(Error::file("read", path)(io::Error::other("it is not a plain file")));
    }
    let directory = path.parent().unwrap_or(path);
    let owner = fs::symlink_metadata(directory).await.map_err(Error::file("read", directory))?.uid();
    if is_hard_link_to_another(metadata.nlink(), metadata.uid(), owner) {
        return Err(Error::file("read", path)(io::Error::other(
            "it is a hard link to a file of another user",
        )));
    }
    Ok((file, metadata.len()))
}

/// Whether a file has a second name and another owner than the directory it was found in: where the kernel does not protect
/// hard links (`fs.protected_hardlinks`), a task could have linked to what it cannot read. Links to its own files are fine.
fn is_hard_link_to_another(names: u64, owner: u32, owner_of_directory: u32) -> bool {
    names > 1 && owner != owner_of_directory
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_second_name_of_a_foreign_file_is_refused() {
        assert!(is_hard_link_to_another(2, 0, 1000));
        assert!(!is_hard_link_to_another(2, 1000, 1000));
        assert!(!is_hard_link_to_another(1, 0, 1000));
    }

    #[tokio::test]
    async fn a_link_is_not_followed_and_a_hard_link_to_an_own_file_is_read() {
        let ground = tempfile::tempdir().unwrap();
        let at = |name: &str| ground.path().join(name);
        std::fs::write(at("file"), "abc").unwrap();
        std::fs::hard_link(at("file"), at("second")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert_eq!(open_plain(&at("second")).await.unwrap().1, 3);
        assert!(open_plain(&at("link")).await.is_err());
        assert!(open_plain(ground.path()).await.is_err());
    }
}
