//! The sidecar: a small process without an async runtime that owns the task processes of a node.
//!
//! An agent starts it once, detached, and finds it again by its socket; tasks therefore survive a crash, a restart
//! or an upgrade of the agent and of the server. One `epoll` loop, no polling: an idle sidecar sleeps.
//!
//! ```text
//!  agent ──requests──▶ socket ─▶ supervisor ─▶ journal (before exec, before every answer)
//!        ◀──events────                     └─▶ spawn ─▶ task: process group, cgroup, pipes ─▶ log on disk
//! ```
//!
//! - [`protocol`] is what travels on the socket, [`client`] the blocking other end, [`protocol::frame`] the bytes.
//! - [`log`] is the format of a captured log: frames with time and stream, head and tail kept, drops marked.
//! - `journal` remembers what was started and how it ended until that is acknowledged: no attempt is executed twice.
//! - `supervisor` is the loop; `tree` and `cgroup` see to it that nothing of an attempt survives it.
//!
//! Absent: retries, leases, templates, artifacts, the network. The agent decides; the sidecar keeps processes.

#[cfg(not(target_os = "linux"))]
compile_error!("the sidecar needs Linux: epoll, pidfd, a child subreaper and /proc");

mod account;
mod attempt_dir;
mod birthmark;
mod cgroup;
mod child_setup;
pub mod client;
pub mod clock;
mod crash_point;
mod detach;
mod error;
mod inherited;
mod journal;
mod keeper;
mod key;
mod layout;
pub mod log;
mod open_files;
mod options;
mod passage;
mod pidfd;
mod pipe;
mod procfs;
mod progress;
mod progress_fd;
pub mod protocol;
mod remover;
mod socket;
mod spare;
mod spawn;
mod supervisor;
mod task;
mod timers;
mod tree;
mod usage;

pub use account::has_account;
pub use detach::start_detached;
pub use error::Error;
pub use key::AttemptKey;
pub use layout::Layout;
pub use open_files::raise_open_files;
pub use options::Options;
pub use passage::{closed_to, make_passable};
pub use spawn::own_user;
pub use supervisor::run;
