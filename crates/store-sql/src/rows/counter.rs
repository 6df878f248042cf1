//! Roll-ups as rows: one for each hour, job and namespace, added to and never replaced.

use mainspring_model::{CounterKey, Counts, JobId, Timestamp};

use super::run;
use crate::batch::{Action, Batch, Kind, column};
use crate::value::{Damage, Param, Row};

/// Adds to roll-ups.
pub(crate) static ADD: Batch = Batch {
    table: "counters",
    columns: &[
        column("hour", Kind::Big),
        column("job", Kind::Id),
        column("namespace", Kind::Bytes),
        column("success", Kind::Big),
        column("final_failed", Kind::Big),
        column("cancelled", Kind::Big),
        column("skipped", Kind::Big),
        column("attempts", Kind::Big),
        column("queued_us", Kind::Big),
        column("running_us", Kind::Big),
    ],
    key: 3,
    action: Action::Add,
    row_type: None,
};

/// What a read selects.
pub(crate) const SELECT: &str = "SELECT hour, job, namespace, success, final_failed, cancelled, skipped, attempts, \
     queued_us, running_us FROM counters";

/// The row of an addition.
pub(crate) fn encode(key: &CounterKey, counts: &Counts) -> Vec<Param> {
    let Counts { success, final_failed, cancelled, skipped, attempts, queued_us, running_us } = *counts;
    let mut row = vec![key.hour.into(), Param::from(key.job.as_bytes()), Param::from(key.namespace.as_str())];
    let sums = [success, final_failed, cancelled, skipped, attempts, queued_us, running_us];
    row.extend(sums.map(|sum| Param::Int(sum as i64)));
    row
}

/// The roll-up of a row.
pub(crate) fn decode(row: &dyn Row) -> Result<(CounterKey, Counts), Damage> {
    let job = JobId::from_bytes(row.id(1)?);
    decode_named(row, job).map_err(|damage| damage.named(format_args!("counters of {job}")))
}

fn decode_named(row: &dyn Row, job: JobId) -> Result<(CounterKey, Counts), Damage> {
    let sum = |column: usize| row.int(column).map(|sum| sum as u64);
    let key =
        CounterKey { namespace: run::namespace(row, 2)?, job, hour: Timestamp::from_micros(row.int(0)?) };
    let counts = Counts {
        success: sum(3)?,
        final_failed: sum(4)?,
        cancelled: sum(5)?,
        skipped: sum(6)?,
        attempts: sum(7)?,
        queued_us: sum(8)?,
        running_us: sum(9)?,
    };
    Ok((key, counts))
}
