//! Members: giving and taking roles. An admin of a namespace does so there and below; everywhere, an admin of everywhere.

use mainspring_model::{ErrorCode, Namespace};
use mainspring_store::{Record, RecordKey, RecordQuery, Write};
use mainspring_wire::api::{Member, Page, PutMember, Role};

use super::documents::GrantDocument;
use super::{grants, subject};
use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::paging::{PageRequest, visible};
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::record;

impl App {
    /// Who has a role in a namespace or below; with none, every role that there is.
    pub async fn list_members(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        request: &PageRequest,
    ) -> Result<Page<Member>> {
        self.allow(caller, Operation::MemberList, namespace).await?;
        let within = |member: &Member| match (&member.namespace, namespace) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(inner), Some(outer)) => inner.is_within(outer),
        };
        let query = request.records(record::GRANT, &[])?;
        visible(&*self.store, query, |row| Ok(grants::member(row)?.filter(within))).await
    }

    /// Somebody's role in this very place.
    pub async fn member(
        &self,
        caller: &Caller,
        subject: &str,
        namespace: Option<&Namespace>,
    ) -> Result<Member> {
        self.allow(caller, Operation::MemberGet, namespace).await?;
        self.find_member(subject, namespace).await?.ok_or_else(|| no_role(subject, namespace))
    }

    /// Gives somebody a role. Tells whether they had none before.
    pub async fn put_member(
        &self,
        caller: &Caller,
        subject: &str,
        namespace: Option<&Namespace>,
        request: PutMember,
        condition: Precondition,
    ) -> Result<(Member, bool)> {
        self.allow(caller, Operation::MemberPut, namespace).await?;
        subject::check(subject)?;
        let now = self.now();
        let found = self.find_member(subject, namespace).await?;
        let entry = Entry {
            target: Some(subject.into()),
            detail: Some(request.role.name().into()),
            ..caller.entry(now, Operation::MemberPut, namespace)
        };
        if let Err(error) = condition.check(found.as_ref().map(|member| member.revision)) {
            return self.refused(entry, error).await;
        }
        let guard = match self.keep_an_admin(found.as_ref(), Some(request.role)).await {
            Ok(guard) => guard,
            Err(error) => return self.refused(entry, error).await,
        };
        let revision = found.as_ref().map_or(1, |member| member.revision + 1);
        let document =
            GrantDocument { role: request.role, granted_at: now, granted_by: caller.subject().into() };
        let mut writes = vec![grants::write(subject, namespace, &document, revision)];
        writes.extend(guard);
        let written = self.journal.write(writes, entry).await;
        self.principals.forget();
        written?;
        let member = Member {
            subject: subject.to_owned(),
            namespace: namespace.cloned(),
            role: request.role,
            revision,
            granted_at: now.into(),
            granted_by: document.granted_by,
        };
        Ok((member, found.is_none()))
    }

    /// Takes somebody's role in this very place away.
    pub async fn delete_member(
        &self,
        caller: &Caller,
        subject: &str,
        namespace: Option<&Namespace>,
        condition: Precondition,
    ) -> Result<()> {
        self.allow(caller, Operation::MemberDelete, namespace).await?;
        let entry = Entry {
            target: Some(subject.into()),
            ..caller.entry(self.now(), Operation::MemberDelete, namespace)
        };
        let Some(found) = self.find_member(subject, namespace).await? else {
            return self.refused(entry, no_role(subject, namespace)).await;
        };
        if let Err(error) = condition.check(Some(found.revision)) {
            return self.refused(entry, error).await;
        }
        let guard = match self.keep_an_admin(Some(&found), None).await {
            Ok(guard) => guard,
            Err(error) => return self.refused(entry, error).await,
        };
        let key = grants::key(subject, namespace);
        let mut writes = vec![Write::RemoveRecord { kind: record::GRANT, key, expected: found.revision }];
        writes.extend(guard);
        let written = self.journal.write(writes, entry).await;
        self.principals.forget();
        written
    }

    /// Somebody who has a role in this very place, if anybody has.
    pub(crate) async fn member_of(&self, namespace: &Namespace) -> Result<Option<String>> {
        let of =
            |row: &Record| Ok(grants::member(row)?.filter(|one| one.namespace.as_ref() == Some(namespace)));
        let first = visible(&*self.store, RecordQuery::all(record::GRANT, 1), of).await?.items.pop();
        Ok(first.map(|member| member.subject))
    }

    async fn find_member(&self, subject: &str, namespace: Option<&Namespace>) -> Result<Option<Member>> {
        match self.store.record(record::GRANT, &grants::key(subject, namespace)).await? {
            Some(row) => grants::member(&row),
            None => Ok(None),
        }
    }

    /// The last admin of everywhere stays: nobody could make another. When one of several goes, the write that is answered
    /// goes with it, so that of two who go at once one is told that something changed.
    async fn keep_an_admin(&self, found: Option<&Member>, becomes: Option<Role>) -> Result<Option<Write>> {
        let is_admin = |member: &Member| member.namespace.is_none() && member.role == Role::Admin;
        let Some(leaving) = found.filter(|member| is_admin(member) && becomes != Some(Role::Admin)) else {
            return Ok(None);
        };
        // Before the others are counted: whoever goes after this changes it.
        let key = RecordKey::from("admins");
        let guard = self.store.record(record::ADMIN_GUARD, &key).await?;
        let mut others = 0usize;
        grants::for_each(&*self.store, &[], |member| {
            others += usize::from(is_admin(&member) && member.subject != leaving.subject);
        })
        .await?;
        if others > 0 {
            let revision = guard.map_or(1, |guard| guard.revision + 1);
            let value = record::encode(&leaving.subject).into();
            let guard = Record { kind: record::ADMIN_GUARD, key, revision, expires_at: None, value };
            return Ok(Some(Write::PutRecord(Box::new(guard))));
        }
        Err(Error::new(ErrorCode::IllegalState, "this is the last admin of everywhere; make another first"))
    }
}

fn no_role(subject: &str, namespace: Option<&Namespace>) -> Error {
    let place = namespace.map_or("everywhere".to_owned(), |namespace| format!("in `{namespace}`"));
    Error::not_found(format!("role of `{subject}` given {place}"))
}
