//! Why a run was skipped by the overlap policy of its job: which policy, and which run was active.

use mainspring_model::{Run, RunState};
use mainspring_store::RunQuery;

use crate::app::App;
use crate::words::Words;

/// Earlier runs of the job that are looked at.
const LOOKED_AT: usize = 100;

impl App {
    /// The policy and the run that was in the way, as far as the rows still tell.
    pub(super) async fn overlap_words(&self, row: &Run) -> Option<Words> {
        let spec = self.spec_of(row).await.ok()?;
        let concurrency = spec.concurrency.as_ref()?;
        let policy = concurrency.overlap.name();
        let words = match concurrency.queue_max {
            Some(most) => Words::new(
                format!("overlap policy `{policy}` with queue_max {most}"),
                format!("重叠策略 `{policy}`，queue_max 为 {most}"),
            ),
            None => Words::new(
                format!("overlap policy `{policy}` with limit {}", concurrency.limit),
                format!("重叠策略 `{policy}`，上限 {}", concurrency.limit),
            ),
        };
        Some(match self.run_in_the_way(row).await {
            Some(other) => {
                let id = other.head.id;
                Words::new(format!("{}: {id} was active", words.en), format!("{}：{id} 尚未结束", words.zh))
            }
            None => words,
        })
    }

    /// An earlier run of the job, under the same key, that was not over when this one was skipped.
    async fn run_in_the_way(&self, row: &Run) -> Option<Run> {
        let query = RunQuery {
            job: Some(row.head.job),
            after: Some(row.head.id),
            limit: LOOKED_AT,
            ..RunQuery::default()
        };
        let key = |run: &Run| run.head.keys.as_ref().map(|keys| keys.concurrency.clone());
        let was_active = |run: &Run| {
            let ended = run.status.finished_at.filter(|_| run.status.state.is_terminal());
            run.status.state != RunState::Skipped
                && key(run) == key(row)
                && ended.is_none_or(|ended| row.status.finished_at.is_some_and(|skipped| ended >= skipped))
        };
        let earlier = self.store.runs(query).await.ok()?.rows;
        earlier.into_iter().find(was_active)
    }
}
