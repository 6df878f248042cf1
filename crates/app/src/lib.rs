//! The use cases: every verb that a person or a program may ask for, with its authorisation and its audit entry.
//!
//! What is absent: HTTP, sockets, SQL, the scheduler's own decisions. Edges call [`App`]; it asks the store and, through
//! [`ports`], the owners of cells.
//!
//! - [`Operation`] is the permission table; [`Principal`] is who asks; [`Caller`] is one request of theirs.
//! - [`audit`] writes down every mutating call, allowed or denied.
//! - `identity/` is tokens, roles, sessions and nodes at the door; `jobs/`, `runs/` and the rest are the nouns.

mod app;
mod artifact_keep;
mod artifact_use;
mod artifacts;
pub mod audit;
mod calendars;
mod cell_count;
mod cluster;
mod command_event;
mod content_range;
mod doctor;
mod error;
mod hooks;
mod identity;
mod jobs;
mod limits;
mod lookup;
mod namespaces;
mod nodes;
mod operation;
mod paging;
pub mod ports;
mod precondition;
mod principal;
pub mod query;
mod queue;
mod random;
mod record;
mod residents;
mod runs;
mod secret;
mod series;
mod stats;
mod triggers;
mod watch;
mod words;

pub use app::{App, Options, Parts};
pub use artifacts::{ArtifactContent, Upload};
pub use calendars::CalendarShelf;
pub use cell_count::cell_count;
pub use cluster::cell_revision;
pub use content_range::{RangeError, parse_range};
pub use doctor::UNASKED;
pub use error::{Error, Result};
pub use hooks::HookRequest;
pub use identity::{Bootstrap, NodeIdentity, Opened, Origin, has_credential};
pub use jobs::{JobsQuery, PutJob, Sourced};
pub use nodes::NodesQuery;
pub use operation::{Operation, Place};
pub use paging::PageRequest;
pub use precondition::Precondition;
pub use principal::{Caller, Principal};
pub use random::Random;
pub use residents::residents;
pub use runs::{BulkProgress, LogQuery, LogSearch, LogTarget};
pub use secret::SecretKind;
pub use series::SeriesQuery;
pub use triggers::LastSuccesses;
pub use triggers::{Moments, Named as NamedTrigger, read_moments};
pub use watch::{Elsewhere, Listener, NotPositions, Positions, Watch, WatchFilter};
