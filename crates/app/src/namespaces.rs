//! Namespaces: those that were described, and those that something lives in.

use std::collections::BTreeMap;

use mainspring_model::{ErrorCode, Namespace, Timestamp, limits as model_limits};
use mainspring_store::{Outcome, Record, RecordKey, RecordQuery, Write};
use mainspring_wire::api::{self, Page, PutNamespace};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::paging::PageRequest;
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::record;

/// What a record of a namespace says.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct NamespaceDocument {
    description: String,
    created_at: Timestamp,
    created_by: String,
    updated_at: Timestamp,
}

impl App {
    /// Namespaces by path: those that were described, and those that have jobs. Within one, if given.
    pub async fn list_namespaces(
        &self,
        caller: &Caller,
        within: Option<&Namespace>,
        request: &PageRequest,
    ) -> Result<Page<api::Namespace>> {
        self.places(caller, Operation::NamespaceList, within).await?;
        let limit = request.rows()?;
        let after: Option<Namespace> = request.after()?;
        let mut all = self.described(within).await?;
        self.add_inhabited(within, &mut all).await?;
        let mut items: Vec<api::Namespace> = all
            .into_values()
            .filter(|found| caller.principal.may(Operation::NamespaceList, Some(&found.path)))
            .filter(|found| after.as_ref().is_none_or(|after| found.path > *after))
            .take(limit + 1)
            .collect();
        let more = items.len() > limit;
        items.truncate(limit);
        let next_cursor = items.last().filter(|_| more).map(|last| last.path.to_string());
        Ok(Page { items, next_cursor })
    }

    /// A namespace that was described, or that has jobs.
    pub async fn namespace(&self, caller: &Caller, path: &Namespace) -> Result<api::Namespace> {
        self.allow(caller, Operation::NamespaceGet, Some(path)).await?;
        if let Some(found) = self.find_namespace(path).await? {
            return Ok(found);
        }
        self.inhabited(path).await?.ok_or_else(|| Error::not_found(format!("namespace `{path}`")))
    }

    /// A namespace that has jobs, and that nobody described.
    async fn inhabited(&self, path: &Namespace) -> Result<Option<api::Namespace>> {
        let mut all = BTreeMap::new();
        self.add_inhabited(Some(path), &mut all).await?;
        Ok(all.remove(path))
    }

    /// Makes a namespace, or describes it anew. Tells whether there was no record of it.
    pub async fn put_namespace(
        &self,
        caller: &Caller,
        path: &Namespace,
        request: PutNamespace,
        condition: Precondition,
    ) -> Result<(api::Namespace, bool)> {
        self.allow(caller, Operation::NamespacePut, Some(path)).await?;
        let entry = caller.entry(self.now(), Operation::NamespacePut, Some(path));
        if request.description.len() > model_limits::DESCRIPTION_BYTES_MAX {
            let message = format!("at most {} bytes", model_limits::DESCRIPTION_BYTES_MAX);
            return self.refused(entry, Error::field(ErrorCode::TooLarge, "description", message)).await;
        }
        let found = self.find_namespace(path).await?;
        let revision = match (&found, condition) {
            (Some(found), _) => Some(found.revision),
            (None, Precondition::None) => None,
            // One that jobs live in exists, as whoever reads it is told.
            (None, _) => self.inhabited(path).await?.map(|found| found.revision),
        };
        if let Err(error) = condition.check(revision) {
            return self.refused(entry, error).await;
        }
        let now = self.now();
        let document = NamespaceDocument {
            description: request.description,
            created_at: found.as_ref().map_or(now, |found| found.created_at.0),
            created_by: found
                .as_ref()
                .map_or_else(|| caller.subject().to_owned(), |found| found.created_by.clone()),
            updated_at: now,
        };
        let row = Record {
            kind: record::NAMESPACE,
            key: path.as_str().into(),
            revision: found.as_ref().map_or(1, |found| found.revision + 1),
            expires_at: None,
            value: record::encode(&document).into(),
        };
        let seen = describe(path.clone(), document, row.revision);
        let outcomes = self.journal.commit(vec![Write::PutRecord(Box::new(row))], entry).await?;
        match outcomes.iter().all(|outcome| *outcome == Outcome::Applied) {
            true => Ok((seen, found.is_none())),
            false => Err(Error::new(ErrorCode::Conflict, "the namespace changed meanwhile")),
        }
    }

    /// Removes a namespace that has neither jobs, members, artifacts nor namespaces below it.
    pub async fn delete_namespace(
        &self,
        caller: &Caller,
        path: &Namespace,
        condition: Precondition,
    ) -> Result<()> {
        self.allow(caller, Operation::NamespaceDelete, Some(path)).await?;
        let entry = caller.entry(self.now(), Operation::NamespaceDelete, Some(path));
        let Some(found) = self.find_namespace(path).await? else {
            return self.refused(entry, Error::not_found(format!("namespace `{path}`"))).await;
        };
        if let Err(error) = condition.check(Some(found.revision)) {
            return self.refused(entry, error).await;
        }
        let has_jobs = !self.store.jobs(Some(path), None, 1).await?.rows.is_empty();
        if has_jobs || self.described(Some(path)).await?.len() > 1 {
            let error = Error::new(ErrorCode::IllegalState, "it still has jobs or namespaces below it");
            return self.refused(entry, error).await;
        }
        if let Some(what) = self.left_in(path).await? {
            let error =
                Error::new(ErrorCode::IllegalState, format!("it still has {what}; remove that first"));
            return self.refused(entry, error).await;
        }
        let key = RecordKey::from(path.as_str());
        let removal = Write::RemoveRecord { kind: record::NAMESPACE, key, expected: found.revision };
        let outcomes = self.journal.commit(vec![removal], entry).await?;
        match outcomes.iter().all(|outcome| *outcome == Outcome::Applied) {
            true => Ok(()),
            false => Err(Error::new(ErrorCode::Conflict, "the namespace changed meanwhile")),
        }
    }

    /// A role or a file that is bound to the namespace: whoever makes it anew must not find what others left. Both are found
    /// by reading all: it is done when somebody removes a namespace.
    async fn left_in(&self, path: &Namespace) -> Result<Option<String>> {
        if let Some(subject) = self.member_of(path).await? {
            return Ok(Some(format!("a member, `{subject}`")));
        }
        let digest = self.artifact_of(path).await?;
        Ok(digest.map(|digest| format!("an artifact, {digest}")))
    }

    async fn find_namespace(&self, path: &Namespace) -> Result<Option<api::Namespace>> {
        let found = self.store.record(record::NAMESPACE, &path.as_str().into()).await?;
        found.map(|row| Ok(describe(path.clone(), record::decode(&row)?, row.revision))).transpose()
    }

    /// Those with a record of their own.
    async fn described(&self, within: Option<&Namespace>) -> Result<BTreeMap<Namespace, api::Namespace>> {
        let prefix = within.map_or("", |within| within.as_str());
        let mut found = BTreeMap::new();
        let mut query = RecordQuery {
            prefix: prefix.as_bytes().into(),
            ..RecordQuery::all(record::NAMESPACE, model_limits::PAGE_ROWS_MAX)
        };
        loop {
            let page = self.store.records(query.clone()).await?;
            for row in &page.rows {
                let path: Option<Namespace> =
                    std::str::from_utf8(row.key.as_bytes()).ok().and_then(|path| path.parse().ok());
                if let Some(path) = path.filter(|path| within.is_none_or(|within| path.is_within(within))) {
                    found.insert(path.clone(), describe(path, record::decode(row)?, row.revision));
                }
            }
            match page.rows.last().filter(|_| page.more) {
                Some(last) => query.after = Some(last.key.clone()),
                None => return Ok(found),
            }
        }
    }

    /// Those that jobs live in.
    async fn add_inhabited(
        &self,
        within: Option<&Namespace>,
        all: &mut BTreeMap<Namespace, api::Namespace>,
    ) -> Result<()> {
        let mut after = None;
        loop {
            let page = self.store.jobs(within, after, model_limits::PAGE_ROWS_MAX).await?;
            for job in &page.rows {
                all.entry(job.namespace.clone()).or_insert_with(|| api::Namespace {
                    path: job.namespace.clone(),
                    description: String::new(),
                    revision: 0,
                    created_at: job.created_at.into(),
                    created_by: String::new(),
                    updated_at: job.created_at.into(),
                });
            }
            match page.rows.last().filter(|_| page.more) {
                Some(last) => after = Some(last.id),
                None => return Ok(()),
            }
        }
    }
}

fn describe(path: Namespace, document: NamespaceDocument, revision: u64) -> api::Namespace {
    api::Namespace {
        path,
        description: document.description,
        revision,
        created_at: document.created_at.into(),
        created_by: document.created_by,
        updated_at: document.updated_at.into(),
    }
}
