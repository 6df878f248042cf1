//! Nodes that live in the process of their server.
//!
//! Where one process is server and agent, as `mainspring up` is, a silent node says that the server was away as well, and nobody
//! could have given its runs to another. So its tasks may go on for long without it. Every later server of the store knows of
//! such a node, whatever process it is: a task may still execute there.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_model::{NodeId, limits};
use mainspring_store::{Record, RecordKey, RecordQuery, Result, Store, Transaction, Write};

use crate::record::RESIDENT;

/// How long each such node may be silent; this one becomes one of them. Only for a store that one process has at a time.
pub async fn residents(store: &dyn Store, own: Option<NodeId>) -> Result<BTreeMap<NodeId, Duration>> {
    let page = store.records(RecordQuery::all(RESIDENT, limits::PAGE_ROWS_MAX)).await?;
    let ids = page.rows.iter().filter_map(|record| <[u8; 16]>::try_from(record.key.as_bytes()).ok());
    let mut nodes: BTreeMap<NodeId, Duration> =
        ids.map(|id| (NodeId::from_bytes(id), limits::RESIDENT_LOST_AFTER)).collect();
    if let Some(own) = own.filter(|own| !nodes.contains_key(own)) {
        let record = Record {
            kind: RESIDENT,
            key: RecordKey::from(&own.as_bytes()[..]),
            revision: 1,
            expires_at: None,
            value: (*b"{}").into(),
        };
        // Before it is given a lease that reaches so far.
        store.commit(Transaction::unfenced(vec![Write::PutRecord(Box::new(record))])).await?;
        nodes.insert(own, limits::RESIDENT_LOST_AFTER);
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use mainspring_store_mem::MemStore;

    use super::*;

    #[tokio::test]
    async fn a_resident_is_known_to_every_later_server() {
        let store = MemStore::default();
        let (first, second) = (NodeId::from_bytes([1; 16]), NodeId::from_bytes([2; 16]));
        let known = async |own| residents(&store, own).await.unwrap().into_keys().collect::<Vec<_>>();
        assert_eq!(known(None).await, []);
        assert_eq!(known(Some(first)).await, [first]);
        assert_eq!(known(Some(first)).await, [first]);
        assert_eq!(known(None).await, [first]);
        assert_eq!(known(Some(second)).await, [first, second]);
    }
}
