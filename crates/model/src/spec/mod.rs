//! The job specification: what a user writes to say what to run, where, and with which policies.
//!
//! [`parse`] reads it from YAML, JSON or TOML and reports every problem at once; [`JobSpec`] is the result,
//! one concept per file beside it. The manual of the format is `docs/spec.md`, its schema
//! `docs/job.schema.json`. Values that are templates are kept as text: rendering them is not done here.

mod artifact;
mod backoff;
mod body;
mod concurrency;
mod dispatch;
mod handler;
mod job;
mod logical_time;
mod nearest;
mod parameter;
mod placement;
mod places;
mod priority;
mod problem;
mod process;
mod process_limits;
mod rate;
mod read;
mod retention;
mod retry;
mod rule;
pub mod schema;
mod script;
mod template;
mod timeouts;
mod tree;
mod trigger;
mod webhook;

pub use artifact::{Artifact, Digest, DigestError};
pub use backoff::{Backoff, Curve, Jitter};
pub use body::Body;
pub use concurrency::{Concurrency, Overlap};
pub use dispatch::{Balancer, Dispatch};
pub use handler::Handler;
pub use job::{Delivery, JobSpec, OnDisconnect};
pub use logical_time::LogicalTime;
pub use parameter::{Parameter, ParameterType, Parameters, Presence};
pub use placement::{Affinity, Placement, Sticky};
pub use places::{TextPlace, TextPlaces, place_in_message};
pub use priority::{Priority, PriorityClass};
pub use problem::{Problem, SpecErrors};
pub use process::Process;
pub use process_limits::{ProcessLimits, Umask};
pub use rate::RateLimit;
pub use read::{Document, from_value, parse, parse_all};
pub use retention::{Keep, Retention};
pub use retry::{Retry, RetryNode};
pub use rule::{Action, AttemptTimeout, CauseMatch, ExitCodes, Rule, Signals};
pub use script::Script;
pub use template::{Budget, Template};
pub use timeouts::Timeouts;
pub use tree::Format;
pub use trigger::{After, Days, Misfire, MisfirePolicy, Need, On, Trigger, When};
pub use webhook::{Call, Encoding, Signature, Webhook};
