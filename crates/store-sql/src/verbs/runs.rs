//! Reads of runs: active work by shelf, by id and by key; their attempts and events. Pages for people are in `newest`.

use mainspring_model::{Attempt, CellId, Namespace, Run, RunEvent, RunId, Shelf};
use mainspring_store::{Page, ShelfQuery, check};

use super::lookup;
use super::page::{self, Placed};
use super::statement::Query;
use crate::dialect::Dialect;
use crate::rows::{attempt, event, run};
use crate::session::{Backend, Result};
use crate::value::{Damage, Param, Row};

/// A page of a shelf. Reads the index of active work, never history.
pub(crate) async fn shelf<B: Backend>(backend: &B, query: ShelfQuery) -> Result<Page<Run>> {
    fn decode(row: &dyn Row) -> Result<Placed<(i64, RunId), Run>, Damage> {
        Ok(((row.int(run::SHELF_RANK)?, RunId::from_bytes(row.id(0)?)), run::decode(row)))
    }
    check::rows(query.limit)?;
    page::read(backend, query.limit, query.after, |after| shelf_query(&query, after), decode).await
}

fn shelf_query(query: &ShelfQuery, after: Option<(i64, RunId)>) -> Query {
    let mut read = Query::new(run::SELECT);
    read.and("cell = ?", [i64::from(query.cell.0).into()]);
    read.and("shelf = ?", [Param::Int(query.shelf as i64)]);
    if let Some((rank, id)) = after {
        // The first half is implied by the second; with it every planner begins at the right place of the index.
        read.and("shelf_rank >= ?", [rank.into()]);
        read.and("(shelf_rank > ? OR id > ?)", [rank.into(), id.as_bytes().into()]);
    }
    if let Some(rank_max) = query.rank_max {
        read.and("shelf_rank <= ?", [rank_max.into()]);
    }
    read.page("shelf_rank, id", query.limit + 1);
    read
}

/// The reads of shelves, for a look at the server's plans.
pub(crate) fn probes(dialect: Dialect) -> Vec<(&'static str, String)> {
    let first = ShelfQuery { cell: CellId(0), shelf: Shelf::Waiting, after: None, rank_max: None, limit: 50 };
    let bounded = ShelfQuery { rank_max: Some(1 << 40), ..first.clone() };
    let after = Some((3, RunId::MIN));
    vec![
        ("shelf", shelf_query(&first, None).with_literals(dialect)),
        ("shelf after", shelf_query(&bounded, after).with_literals(dialect)),
    ]
}

/// These runs, each once.
pub(crate) async fn by_id<B: Backend>(backend: &B, ids: &[RunId]) -> Result<Vec<Run>> {
    check::rows(ids.len())?;
    let mut ids: Vec<[u8; 16]> = ids.iter().map(|id| *id.as_bytes()).collect();
    ids.sort_unstable();
    ids.dedup();
    lookup::all(backend, lookup::by_id(run::SELECT, "id", &ids), run::decode).await
}

/// The run with this idempotency key.
pub(crate) async fn by_key<B: Backend>(backend: &B, namespace: &Namespace, key: &str) -> Result<Option<Run>> {
    let mut query = Query::new(run::SELECT);
    query.and("namespace = ?", [namespace.as_str().into()]).and("idempotency_key = ?", [key.into()]);
    Ok(query.all(backend, run::decode).await?.pop())
}

/// The earlier attempts of a run, by number.
pub(crate) async fn attempts<B: Backend>(backend: &B, run: RunId) -> Result<Vec<Attempt>> {
    let mut query = Query::new(attempt::SELECT);
    query.and("run = ?", [run.as_bytes().into()]).order("attempt");
    query.all(backend, attempt::decode).await
}

/// The events of a run, by (version, ordinal).
pub(crate) async fn events<B: Backend>(backend: &B, run: RunId) -> Result<Vec<RunEvent>> {
    let mut query = Query::new(event::SELECT);
    query.and("run = ?", [run.as_bytes().into()]).order("version, ordinal");
    query.all(backend, event::decode).await
}
