//! The number of cells, recorded in the store when it is made.
//!
//! The cell of a namespace or a node is a hash modulo this number. Two servers with different numbers put runs into cells that
//! the other does not own, so every server compares its setting with this record before it starts.

use mainspring_store::{Error, Record, RecordKey, Result, Store, Transaction, Write};
use serde::{Deserialize, Serialize};

use crate::record::{self, CELL_COUNT};

const KEY: &str = "cells";

/// The record.
#[derive(Debug, Serialize, Deserialize)]
struct CellCount {
    cells: u16,
}

/// The number of cells of the store. A store without the record gets one: the number that its lease rows imply (a scheduler
/// makes one for each cell and none is ever removed), or `cells` for a store without lease rows.
pub async fn cell_count(store: &dyn Store, cells: u16) -> Result<u16> {
    if let Some(recorded) = recorded(store).await? {
        return Ok(recorded);
    }
    let leased = store.leases().await?.iter().map(|lease| lease.cell.0.saturating_add(1)).max();
    let cells = leased.unwrap_or(cells);
    let write = Write::PutRecord(Box::new(Record {
        kind: CELL_COUNT,
        key: RecordKey::from(KEY),
        revision: 1,
        expires_at: None,
        value: record::encode(&CellCount { cells }).into(),
    }));
    store.commit(Transaction::unfenced(vec![write])).await?;
    // Another server may have been first.
    Ok(recorded(store).await?.unwrap_or(cells))
}

async fn recorded(store: &dyn Store) -> Result<Option<u16>> {
    let Some(found) = store.record(CELL_COUNT, &RecordKey::from(KEY)).await? else { return Ok(None) };
    let damaged = |error: serde_json::Error| Error::Damaged {
        row: format!("record {} {KEY}", CELL_COUNT.0),
        what: error.to_string(),
    };
    let count: CellCount = serde_json::from_slice(&found.value).map_err(damaged)?;
    Ok(Some(count.cells))
}

#[cfg(test)]
mod tests {
    use mainspring_model::{CellId, MemberId, Timestamp};
    use mainspring_store::LeaseRequest;
    use mainspring_store_mem::MemStore;

    use super::*;

    #[tokio::test]
    async fn the_first_server_decides() {
        let store = MemStore::default();
        assert_eq!(cell_count(&store, 2).await.unwrap(), 2);
        assert_eq!(cell_count(&store, 3).await.unwrap(), 2);
        assert_eq!(cell_count(&store, 2).await.unwrap(), 2);
    }

    #[tokio::test]
    async fn a_store_without_the_record_has_as_many_cells_as_leases() {
        let store = MemStore::default();
        for cell in [0, 2, 1] {
            let request = LeaseRequest {
                cell: CellId(cell),
                member: MemberId::from_bytes([1; 16]),
                observed: None,
                expires_at: Timestamp::from_micros(1),
            };
            store.acquire_lease(request).await.unwrap();
        }
        assert_eq!(cell_count(&store, 1).await.unwrap(), 3);
        assert_eq!(cell_count(&store, 3).await.unwrap(), 3);
    }
}
