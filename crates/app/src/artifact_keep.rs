//! How long files are kept: as long as a job or a run that is not over names them, then until their time is over, and their
//! content for a grace beyond the last namespace that had it.
//!
//! A file that nobody has is marked, and removed in two steps: the mark says that it is being removed, then the content goes,
//! then the mark. Whoever uploads the same content takes the mark away, or is told to come again when it is being removed.
//! So no namespace has a file whose content is gone, however the two meet. Whoever claims a file removes it soon or not at
//! all: after a while another may claim it, and then somebody may bring it back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mainspring_model::spec::Digest;
use mainspring_model::{ErrorCode, JobSpec, Namespace, RunState, Timestamp, limits as model_limits};
use mainspring_store::{Outcome, Record, RecordKey, RecordQuery, RunQuery, Transaction, Write};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::artifacts::{ArtifactDocument, file_error, parse_key};
use crate::audit::{self, Entry};
use crate::error::{Error, Result};
use crate::limits::{FILE_GRACE, SCAN_BUDGET};
use crate::operation::Operation;
use crate::record;

/// What the audit calls whoever removes files whose time is over.
const JANITOR: &str = "retention";
/// Whoever claimed a file removes it within this time or leaves it.
const CLAIM_TTL: Duration = Duration::from_secs(60);

/// What the mark of a file that nobody has says.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct MarkDocument {
    since: Timestamp,
    being_removed: bool,
    /// When somebody began to remove it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claimed_at: Option<Timestamp>,
}

impl MarkDocument {
    /// Whether somebody may remove the file now: nobody has had it for long enough, and nobody else is at it.
    fn is_due(&self, now: Timestamp) -> bool {
        match self.being_removed {
            false => self.since + FILE_GRACE <= now,
            true => self.claimed_at.is_none_or(|at| at + 2 * CLAIM_TTL <= now),
        }
    }
}

impl App {
    /// Removes files whose time is over and that nothing names, and content that nobody has had for a while: `most` of each,
    /// as long as `may_go_on` says so. What cannot be read or removed does not keep the rest.
    pub async fn tidy_files(
        &self,
        now: Timestamp,
        most: usize,
        may_go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        self.expire_files(now, most).await?;
        self.remove_marked(now, most, may_go_on).await?;
        self.files()?.tidy(now).await.map_err(file_error)
    }

    async fn expire_files(&self, now: Timestamp, most: usize) -> Result<()> {
        let (mut query, mut left) = (RecordQuery::all(record::ARTIFACT, model_limits::PAGE_ROWS_MAX), most);
        loop {
            let page = self.store.records(query.clone()).await?;
            for row in &page.rows {
                if left == 0 {
                    return Ok(());
                }
                let is_over = |document: ArtifactDocument| document.expires_at.is_some_and(|end| end <= now);
                let tidied = match record::decode(row).map(is_over) {
                    Ok(true) => self.expire(row, now).await,
                    other => other.map(|_| false),
                };
                match tidied {
                    Ok(is_removed) => left -= usize::from(is_removed),
                    Err(error) => {
                        tracing::warn!(key = ?row.key, %error, "a file cannot be looked after; the others are");
                    }
                }
            }
            match page.rows.last().filter(|_| page.more) {
                Some(last) => query.after = Some(last.key.clone()),
                None => return Ok(()),
            }
        }
    }

    /// Goes on only if nothing in the namespace names the file.
    pub(crate) async fn check_unnamed(&self, namespace: &Namespace, digest: Digest) -> Result<()> {
        let named = |by: String| Err(Error::new(ErrorCode::IllegalState, by));
        if let Some(job) = self.job_naming(namespace, digest).await? {
            return named(format!("job `{job}` names it; change the job first"));
        }
        let mut query = RunQuery {
            namespace: Some(namespace.clone()),
            states: RunState::ALL.into_iter().filter(|state| !state.is_terminal()).collect(),
            limit: model_limits::PAGE_ROWS_MAX,
            ..RunQuery::default()
        };
        let mut seen = 0;
        loop {
            let page = self.store.runs(query.clone()).await?;
            let specs = self.specs_of(&page.rows).await?;
            for (run, spec) in page.rows.iter().zip(specs) {
                if run.head.namespace == *namespace && spec.is_none_or(|spec| names(&spec, digest)) {
                    return named(format!("{} is not over and names it", run.head.id));
                }
            }
            seen += page.rows.len();
            match page.rows.last().filter(|_| page.more) {
                Some(_) if seen >= SCAN_BUDGET => {
                    return named(format!(
                        "more than {seen} runs are not over; it is not known what they name"
                    ));
                }
                Some(last) => query.after = Some(last.head.id),
                None => return Ok(()),
            }
        }
    }

    /// The write that marks a file when `leaving` is the last namespace that has it.
    pub(crate) async fn mark_unheld(&self, digest: Digest, leaving: &[&RecordKey]) -> Result<Option<Write>> {
        let prefix = digest.as_bytes()[..].into();
        let query = RecordQuery { prefix, ..RecordQuery::all(record::ARTIFACT, leaving.len() + 1) };
        if self.store.records(query).await?.rows.iter().any(|row| !leaving.contains(&&row.key)) {
            return Ok(None);
        }
        let known = self.store.record(record::FILE_MARK, &mark_key(digest)).await?;
        let document = MarkDocument { since: self.now(), being_removed: false, claimed_at: None };
        match known {
            // Whoever removes it goes on.
            Some(row) if record::decode::<MarkDocument>(&row)?.being_removed => Ok(None),
            known => Ok(Some(put_mark(digest, &document, known.map_or(1, |row| row.revision + 1)))),
        }
    }

    /// Marks a file that is about to come, unless some namespace has it. An error while the same file is being removed: it
    /// would come, and be nobody's.
    pub(crate) async fn expect_file(&self, digest: Digest) -> Result<()> {
        self.unmark(digest).await?;
        if let Some(mark) = self.mark_unheld(digest, &[]).await? {
            let outcomes = self.store.commit(Transaction::unfenced(vec![mark])).await?;
            if outcomes.first() != Some(&Outcome::Applied) {
                self.unmark(digest).await?;
            }
        }
        Ok(())
    }

    /// The write that takes the mark of a file away, for whoever brings it back. An error while it is being removed.
    pub(crate) async fn unmark(&self, digest: Digest) -> Result<Option<Write>> {
        let key = mark_key(digest);
        let Some(row) = self.store.record(record::FILE_MARK, &key).await? else { return Ok(None) };
        if record::decode::<MarkDocument>(&row)?.being_removed {
            let message = "the same file is being removed at this moment; upload it again in a while";
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        Ok(Some(Write::RemoveRecord { kind: record::FILE_MARK, key, expected: row.revision }))
    }

    /// Takes a file whose time is over from its namespace, unless something names it. Tells whether it did.
    async fn expire(&self, row: &Record, now: Timestamp) -> Result<bool> {
        let Some((digest, namespace)) = parse_key(&row.key) else { return Ok(false) };
        match self.check_unnamed(&namespace, digest).await {
            Ok(()) => {}
            Err(error) if error.code == ErrorCode::IllegalState => return Ok(false),
            Err(error) => return Err(error),
        }
        let (kind, key) = (row.kind, row.key.clone());
        let mut writes = vec![Write::RemoveRecord { kind, key, expected: row.revision }];
        writes.extend(self.mark_unheld(digest, &[&row.key]).await?);
        let entry = Entry {
            at: now,
            actor: JANITOR.into(),
            token: None,
            operation: Operation::ArtifactDelete,
            namespace: Some(namespace),
            target: Some(digest.to_string().into()),
            outcome: audit::Outcome::Allowed,
            detail: Some("its time is over".into()),
            request_id: None,
            from: None,
        };
        // Somebody who brought it back meanwhile keeps it.
        self.journal.commit(writes, entry).await?;
        self.held_files.forget();
        Ok(true)
    }

    async fn remove_marked(
        &self,
        now: Timestamp,
        most: usize,
        may_go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        let (mut query, mut left) = (RecordQuery::all(record::FILE_MARK, model_limits::PAGE_ROWS_MAX), most);
        loop {
            let page = self.store.records(query.clone()).await?;
            for row in &page.rows {
                if left == 0 {
                    return Ok(());
                }
                let removed = match record::decode::<MarkDocument>(row) {
                    Ok(mark) if mark.is_due(now) => self.remove_file(row, mark, may_go_on).await,
                    other => other.map(|_| false),
                };
                match removed {
                    Ok(is_removed) => left -= usize::from(is_removed),
                    Err(error) => {
                        tracing::warn!(key = ?row.key, %error, "a file that nobody has cannot be removed; the others are");
                    }
                }
            }
            match page.rows.last().filter(|_| page.more) {
                Some(last) => query.after = Some(last.key.clone()),
                None => return Ok(()),
            }
        }
    }

    /// Removes content that nobody has. Tells whether it did.
    async fn remove_file(
        &self,
        row: &Record,
        mark: MarkDocument,
        may_go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<bool> {
        let Ok(digest) = row.key.as_bytes().try_into().map(Digest::from_bytes) else { return Ok(false) };
        let begun = Instant::now();
        let revision = row.revision + 1;
        let claim = MarkDocument { being_removed: true, claimed_at: Some(self.now()), ..mark };
        let claimed = Transaction::unfenced(vec![put_mark(digest, &claim, revision)]);
        if self.store.commit(claimed).await?.first() != Some(&Outcome::Applied) {
            return Ok(false);
        }
        let prefix = digest.as_bytes()[..].into();
        let held = RecordQuery { prefix, ..RecordQuery::all(record::ARTIFACT, 1) };
        if self.store.records(held).await?.rows.is_empty() {
            // Whoever was held up may not be the one who removes files any more, and the file may be somebody's again.
            if !may_go_on() || begun.elapsed() >= CLAIM_TTL {
                return Ok(false);
            }
            self.files()?.remove(digest).await.map_err(file_error)?;
        }
        let key = row.key.clone();
        let removal = Write::RemoveRecord { kind: record::FILE_MARK, key, expected: revision };
        self.store.commit(Transaction::unfenced(vec![removal])).await?;
        Ok(true)
    }

    /// A job of the namespace whose current version names the file.
    async fn job_naming(&self, namespace: &Namespace, digest: Digest) -> Result<Option<Box<str>>> {
        let mut after = None;
        loop {
            let page = self.store.jobs(Some(namespace), after, model_limits::PAGE_ROWS_MAX).await?;
            for job in page.rows.iter().filter(|job| job.namespace == *namespace) {
                let spec = self.find_version(job.id, job.current_version).await?;
                if names(&spec, digest) {
                    return Ok(Some(job.name.clone()));
                }
            }
            match page.rows.last().filter(|_| page.more) {
                Some(last) => after = Some(last.id),
                None => return Ok(None),
            }
        }
    }
}

fn names(spec: &Arc<JobSpec>, digest: Digest) -> bool {
    spec.artifacts.iter().any(|artifact| artifact.digest == digest && artifact.url.is_none())
}

fn mark_key(digest: Digest) -> RecordKey {
    RecordKey::from(&digest.as_bytes()[..])
}

fn put_mark(digest: Digest, document: &MarkDocument, revision: u64) -> Write {
    Write::PutRecord(Box::new(Record {
        kind: record::FILE_MARK,
        key: mark_key(digest),
        revision,
        expires_at: None,
        value: record::encode(document).into(),
    }))
}
