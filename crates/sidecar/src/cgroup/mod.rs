//! One cgroup per attempt, where the system lets us make them: the kernel then keeps the list of an attempt's
//! processes, and can kill and limit them as a whole.
//!
//! The second version is used for the list where it is mounted (`cgroup.kill`), else the freezer of the first.
//! Limits come from whichever hierarchy has the controller. Nothing here is needed for correctness on a system that
//! forbids it: everything is tried once at the start, and what does not work is not used.
//!
//! A task is born in its cgroup: the sidecar enters it, spawns, and goes home. That costs two moves, so a task that
//! asks for no limits is only adopted into a cgroup once it has lived for a moment; see the supervisor.

mod branch;
mod group;
mod hierarchy;

pub(crate) use branch::Cgroups;
pub(crate) use group::{Group, attempt_of};
