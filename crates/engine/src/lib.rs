//! The pure scheduler: what happened goes in, what to write and say comes out.
//!
//! What is absent: IO, clocks, random sources, threads, async. Everything is decided here and performed by
//! shells (the server, the simulation, a user's process), so one thread and one seed can run a cluster.
//!
//! - [`Cell`] schedules one cell under one epoch: queue, placement, attempts, retries, timeouts, nodes.
//! - [`Owner`] decides when to take, renew and drop a cell's lease, around a `Cell`.
//! - [`balancer`] holds the ways to choose among nodes.

mod activity;
pub mod balancer;
mod batch;
mod cell;
mod class;
mod commands;
mod concurrency;
mod config;
mod confirmation;
mod deadlines;
mod defect;
mod event;
mod fairshare;
mod keys;
mod lifecycle;
mod load;
mod memory;
mod message;
mod near;
mod no_room;
mod nodes;
mod nodeset;
mod now;
mod outbox;
mod overdue;
mod overflow;
mod owner;
mod place;
mod pool;
mod preference;
mod queue;
mod rate;
mod recount;
mod refill;
mod revision;
mod room;
mod runs;
mod shape;
mod stats;
mod suspects;
mod timers;
mod triggers;
mod verdict;
mod view;
mod waiting;
mod why;

pub use activity::{JobActivity, NextFiring};
pub use cell::{Cell, Tenure};
pub use config::Config;
pub use confirmation::Confirmation;
pub use event::{
    Ending, Event, Heartbeat, Held, Hello, LoadedRun, News, Report, RequestId, ShelfRead, Stage, Submission,
};
pub use keys::render as render_keys;
pub use message::{Answer, Message, Order};
pub use now::{Deadlines, Now};
pub use outbox::Batch;
pub use owner::{LeaseAnswer, LeaseStep, OwnLease, Owner, OwnerConfig};
pub use shape::priority_of;
pub use stats::Stats;
pub use triggers::{
    Backfill, End, Follows, HookCall, Jumped, Merged, MomentsQuery, MomentsRead, Moved, Occurrence, Outcome,
    SpecRead, Success, Tally, TriggerCommand, TriggerKey, TriggerPaused, TriggerRow, TriggerState,
    TriggersRead, calendar_news, calendar_news_key, merge, news_key,
};
pub use view::NodeView;
pub use waiting::{WaitingGroup, WaitingGroups};
