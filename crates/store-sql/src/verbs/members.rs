//! Members: schedulers that say they live.

use std::sync::Arc;

use mainspring_model::{Member, Timestamp};

use super::statement::{Query, Statement};
use crate::dialect::Sql;
use crate::rows::member;
use crate::session::{Backend, Result};

static PUT: Sql = Sql::each(
    "INSERT INTO members (id, seen_at, detail) VALUES (?, ?, ?) \
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, detail = excluded.detail",
    "INSERT INTO members (id, seen_at, detail) VALUES (?, ?, ?) \
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, detail = excluded.detail",
    "INSERT INTO members (id, seen_at, detail) VALUES (?, ?, ?) \
     ON DUPLICATE KEY UPDATE seen_at = VALUES(seen_at), detail = VALUES(detail)",
);
const REMOVE: &str = "DELETE FROM members WHERE seen_at < ?";

/// Inserts or replaces a member.
pub(crate) async fn put<B: Backend>(backend: &B, member: &Member) -> Result<()> {
    let params = vec![member.id.as_bytes().into(), member.seen_at.into(), member::detail(member).into()];
    backend.transaction(Arc::new(Statement { text: PUT.text(B::DIALECT), params })).await?;
    Ok(())
}

/// Removes members not seen since; tells how many.
pub(crate) async fn remove<B: Backend>(backend: &B, seen_before: Timestamp) -> Result<u64> {
    Ok(backend.transaction(Arc::new(Statement { text: REMOVE, params: vec![seen_before.into()] })).await?)
}

/// Every member, by id.
pub(crate) async fn all<B: Backend>(backend: &B) -> Result<Vec<Member>> {
    let mut query = Query::new(member::SELECT);
    query.order("id");
    query.sound(backend, member::decode).await
}
