//! A repository: content by its digest, anything else by a key.

use std::io;
use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt};
use opendal::Operator;

use crate::digest::{Content, Digester};
use crate::error::Error;
use crate::incoming::{self, INCOMING, Incoming, Passing};
use crate::key::check;
use crate::location::{self, Credentials};
use crate::networks::Networks;
use crate::transfer::guarded;

/// A directory or a bucket.
#[derive(Debug, Clone)]
pub struct Blobs {
    operator: Operator,
}

/// A key in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The key.
    pub key: String,
    /// Its length.
    pub size: u64,
}

impl Blobs {
    /// Opens `file:///dir` or `s3://bucket/prefix?endpoint=…&region=…`. The URL is the operator's: it may name any address.
    pub fn open(url: &str) -> Result<Self, Error> {
        Self::open_with(url, None)
    }

    /// As [`Self::open`], with these credentials for a bucket instead of those of the environment.
    pub fn open_with(url: &str, credentials: Option<&Credentials>) -> Result<Self, Error> {
        let parsed = location::parse(url)?;
        let operator = match parsed.scheme() {
            "file" => location::directory(&parsed)?,
            "s3" => {
                let anywhere = Networks::parse(["0.0.0.0/0", "::/0"]).unwrap_or_default();
                let transport = guarded::transport(&anywhere, guarded::client(&anywhere)?);
                location::bucket(&parsed, parsed.path(), credentials, transport)?
            }
            other => return Err(Error::url(url, format!("`{other}` is not `file` or `s3`"))),
        };
        Ok(Self { operator })
    }

    /// Stores content under its digest. It is there whole or not at all; storing it again changes nothing.
    pub async fn put_content(
        &self,
        content: impl Stream<Item = io::Result<Bytes>> + Send,
        bytes_max: u64,
    ) -> Result<Content, Error> {
        let incoming = self.receive(content, bytes_max).await?;
        let stored = incoming.content();
        incoming.keep().await?;
        Ok(stored)
    }

    /// Takes content, whose digest is known when all of it has come. Nobody finds it before it is kept.
    pub async fn receive(
        &self,
        content: impl Stream<Item = io::Result<Bytes>> + Send,
        bytes_max: u64,
    ) -> Result<Incoming, Error> {
        let passing = Passing::new(self.clone());
        match self.write(&passing.key, content, bytes_max).await {
            Ok(content) => Ok(Incoming { passing, content }),
            Err(error) => {
                let _ = passing.remove().await;
                Err(error)
            }
        }
    }

    /// Removes what began to come before a moment, since 1970, and was never kept.
    pub async fn remove_incoming(&self, before: Duration) -> Result<(), Error> {
        for Listed { key, .. } in self.list(INCOMING).await? {
            if incoming::begun_at(&key).is_none_or(|begun| begun < before) {
                self.remove(&key).await?;
            }
        }
        Ok(())
    }

    /// Stores something under a key, in place of what was there.
    pub async fn put(&self, key: &str, content: Bytes) -> Result<(), Error> {
        self.operator.write(check(key)?, content).await.map(drop).map_err(Error::storage(key))
    }

    /// The bytes in `range` of what is stored under a key; all of them without a range.
    pub async fn get(
        &self,
        key: &str,
        range: Option<Range<u64>>,
    ) -> Result<impl Stream<Item = io::Result<Bytes>> + Send + Unpin + use<>, Error> {
        let size = self.size(key).await?.ok_or_else(|| Error::NotFound { what: key.to_owned() })?;
        let range = range.unwrap_or(0..size);
        let range = range.start.min(size)..range.end.min(size);
        let reader = self.operator.reader(check(key)?).await.map_err(Error::storage(key))?;
        reader.into_bytes_stream(range).await.map_err(Error::storage(key))
    }

    /// How long it is; none when there is nothing under the key.
    pub async fn size(&self, key: &str) -> Result<Option<u64>, Error> {
        match self.operator.stat(check(key)?).await {
            Ok(metadata) => Ok(metadata.is_file().then(|| metadata.content_length())),
            Err(error) if error.kind() == opendal::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::storage(key)(error)),
        }
    }

    /// Whether there is something under a key.
    pub async fn exists(&self, key: &str) -> Result<bool, Error> {
        Ok(self.size(key).await?.is_some())
    }

    /// Removes what is under a key, if anything is.
    pub async fn remove(&self, key: &str) -> Result<(), Error> {
        self.operator.delete(check(key)?).await.map_err(Error::storage(key))
    }

    /// Everything below a prefix of whole parts, in no order.
    pub async fn list(&self, prefix: &str) -> Result<Vec<Listed>, Error> {
        let path = format!("{}/", check(prefix)?);
        let lister = self.operator.lister_with(&path).recursive(true).await;
        let mut lister = match lister {
            Err(error) if error.kind() == opendal::ErrorKind::NotFound => return Ok(Vec::new()),
            lister => lister.map_err(Error::storage(prefix))?,
        };
        let mut found = Vec::new();
        loop {
            match lister.try_next().await {
                Ok(None) => return Ok(found),
                Ok(Some(entry)) if entry.metadata().is_file() => {
                    found.push(Listed {
                        key: entry.path().to_owned(),
                        size: entry.metadata().content_length(),
                    });
                }
                Ok(Some(_)) => {}
                Err(error) if error.kind() == opendal::ErrorKind::NotFound => return Ok(found),
                Err(error) => return Err(Error::storage(prefix)(error)),
            }
        }
    }

    async fn write(
        &self,
        key: &str,
        content: impl Stream<Item = io::Result<Bytes>> + Send,
        bytes_max: u64,
    ) -> Result<Content, Error> {
        let mut content = std::pin::pin!(content);
        let mut digester = Digester::new(bytes_max);
        let mut writer =
            self.operator.writer_with(key).chunk(8 * 1024 * 1024).await.map_err(Error::storage(key))?;
        let copied = loop {
            let bytes = match content.next().await {
                None => break Ok(()),
                Some(Ok(bytes)) => bytes,
                Some(Err(error)) => break Err(Error::Source(error)),
            };
            if let Err(error) = digester.add(&bytes) {
                break Err(error);
            }
            if let Err(error) = writer.write(bytes).await {
                break Err(Error::storage(key)(error));
            }
        };
        if let Err(error) = copied {
            let _ = writer.abort().await;
            return Err(error);
        }
        writer.close().await.map_err(Error::storage(key))?;
        Ok(digester.finish())
    }

    pub(crate) async fn move_to(&self, from: &str, to: &str) -> Result<(), Error> {
        if self.operator.info().capability().rename {
            return self.operator.rename(from, to).await.map_err(Error::storage(to));
        }
        self.operator.copy(from, to).await.map_err(Error::storage(to))?;
        self.remove(from).await
    }
}
