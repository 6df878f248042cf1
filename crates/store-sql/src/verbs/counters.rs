//! Reads of roll-ups.

use mainspring_model::{CounterKey, Counts, JobId, Timestamp};
use mainspring_store::{CounterQuery, Page, check};

use super::page::{self, Placed};
use super::statement::Query;
use crate::rows::counter;
use crate::session::{Backend, Result};
use crate::value::{Damage, Row};

type Cursor = (Timestamp, JobId);

/// A page of roll-ups by (hour, job).
pub(crate) async fn page<B: Backend>(backend: &B, query: CounterQuery) -> Result<Page<(CounterKey, Counts)>> {
    fn decode(row: &dyn Row) -> Result<Placed<Cursor, (CounterKey, Counts)>, Damage> {
        Ok(((Timestamp::from_micros(row.int(0)?), JobId::from_bytes(row.id(1)?)), counter::decode(row)))
    }
    check::rows(query.limit)?;
    page::read(backend, query.limit, query.after, |after| counters_query(&query, after), decode).await
}

fn counters_query(query: &CounterQuery, after: Option<Cursor>) -> Query {
    let mut read = Query::new(counter::SELECT);
    if let Some(job) = query.job {
        read.and("job = ?", [job.as_bytes().into()]);
    }
    read.and("hour >= ?", [query.from.into()]).and("hour < ?", [query.until.into()]);
    if let Some((hour, job)) = after {
        read.and("hour >= ?", [hour.into()]);
        read.and("(hour > ? OR job > ?)", [hour.into(), job.as_bytes().into()]);
    }
    if let Some(namespace) = &query.namespace {
        read.within(namespace);
    }
    read.page("hour, job, namespace", query.limit + 1);
    read
}
