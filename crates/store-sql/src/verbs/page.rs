//! Pages that a damaged row cannot stop (I20): it is left out and logged, and when a whole page is damaged the
//! read goes on behind it, because the caller would have no row to go on from.

use mainspring_store::Page;

use super::statement::{Query, sound};
use crate::session::{Backend, Result};
use crate::value::{Damage, Decode};

/// A row's place in the order, which is read even when the rest of the row is damaged.
pub(crate) type Placed<C, T> = (C, Result<T, Damage>);

/// Reads pages of `limit` rows, each beginning after a cursor, until one has a sound row or nothing follows.
/// `query` must ask for one row more than the limit.
pub(crate) async fn read<B: Backend, C: Clone + Send + 'static, T: Send + 'static>(
    backend: &B,
    limit: usize,
    after: Option<C>,
    query: impl Fn(Option<C>) -> Query + Send,
    decode: Decode<Placed<C, T>>,
) -> Result<Page<T>> {
    let mut after = after;
    loop {
        let mut found: Vec<Placed<C, T>> =
            query(after.clone()).read(backend, decode).await?.into_iter().filter_map(sound).collect();
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().map(|(cursor, _)| cursor.clone());
        let rows: Vec<T> = found.into_iter().filter_map(|(_, row)| sound(row)).collect();
        match last {
            Some(_) if rows.is_empty() && more => after = last,
            _ => return Ok(Page { rows, more }),
        }
    }
}
