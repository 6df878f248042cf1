//! Records: one, a page by key, and the removal of those that nobody needs any more.

use std::sync::Arc;

use mainspring_store::{Page, Record, RecordKey, RecordKind, RecordQuery, RecordRetention, check};

use super::lookup;
use super::page::{self, Placed};
use super::statement::Query;
use crate::dialect::Dialect;
use crate::rows::record;
use crate::session::{Backend, Fault, Op, Result, Session, Work};
use crate::value::{Damage, Param, Row};

/// Records removed in one transaction.
const CHUNK: usize = lookup::CHUNK_MAX;

/// A record.
pub(crate) async fn one<B: Backend>(
    backend: &B,
    kind: RecordKind,
    key: &RecordKey,
) -> Result<Option<Record>> {
    let mut query = Query::new(record::SELECT);
    query.and("kind = ? AND record_key = ?", record::encode_key(kind, key));
    Ok(query.all(backend, record::decode).await?.pop())
}

/// A page of records of a kind, by key.
pub(crate) async fn page<B: Backend>(backend: &B, query: RecordQuery) -> Result<Page<Record>> {
    fn decode(row: &dyn Row) -> Result<Placed<RecordKey, Record>, Damage> {
        Ok((record::decode_key(row)?.1, record::decode(row)))
    }
    check::rows(query.limit)?;
    page::read(backend, query.limit, query.after.clone(), |after| page_query(&query, after), decode).await
}

/// One bound on each side, the nearer one, so that every planner begins and ends at the right place.
fn page_query(query: &RecordQuery, after: Option<RecordKey>) -> Query {
    let (first, end) = query.range();
    let after = after.as_ref().map(RecordKey::as_bytes);
    let mut read = Query::new(record::SELECT);
    read.and("kind = ?", [i64::from(query.kind.0).into()]);
    match after {
        Some(after) if !query.reverse && after >= first => read.and("record_key > ?", [after.into()]),
        _ if first.is_empty() => &mut read,
        _ => read.and("record_key >= ?", [first.into()]),
    };
    let end = match (after.filter(|_| query.reverse), end.as_deref()) {
        (Some(after), Some(end)) => Some(after.min(end)),
        (after, end) => after.or(end),
    };
    if let Some(end) = end {
        read.and("record_key < ?", [end.into()]);
    }
    let order = if query.reverse { "record_key DESC" } else { "record_key" };
    read.page(order, query.limit + 1);
    read
}

/// Removes records as the rule says; tells how many.
pub(crate) async fn retain<B: Backend>(backend: &B, rule: RecordRetention, limit: usize) -> Result<u64> {
    let mut gone = 0u64;
    loop {
        let left = limit.saturating_sub(usize::try_from(gone).unwrap_or(usize::MAX)).min(CHUNK);
        if left == 0 {
            return Ok(gone);
        }
        let removed = backend.transaction(Arc::new(Sweep { rule: rule.clone(), limit: left })).await?;
        gone += removed;
        if removed < left as u64 {
            return Ok(gone);
        }
    }
}

/// One small transaction.
struct Sweep {
    rule: RecordRetention,
    limit: usize,
}

impl Work for Sweep {
    type Answer = u64;

    async fn run<S: Session>(&self, session: &mut S) -> Result<u64, Fault> {
        let find = sweep_query(&self.rule, self.limit);
        let (text, params) = find.parts();
        let mut rows = session.query(text, &params, decode_revision).await?;
        if rows.is_empty() {
            return Ok(0);
        }
        // In the order of keys, like every batch; one that is changed meanwhile stays, because its end may have moved.
        rows.sort_unstable();
        let rows: Vec<Vec<Param>> =
            rows.iter().map(|(kind, key, revision)| record::encode_removal(*kind, key, *revision)).collect();
        let op = Op::Batch { batch: &record::REMOVE, rows: &rows, contested: false };
        let applied = session.flight(&[op], false).await?;
        Ok((0..rows.len()).filter(|row| applied.iter().all(|answer| answer.row(*row))).count() as u64)
    }
}

fn decode_revision(row: &dyn Row) -> Result<(RecordKind, RecordKey, u64), Damage> {
    let (kind, key) = record::decode_key(row)?;
    Ok((kind, key, row.int(2)? as u64))
}

fn sweep_query(rule: &RecordRetention, limit: usize) -> Query {
    let mut find = Query::new("SELECT kind, record_key, revision FROM records");
    match rule {
        RecordRetention::Expired { at } => {
            find.and("expires_at <= ?", [(*at).into()]).page("expires_at, kind, record_key", limit)
        }
        RecordRetention::Keys { kind, from, until } => find
            .and("kind = ?", [i64::from(kind.0).into()])
            .and("record_key >= ?", [(&**from).into()])
            .and("record_key < ?", [until.as_bytes().into()])
            .page("record_key", limit),
    };
    find
}

/// The reads of records, for a look at the server's plans.
pub(crate) fn probes(dialect: Dialect) -> Vec<(&'static str, String)> {
    let first = RecordQuery { prefix: (*b"1").into(), ..RecordQuery::all(RecordKind(1), 50) };
    let newest = RecordQuery { reverse: true, ..first.clone() };
    let expired = RecordRetention::Expired { at: mainspring_model::Timestamp::ZERO };
    vec![
        ("records", page_query(&first, None).with_literals(dialect)),
        ("records after", page_query(&newest, Some("17".into())).with_literals(dialect)),
        ("expired records", sweep_query(&expired, 50).with_literals(dialect)),
    ]
}
