//! The queue: what waits in every cell, from the memory of the owners.

use mainspring_engine::WaitingGroup;
use mainspring_model::{CellId, Namespace};
use mainspring_wire::api::{Queue, QueueItem, Reason};

use crate::app::App;
use crate::error::Result;
use crate::limits::QUEUE_GROUPS_MAX;
use crate::operation::Operation;
use crate::principal::Caller;

impl App {
    /// What waits in a namespace and below; without one, in all that the caller may see.
    pub async fn queue(&self, caller: &Caller, namespace: Option<&Namespace>) -> Result<Queue> {
        let places = self.places(caller, Operation::Queue, namespace).await?;
        let at = self.now().into();
        let mut queue = Queue { at, waiting: 0, items: Vec::new(), partial: false, unanswered: Vec::new() };
        for cell in (0..self.cells.count()).map(CellId) {
            let Some(found) = self.cells.waiting(cell, QUEUE_GROUPS_MAX).await.ok().flatten() else {
                queue.unanswered.push(cell.0);
                continue;
            };
            queue.partial |= found.is_partial;
            let sees = |group: &WaitingGroup| {
                let within = |place: &Option<Namespace>| {
                    place.as_ref().is_none_or(|place| group.namespace.is_within(place))
                };
                places.iter().any(within) && caller.principal.may(Operation::Queue, Some(&group.namespace))
            };
            for group in found.groups.iter().filter(|group| sees(group)) {
                queue.waiting += group.count as u64;
                queue.items.push(item(group, cell));
            }
        }
        queue.arrange();
        Ok(queue)
    }
}

fn item(group: &WaitingGroup, cell: CellId) -> QueueItem {
    let mut reason = Reason::from(&group.reason);
    reason.name(group.first, &group.namespace, Some(&group.job_name), cell);
    QueueItem {
        job: group.job,
        job_name: group.job_name.to_string(),
        namespace: group.namespace.clone(),
        pool: group.pool.to_string(),
        reason,
        count: group.count as u64,
        oldest: group.oldest.into(),
        first: group.first,
    }
}
