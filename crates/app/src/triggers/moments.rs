//! What became of planned moments before: the ledger's lines about them, and how their runs stand.

use mainspring_engine::{MomentsQuery, MomentsRead};
use mainspring_store::{Result, Store};

/// Reads it.
pub async fn read_moments(store: &dyn Store, query: MomentsQuery) -> Result<MomentsRead> {
    let mut lines = Vec::new();
    let mut after = None;
    loop {
        let page = store.records(query.page(after)).await?;
        after = query.take(&page.rows, page.more, &mut lines);
        if after.is_none() {
            break;
        }
    }
    let runs = store.runs_by_id(&MomentsRead::runs(&lines)).await?;
    Ok(MomentsRead::of(query, lines, &runs))
}
