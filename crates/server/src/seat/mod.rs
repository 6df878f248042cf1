//! A seat: this process's place at one cell. It takes and holds the cell's lease, and while it does, it runs the engine:
//! events in, one batch to the store at a time, messages out after their batch is durable.
//!
//! Decisions are in `mainspring_engine` ([`mainspring_engine::Owner`] and [`mainspring_engine::Cell`]); here is only IO. One
//! task per seat; everything that waits runs beside it and comes back through its inbox, so the task itself never waits for the
//! store.

mod commit;
mod connections;
mod input;
mod lease;
mod load;
mod passing;
mod pending;
mod perform;
pub(crate) mod read;
mod setbacks;
mod task;
mod translate;
mod view;

pub(crate) use input::{Input, NodeInput, Outward, Usage};
pub(crate) use task::{Config, Seat};

use mainspring_model::CellId;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc, watch};

/// What is known outside of the task about who owns the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Standing {
    /// Nobody is known to.
    #[default]
    Unknown,
    /// Another member.
    Follows(mainspring_model::MemberId),
    /// This process, and it has read the active work.
    Owns,
}

/// A way to talk to a seat.
#[derive(Debug, Clone)]
pub(crate) struct SeatHandle {
    pub(crate) cell: CellId,
    pub(crate) inbox: mpsc::Sender<Input>,
    pub(crate) standing: watch::Receiver<Standing>,
}

/// By cell: somebody put runs into the store for it.
pub(crate) type Hints = Arc<[Notify]>;
