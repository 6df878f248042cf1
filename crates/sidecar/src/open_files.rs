//! How many files this process may have open: as many as the system lets it, because every task costs it two or three. A
//! task has the limit back that the sidecar was started with: programs that use `select`, or close every number up to the
//! limit, are hurt by a large one.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

/// The limit of tasks, where it is not that of the sidecar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskLimit(Option<Rlimit>);

impl TaskLimit {
    /// Raises the limit of this process.
    pub(crate) fn set_apart() -> Self {
        let before = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: before.maximum, maximum: before.maximum };
        let differs = before != raised && setrlimit(Resource::Nofile, raised).is_ok();
        Self(differs.then_some(before))
    }

    /// Gives it to a process that was just started. One system call, and none where there is no difference; a program is
    /// hardly loaded by then, and a fork that sets it before would cost it more than this whole start.
    pub(crate) fn give(self, pid: u32) {
        if let (Some(limit), Some(pid)) = (self.0, Pid::from_raw(pid as i32)) {
            let _ = prlimit(Some(pid), Resource::Nofile, limit);
        }
    }

    /// As numbers, soft and hard, for a process that sets it by itself.
    pub(crate) fn numbers(self) -> Option<(Option<u64>, Option<u64>)> {
        self.0.map(|limit| (limit.current, limit.maximum))
    }
}
