//! The text of a version as it was put, who put it with what, and their words. Records beside the version, written in its
//! transaction: comments and the order of fields are in no specification.
//!
//! A note is one small record; a text is cut into records of at most [`PART_BYTES_MAX`]. They stay as long as versions do.

use std::collections::BTreeMap;

use mainspring_model::spec::Format;
use mainspring_model::{ErrorCode, JobId};
use mainspring_store::{Record, RecordKey, RecordKind, RecordQuery, Write};
use mainspring_wire::api::{JobVersion, VersionOrigin, VersionSource};
use serde::{Deserialize, Serialize};

use super::check_note;
use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::PAGE_MAX;
use crate::record::{self, JOB_NOTE, JOB_SOURCE};

/// Bytes of a text in one record.
const PART_BYTES_MAX: usize = 128 << 10;

/// What comes with a specification and is no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sourced<'a> {
    /// The text.
    pub text: &'a str,
    /// Its language.
    pub format: Format,
    /// Why, in the words of whoever puts it.
    pub note: &'a str,
    /// With what.
    pub origin: VersionOrigin,
}

/// What a note record says.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    media_type: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    note: String,
    origin: VersionOrigin,
    /// How long the text is: records behind that are of an earlier one.
    bytes: usize,
}

impl Sourced<'_> {
    pub(super) fn check(&self) -> Result<()> {
        check_note(self.note)
    }

    /// The records of a version; `known` are the revisions of those that are there.
    pub(super) fn writes(
        &self,
        key: (JobId, u32),
        known: &BTreeMap<(RecordKind, RecordKey), u64>,
    ) -> Vec<Write> {
        let note = Note {
            media_type: media_type(self.format).to_owned(),
            note: self.note.to_owned(),
            origin: self.origin,
            bytes: self.text.len(),
        };
        let parts = self.text.as_bytes().chunks(PART_BYTES_MAX).enumerate();
        let parts = parts.map(|(index, part)| (JOB_SOURCE, part_key(key, index as u32), part.to_vec()));
        let all = std::iter::once((JOB_NOTE, version_key(key), record::encode(&note))).chain(parts);
        let write = |(kind, key, value): (RecordKind, RecordKey, Vec<u8>)| {
            let revision = known.get(&(kind, key.clone())).copied().unwrap_or_default() + 1;
            Write::PutRecord(Box::new(Record { kind, key, revision, expires_at: None, value: value.into() }))
        };
        all.map(write).collect()
    }
}

impl App {
    /// Adds the notes of these versions of a job, which follow each other from the newest down.
    pub(super) async fn add_notes(&self, job: JobId, versions: &mut [JobVersion]) -> Result<()> {
        let (Some(newest), Some(oldest)) = (versions.first(), versions.last()) else { return Ok(()) };
        let oldest = oldest.version;
        let mut query = RecordQuery {
            kind: JOB_NOTE,
            prefix: job.as_bytes().as_slice().into(),
            after: newest.version.checked_add(1).map(|above| version_key((job, above))),
            reverse: true,
            limit: versions.len().min(PAGE_MAX),
        };
        let mut notes: BTreeMap<u32, Note> = BTreeMap::new();
        loop {
            let page = self.store.records(query.clone()).await?;
            for row in &page.rows {
                if let (Some(version), Ok(note)) = (version_of(&row.key), record::decode(row)) {
                    notes.insert(version, note);
                }
            }
            let last = page.rows.last().filter(|_| page.more).map(|row| row.key.clone());
            match last.filter(|key| version_of(key).is_some_and(|version| version > oldest)) {
                Some(last) => query.after = Some(last),
                None => break,
            }
        }
        for version in versions {
            if let Some(note) = notes.get(&version.version) {
                version.note.clone_from(&note.note);
                version.origin = Some(note.origin);
            }
        }
        Ok(())
    }

    /// The text of a version, if it was kept.
    pub(super) async fn source_of(&self, key: (JobId, u32)) -> Result<Option<VersionSource>> {
        let Some(row) = self.store.record(JOB_NOTE, &version_key(key)).await? else { return Ok(None) };
        let note: Note = record::decode(&row)?;
        let mut text = Vec::with_capacity(note.bytes);
        for row in self.source_parts(key).await? {
            text.extend_from_slice(&row.value);
        }
        text.truncate(note.bytes);
        let text = String::from_utf8(text).ok().filter(|text| text.len() == note.bytes);
        Ok(text.map(|text| VersionSource { text, media_type: note.media_type }))
    }

    /// Keeps another text of a version that says the same: other comments, another order.
    pub(super) async fn replace_source(&self, key: (JobId, u32), source: Sourced<'_>) -> Result<bool> {
        let note = self.store.record(JOB_NOTE, &version_key(key)).await?;
        if self.source_of(key).await?.is_some_and(|known| known.text == source.text) {
            return Ok(false);
        }
        let rows = note.into_iter().chain(self.source_parts(key).await?);
        let known = rows.map(|row| ((row.kind, row.key), row.revision)).collect();
        let writes = source.writes(key, &known);
        let outcomes = self.store.commit(mainspring_store::Transaction::all_or_nothing(writes)).await?;
        match outcomes.iter().any(|outcome| outcome.conflict().is_some()) {
            true => Err(Error::new(ErrorCode::Conflict, "the text of the job changed meanwhile")),
            false => Ok(true),
        }
    }

    async fn source_parts(&self, key: (JobId, u32)) -> Result<Vec<Record>> {
        let prefix = version_key(key).as_bytes().into();
        let query = RecordQuery { prefix, ..RecordQuery::all(JOB_SOURCE, PAGE_MAX) };
        Ok(self.store.records(query).await?.rows)
    }
}

fn version_key((job, version): (JobId, u32)) -> RecordKey {
    [job.as_bytes().as_slice(), &version.to_be_bytes()].concat().into()
}

fn part_key(key: (JobId, u32), part: u32) -> RecordKey {
    [version_key(key).as_bytes(), &part.to_be_bytes()].concat().into()
}

fn version_of(key: &RecordKey) -> Option<u32> {
    let (_, version) = key.as_bytes().split_first_chunk::<16>()?;
    version.try_into().ok().map(u32::from_be_bytes)
}

/// What a language is called in `Content-Type`.
pub(crate) fn media_type(format: Format) -> &'static str {
    match format {
        Format::Yaml => "application/yaml",
        Format::Json => "application/json",
        Format::Toml => "application/toml",
    }
}
