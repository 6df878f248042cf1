//! Roles as they are kept: by subject, then by namespace, so that signing in reads one short range.

use mainspring_model::Namespace;
use mainspring_store::{Record, RecordKey, RecordQuery, Store, Write};
use mainspring_wire::api::{Member, Role};

use super::documents::{GrantDocument, place_of};
use crate::error::Result;
use crate::record;

/// Rows read at once.
const ROWS: usize = 1_000;

/// The key of a role: a subject has no zero byte.
pub(super) fn key(subject: &str, namespace: Option<&Namespace>) -> RecordKey {
    let place = namespace.map_or("", |namespace| namespace.as_str());
    RecordKey::from([subject.as_bytes(), &[0], place.as_bytes()].concat())
}

/// The write of a role.
pub(super) fn write(
    subject: &str,
    namespace: Option<&Namespace>,
    document: &GrantDocument,
    revision: u64,
) -> Write {
    Write::PutRecord(Box::new(Record {
        kind: record::GRANT,
        key: key(subject, namespace),
        revision,
        expires_at: None,
        value: record::encode(document).into(),
    }))
}

/// The roles of a subject.
pub(super) async fn of_subject(store: &dyn Store, subject: &str) -> Result<Vec<(Option<Namespace>, Role)>> {
    let prefix = [subject.as_bytes(), &[0]].concat();
    let mut roles = Vec::new();
    for_each(store, &prefix, |member| roles.push((member.namespace, member.role))).await?;
    Ok(roles)
}

/// Goes through roles whose keys begin so.
pub(super) async fn for_each(store: &dyn Store, prefix: &[u8], mut see: impl FnMut(Member)) -> Result<()> {
    let mut after = None;
    loop {
        let query =
            RecordQuery { kind: record::GRANT, prefix: prefix.into(), after, reverse: false, limit: ROWS };
        let page = store.records(query).await?;
        page.rows.iter().filter_map(|row| member(row).transpose()).try_for_each(|member| {
            see(member?);
            Ok::<(), crate::Error>(())
        })?;
        match page.rows.last().filter(|_| page.more) {
            Some(last) => after = Some(last.key.clone()),
            None => return Ok(()),
        }
    }
}

/// What a record of a role says; nothing when its key is none of ours.
pub(super) fn member(row: &Record) -> Result<Option<Member>> {
    let key = String::from_utf8_lossy(row.key.as_bytes());
    let Some((subject, place)) = key.split_once('\0') else { return Ok(None) };
    let Some(namespace) = place_of(place) else { return Ok(None) };
    let document: GrantDocument = record::decode(row)?;
    Ok(Some(Member {
        subject: subject.to_owned(),
        namespace,
        role: document.role,
        revision: row.revision,
        granted_at: document.granted_at.into(),
        granted_by: document.granted_by,
    }))
}
