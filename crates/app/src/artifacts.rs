//! Artifacts: who put which file where. The files themselves are behind [`crate::ports::Artifacts`], once for each content,
//! however many namespaces have it. How long they are kept is `artifact_keep.rs`.

use std::ops::Range;
use std::sync::Arc;

use mainspring_model::spec::Digest;
use mainspring_model::{ErrorCode, Namespace, Timestamp, limits as model_limits};
use mainspring_store::{Outcome, Record, RecordKey, RecordQuery, Write};
use mainspring_wire::api::{Artifact, Page};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::identity::ttl_of;
use crate::limits::ARTIFACT_BYTES_MAX;
use crate::operation::Operation;
use crate::paging::{PageRequest, visible};
use crate::ports::{ArtifactError, Artifacts, Content};
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::record;

/// A file that comes.
pub struct Upload {
    /// Where it belongs.
    pub namespace: Namespace,
    /// What it is called, for people.
    pub name: String,
    /// Its content type.
    pub content_type: Option<String>,
    /// How long it is kept, such as `30d`; for ever when nothing is said.
    pub ttl: Option<String>,
    /// What its content must be, if the caller knows.
    pub digest: Option<Digest>,
    /// The bytes.
    pub content: Content,
}

/// A file that goes.
pub struct ArtifactContent {
    /// What is known about it.
    pub artifact: Artifact,
    /// The bytes, or those of the range.
    pub content: Content,
}

/// What a record of an artifact says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ArtifactDocument {
    name: String,
    bytes: u64,
    content_type: Option<String>,
    created_at: Timestamp,
    created_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<Timestamp>,
}

impl App {
    /// Keeps a file. Tells whether the namespace did not have it.
    pub async fn put_artifact(&self, caller: &Caller, upload: Upload) -> Result<(Artifact, bool)> {
        let Upload { namespace, name, content_type, ttl, digest, content } = upload;
        self.allow(caller, Operation::ArtifactPut, Some(&namespace)).await?;
        let too_long = |text: &str| text.len() > model_limits::WORD_BYTES_MAX;
        if too_long(&name) || content_type.as_deref().is_some_and(too_long) {
            let message = format!("at most {} bytes", model_limits::WORD_BYTES_MAX);
            return Err(Error::field(ErrorCode::InvalidRequest, "name", message));
        }
        let max = model_limits::DURATION_MAX;
        let ttl = ttl.map(|ttl| ttl_of(Some(&ttl), max, max)).transpose()?;
        let incoming = self.files()?.receive(content, ARTIFACT_BYTES_MAX).await.map_err(file_error)?;
        let stored = incoming.stored();
        let now = self.now();
        let entry = Entry {
            target: Some(stored.digest.to_string().into()),
            detail: (!name.is_empty()).then(|| name.as_str().into()),
            ..caller.entry(now, Operation::ArtifactPut, Some(&namespace))
        };
        if digest.is_some_and(|expected| expected != stored.digest) {
            let message = format!("the content is {}", stored.digest);
            return self.refused(entry, Error::field(ErrorCode::InvalidRequest, "digest", message)).await;
        }
        let document = ArtifactDocument {
            name,
            bytes: stored.bytes,
            content_type,
            created_at: now,
            created_by: caller.subject().into(),
            expires_at: ttl.map(|ttl| now + ttl),
        };
        // Before there is content that nobody has: should this process end here, it is found and removed.
        if let Err(error) = self.expect_file(stored.digest).await {
            return self.refused(entry, error).await;
        }
        incoming.keep().await.map_err(file_error)?;
        self.write_artifact(stored.digest, namespace, document, entry).await
    }

    /// Writes down that a namespace has a file. What it had already stays, and is kept for the longer of the two.
    async fn write_artifact(
        &self,
        digest: Digest,
        namespace: Namespace,
        document: ArtifactDocument,
        entry: Entry,
    ) -> Result<(Artifact, bool)> {
        let key = key(digest, &namespace);
        let known = self.store.record(record::ARTIFACT, &key).await?;
        let (document, revision) = match &known {
            None => (document, 1),
            Some(row) => {
                let known: ArtifactDocument = record::decode(row)?;
                let expires_at = known.expires_at.zip(document.expires_at).map(|(one, other)| one.max(other));
                let is_same = expires_at == known.expires_at;
                (ArtifactDocument { expires_at, ..known }, row.revision + u64::from(!is_same))
            }
        };
        let mut writes = Vec::new();
        if known.as_ref().is_none_or(|row| row.revision != revision) {
            let value = record::encode(&document).into();
            let row = Record { kind: record::ARTIFACT, key, revision, expires_at: None, value };
            writes.push(Write::PutRecord(Box::new(row)));
        }
        match self.unmark(digest).await {
            Ok(unmark) => writes.extend(unmark),
            Err(error) => return self.refused(entry, error).await,
        }
        let outcomes = self.journal.commit(writes, entry).await?;
        let is_kept = outcomes.iter().all(|outcome| *outcome == Outcome::Applied);
        if !is_kept || self.files()?.get(digest, Some(0..0)).await.map_err(file_error)?.is_none() {
            let message = "somebody uploaded or removed the same file meanwhile; upload it again";
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        Ok((describe(digest, namespace, document, revision), known.is_none()))
    }

    /// What is known about a file.
    pub async fn artifact(&self, caller: &Caller, namespace: &Namespace, digest: Digest) -> Result<Artifact> {
        self.allow(caller, Operation::ArtifactGet, Some(namespace)).await?;
        self.find_artifact(namespace, digest).await
    }

    /// A file, or a part of it. `range` is asked with the file's length.
    pub async fn artifact_content(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        digest: Digest,
        range: impl FnOnce(u64) -> Result<Option<Range<u64>>> + Send,
    ) -> Result<ArtifactContent> {
        self.allow(caller, Operation::ArtifactContent, Some(namespace)).await?;
        let artifact = self.find_artifact(namespace, digest).await?;
        let range = range(artifact.bytes)?;
        let content = self.files()?.get(digest, range).await.map_err(file_error)?;
        let content = content.ok_or_else(|| Error::not_found(format!("file {digest}")))?;
        Ok(ArtifactContent { artifact, content })
    }

    /// The files of a namespace and all below, by digest.
    pub async fn list_artifacts(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        request: &PageRequest,
    ) -> Result<Page<Artifact>> {
        self.places(caller, Operation::ArtifactList, namespace).await?;
        let query = request.records(record::ARTIFACT, &[])?;
        visible(&*self.store, query, |row| {
            let Some((digest, place)) = parse_key(&row.key) else { return Ok(None) };
            let wanted = namespace.is_none_or(|namespace| place.is_within(namespace));
            let seen = wanted && caller.principal.may(Operation::ArtifactList, Some(&place));
            seen.then(|| Ok(describe(digest, place, record::decode(row)?, row.revision))).transpose()
        })
        .await
    }

    /// Removes a file from a namespace, unless a job or a run there still names it.
    pub async fn delete_artifact(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        digest: Digest,
        condition: Precondition,
    ) -> Result<()> {
        self.allow(caller, Operation::ArtifactDelete, Some(namespace)).await?;
        let entry = Entry {
            target: Some(digest.to_string().into()),
            ..caller.entry(self.now(), Operation::ArtifactDelete, Some(namespace))
        };
        let key = key(digest, namespace);
        let Some(found) = self.store.record(record::ARTIFACT, &key).await? else {
            return self.refused(entry, Error::not_found(format!("file {digest} in `{namespace}`"))).await;
        };
        if let Err(error) = condition.check(Some(found.revision)) {
            return self.refused(entry, error).await;
        }
        if let Err(error) = self.check_unnamed(namespace, digest).await {
            return self.refused(entry, error).await;
        }
        let mark = self.mark_unheld(digest, &[&key]).await?;
        let mut writes = vec![Write::RemoveRecord { kind: record::ARTIFACT, key, expected: found.revision }];
        writes.extend(mark);
        let outcomes = self.journal.commit(writes, entry).await?;
        self.held_files.forget();
        if outcomes.iter().any(|outcome| *outcome != Outcome::Applied) {
            return Err(Error::new(ErrorCode::Conflict, "the file changed meanwhile"));
        }
        Ok(())
    }

    /// A file of a namespace, if it has one.
    pub(crate) async fn artifact_of(&self, namespace: &Namespace) -> Result<Option<Digest>> {
        let query = RecordQuery::all(record::ARTIFACT, 1);
        let of = |row: &Record| Ok(parse_key(&row.key).filter(|(_, place)| place == namespace));
        let first = visible(&*self.store, query, of).await?.items.pop();
        Ok(first.map(|(digest, _)| digest))
    }

    async fn find_artifact(&self, namespace: &Namespace, digest: Digest) -> Result<Artifact> {
        let found = self.store.record(record::ARTIFACT, &key(digest, namespace)).await?;
        let row = found.ok_or_else(|| Error::not_found(format!("file {digest} in `{namespace}`")))?;
        Ok(describe(digest, namespace.clone(), record::decode(&row)?, row.revision))
    }

    pub(crate) fn files(&self) -> Result<&Arc<dyn Artifacts>> {
        let missing = || Error::new(ErrorCode::NotFound, "this server keeps no files");
        self.artifacts.as_ref().ok_or_else(missing)
    }
}

pub(crate) fn key(digest: Digest, namespace: &Namespace) -> RecordKey {
    RecordKey::from([&digest.as_bytes()[..], namespace.as_str().as_bytes()].concat())
}

pub(crate) fn parse_key(key: &RecordKey) -> Option<(Digest, Namespace)> {
    let (digest, place) = key.as_bytes().split_first_chunk::<32>()?;
    Some((Digest::from_bytes(*digest), std::str::from_utf8(place).ok()?.parse().ok()?))
}

fn describe(digest: Digest, namespace: Namespace, document: ArtifactDocument, revision: u64) -> Artifact {
    Artifact {
        digest,
        namespace,
        name: document.name,
        bytes: document.bytes,
        content_type: document.content_type,
        created_at: document.created_at.into(),
        created_by: document.created_by,
        revision,
        expires_at: document.expires_at.map(Into::into),
    }
}

pub(crate) fn file_error(error: ArtifactError) -> Error {
    let message = error.to_string();
    match error {
        ArtifactError::TooLarge(_) => Error::new(ErrorCode::TooLarge, message),
        ArtifactError::Upload(_) => Error::new(ErrorCode::InvalidRequest, message),
        ArtifactError::Io(cause) => {
            tracing::error!(error = &cause as &dyn std::error::Error, "a file cannot be read or written");
            Error::new(ErrorCode::StoreUnavailable, message)
        }
    }
}
