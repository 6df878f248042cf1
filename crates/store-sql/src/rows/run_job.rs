//! Which jobs have runs in which namespace, as rows that are written once and never removed.

use mainspring_model::{JobId, Namespace};

use crate::batch::{Action, Batch, Kind, column};
use crate::value::Param;

/// Makes sure that pairs are there.
pub(crate) static ENSURE: Batch = Batch {
    table: "run_jobs",
    columns: &[column("namespace", Kind::Bytes), column("job", Kind::Id)],
    key: 2,
    action: Action::Ensure,
    row_type: None,
};

/// The row of a pair.
pub(crate) fn encode((namespace, job): &(Namespace, JobId)) -> Vec<Param> {
    vec![namespace.as_str().into(), job.as_bytes().into()]
}
