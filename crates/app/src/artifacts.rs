//! Artifacts: who put which file where. The files themselves are behind [`crate::ports::Artifacts`], once for each content,
//! however many namespaces have it; a file goes when the last of them lets it go.

use std::ops::Range;
use std::sync::Arc;

use mainspring_model::spec::Digest;
use mainspring_model::{ErrorCode, Namespace, Timestamp, limits as model_limits};
use mainspring_store::{Conflict, Outcome, Record, RecordKey, RecordQuery, Write};
use mainspring_wire::api::{Artifact, Page};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
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
struct ArtifactDocument {
    name: String,
    bytes: u64,
    content_type: Option<String>,
    created_at: Timestamp,
    created_by: String,
}

impl App {
    /// Keeps a file. Tells whether the namespace did not have it.
    pub async fn put_artifact(&self, caller: &Caller, upload: Upload) -> Result<(Artifact, bool)> {
        let Upload { namespace, name, content_type, digest, content } = upload;
        self.allow(caller, Operation::ArtifactPut, Some(&namespace)).await?;
        let too_long = |text: &str| text.len() > model_limits::WORD_BYTES_MAX;
        if too_long(&name) || content_type.as_deref().is_some_and(too_long) {
            let message = format!("at most {} bytes", model_limits::WORD_BYTES_MAX);
            return Err(Error::field(ErrorCode::InvalidRequest, "name", message));
        }
        let files = self.files()?;
        let stored = files.put(content, ARTIFACT_BYTES_MAX).await.map_err(file_error)?;
        let now = self.now();
        let entry = Entry {
            target: Some(stored.digest.to_string().into()),
            detail: (!name.is_empty()).then(|| name.as_str().into()),
            ..caller.entry(now, Operation::ArtifactPut, Some(&namespace))
        };
        if digest.is_some_and(|expected| expected != stored.digest) {
            self.let_go(stored.digest).await?;
            let message = format!("the content is {}", stored.digest);
            return self.refused(entry, Error::field(ErrorCode::InvalidRequest, "digest", message)).await;
        }
        let document = ArtifactDocument {
            name,
            bytes: stored.bytes,
            content_type,
            created_at: now,
            created_by: caller.subject().into(),
        };
        let write = Write::PutRecord(Box::new(Record {
            kind: record::ARTIFACT,
            key: key(stored.digest, &namespace),
            revision: 1,
            expires_at: None,
            value: record::encode(&document).into(),
        }));
        let outcomes = self.journal.commit(vec![write], entry).await?;
        let existed = matches!(outcomes.first(), Some(Outcome::Conflict(Conflict::Exists)));
        if files.get(stored.digest, Some(0..0)).await.map_err(file_error)?.is_none() {
            return Err(Error::new(
                ErrorCode::Conflict,
                "somebody removed the same file meanwhile; upload it again",
            ));
        }
        match existed {
            true => Ok((self.find_artifact(&namespace, stored.digest).await?, false)),
            false => Ok((describe(stored.digest, namespace, document, 1), true)),
        }
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

    /// Removes a file from a namespace, unless a job there still names it.
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
        if let Some(job) = self.user_of(namespace, digest).await? {
            let message = format!("job `{job}` names it; change the job first");
            return self.refused(entry, Error::new(ErrorCode::IllegalState, message)).await;
        }
        let removal = Write::RemoveRecord { kind: record::ARTIFACT, key, expected: found.revision };
        let outcomes = self.journal.commit(vec![removal], entry).await?;
        self.held_files.forget();
        if outcomes.iter().any(|outcome| *outcome != Outcome::Applied) {
            return Err(Error::new(ErrorCode::Conflict, "the file changed meanwhile"));
        }
        self.let_go(digest).await
    }

    /// Removes a file that no namespace has.
    async fn let_go(&self, digest: Digest) -> Result<()> {
        let query =
            RecordQuery { prefix: digest.as_bytes()[..].into(), ..RecordQuery::all(record::ARTIFACT, 1) };
        if self.store.records(query).await?.rows.is_empty() {
            self.files()?.remove(digest).await.map_err(file_error)?;
        }
        Ok(())
    }

    /// A job of the namespace whose current version names the file.
    async fn user_of(&self, namespace: &Namespace, digest: Digest) -> Result<Option<Box<str>>> {
        let mut after = None;
        loop {
            let page = self.store.jobs(Some(namespace), after, model_limits::PAGE_ROWS_MAX).await?;
            for job in page.rows.iter().filter(|job| job.namespace == *namespace) {
                let spec = self.find_version(job.id, job.current_version).await?;
                if spec.artifacts.iter().any(|artifact| artifact.digest == digest) {
                    return Ok(Some(job.name.clone()));
                }
            }
            match page.rows.last().filter(|_| page.more) {
                Some(last) => after = Some(last.id),
                None => return Ok(None),
            }
        }
    }

    async fn find_artifact(&self, namespace: &Namespace, digest: Digest) -> Result<Artifact> {
        let found = self.store.record(record::ARTIFACT, &key(digest, namespace)).await?;
        let row = found.ok_or_else(|| Error::not_found(format!("file {digest} in `{namespace}`")))?;
        Ok(describe(digest, namespace.clone(), record::decode(&row)?, row.revision))
    }

    fn files(&self) -> Result<&Arc<dyn Artifacts>> {
        let missing = || Error::new(ErrorCode::NotFound, "this server keeps no files");
        self.artifacts.as_ref().ok_or_else(missing)
    }
}

pub(crate) fn key(digest: Digest, namespace: &Namespace) -> RecordKey {
    RecordKey::from([&digest.as_bytes()[..], namespace.as_str().as_bytes()].concat())
}

fn parse_key(key: &RecordKey) -> Option<(Digest, Namespace)> {
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
        expires_at: None,
    }
}

fn file_error(error: ArtifactError) -> Error {
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
