//! What became of planned moments before: the ledger's lines about them, and how their runs stand.

use mainspring_engine::{MomentsQuery, MomentsRead};
use mainspring_model::{Run, RunId};
use mainspring_store::{Result, Store};

/// Reads it.
pub async fn read_moments(store: &dyn Store, query: MomentsQuery) -> Result<MomentsRead> {
    let (mut lines, mut next) = (Vec::new(), query.first_page());
    while let Some(asked) = next {
        next = query.take(&store.records(asked).await?, &mut lines);
    }
    let runs = known_runs(store, &query.wanted(&lines)).await?;
    Ok(MomentsRead::of(query, lines, &runs))
}

/// The runs that can be read: one that is damaged is missing.
async fn known_runs(store: &dyn Store, ids: &[RunId]) -> Result<Vec<Run>> {
    match store.runs_by_id(ids).await {
        Err(error) if !error.is_transient() => {}
        answered => return answered,
    }
    let mut runs = Vec::with_capacity(ids.len());
    for id in ids {
        match store.runs_by_id(&[*id]).await {
            Ok(found) => runs.extend(found),
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => tracing::warn!(run = %id, %error, "a run cannot be read"),
        }
    }
    Ok(runs)
}
