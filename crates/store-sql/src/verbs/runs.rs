//! Reads of runs: active work by shelf, by id, by key, and newest first for people; their attempts and events.

use std::cmp::Reverse;

use mainspring_model::{Attempt, Namespace, Run, RunEvent, RunId};
use mainspring_store::{Page, RunQuery, ShelfQuery, check};

use super::lookup;
use super::page::{self, Placed};
use super::statement::Query;
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

/// A page of runs, newest first.
pub(crate) async fn newest<B: Backend>(backend: &B, query: RunQuery) -> Result<Page<Run>> {
    fn decode(row: &dyn Row) -> Result<Placed<RunId, Run>, Damage> {
        Ok((RunId::from_bytes(row.id(0)?), run::decode(row)))
    }
    check::rows(query.limit)?;
    let (first, end) = query.ids();
    let limit = query.limit;
    if first >= end {
        return Ok(Page { rows: Vec::new(), more: false });
    }
    let over = query.states.is_empty() || query.states.iter().any(|state| state.is_terminal());
    let active = query.states.is_empty() || query.states.iter().any(|state| !state.is_terminal());
    let mut page = Page { rows: Vec::new(), more: false };
    // A job's history and its active runs are found by different indexes; without a job one order has both.
    let parts: &[Option<Part>] = match (query.job, over, active) {
        (Some(_), true, true) => &[Some(Part::Active), Some(Part::Over)],
        (Some(_), true, false) => &[Some(Part::Over)],
        (_, false, true) => &[Some(Part::Active)],
        _ => &[None],
    };
    for part in parts {
        let query = |after: Option<RunId>| newest_query(&query, *part, first, after.unwrap_or(end));
        let more = page::read(backend, limit, Some(end), query, decode).await?;
        page.more |= more.more;
        page.rows.extend(more.rows);
    }
    // The active first: a run that ends between the two reads is in both, not in neither.
    page.rows.sort_by_key(|run| Reverse((run.head.id, run.status.version)));
    page.rows.dedup_by_key(|run| run.head.id);
    page.more |= page.rows.len() > limit;
    page.rows.truncate(limit);
    Ok(page)
}

/// Which runs a read is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Over,
    Active,
}

fn newest_query(query: &RunQuery, part: Option<Part>, first: RunId, end: RunId) -> Query {
    let mut read = Query::new(run::SELECT);
    if let Some(job) = query.job {
        read.and("job = ?", [job.as_bytes().into()]);
    }
    read.and("id < ?", [end.as_bytes().into()]);
    if first > RunId::MIN {
        read.and("id >= ?", [first.as_bytes().into()]);
    }
    if let Some(namespace) = &query.namespace {
        read.within(namespace);
    }
    if !query.states.is_empty() {
        let states: Vec<String> = query.states.iter().map(|state| (*state as u8).to_string()).collect();
        read.and(&format!("state IN ({})", states.join(", ")), []);
    }
    match part {
        Some(Part::Over) => read.and("shelf IS NULL", []),
        Some(Part::Active) => read.and("shelf IS NOT NULL", []),
        None => &mut read,
    };
    read.page("id DESC", query.limit + 1);
    read
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
