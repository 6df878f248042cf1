//! The JSON of the HTTP API, one file for each noun. Field names, routes and codes are described in `docs/api.md` and
//! `docs/openapi.json`; the server writes these types and clients read them, so both sides share one spelling.
//!
//! What is absent: HTTP itself (the server's `http`), decisions (`app`). Requests refuse fields that nobody knows;
//! answers may gain fields, so clients ignore those that they do not know.

mod access;
mod artifact;
mod audit;
mod backfill;
mod bulk;
mod calendar;
mod cause;
mod cluster;
mod doctor;
mod health;
mod hook;
mod job;
mod load;
mod log;
mod member;
mod namespace;
mod node;
mod object;
mod page;
mod problem;
mod queue;
mod reason;
mod run;
mod session;
mod settings;
mod stats;
mod submit;
mod time;
mod timeline;
mod token;
mod trigger;
mod watch;
mod why;

pub use access::{Access, AccessPlace};
pub use artifact::Artifact;
pub use audit::{AuditBreak, AuditCheck, AuditEntry, AuditOutcome};
pub use backfill::{
    Backfill, BackfillAction, BackfillPlan, BackfillPlanRequest, BackfillRequest, BackfillState, Backfills,
    JobBackfill, PlannedMoment,
};
pub use bulk::{BulkAction, BulkFailure, BulkOperation, BulkPreview, BulkRequest, BulkState};
pub use calendar::Calendar;
pub use cause::Cause;
pub use cluster::{Cell, Cluster, Health, PauseCell, Readiness, SchedulerMember};
pub use doctor::{Doctor, Finding, FindingSubject, Severity, SubjectKind};
pub use health::{ActiveRuns, JobHealth, NextFiring, Percentiles, RunEnd};
pub use hook::{Delivered, HookToken, HookTokenRequest};
pub use job::{
    Change, Dependent, DependentKind, Dependents, Job, JobDiff, JobOrder, JobVersion, JobWarning, JobWith,
    NoteRequest, Pause, PutOutcome, Validation, VersionOrigin, VersionSource,
};
pub use load::{Crowd, CrowdTrigger, LoadReport, LoadRequest, PoolLoad, Spread};
pub use log::{LogGap, LogIndex, LogLine, LogMark, LogMatch, LogMatches, LogPage, LogStream};
pub use member::{Member, PutMember, Role};
pub use namespace::{Namespace, PutNamespace};
pub use node::{DrainRequest, JoinToken, JoinTokenRequest, Node, NodeLabels, NodeLoad, NodeState, Pool};
pub use object::Object;
pub use page::Page;
pub use problem::{FieldProblem, Problem};
pub use queue::{Queue, QueueItem};
pub use reason::Reason;
pub use run::{
    Attempt, CancelRequest, NamespaceCount, PriorityRequest, Progress, Run, RunCounts, RunOrder, RunPage,
    Usage,
};
pub use session::{LoginCode, LoginCodeRequest, Session, SessionRequest};
pub use settings::{Setting, Settings};
pub use stats::{SeriesBy, SeriesGroup, SeriesPoint, StatsHour, StatsReport, StatsSeries, StatsTotals};
pub use submit::{BatchResult, BatchSubmit, RerunRequest, Submit, SubmitOutcome, Submitted};
pub use time::Time;
pub use timeline::{TimelineEntry, TimelineKind};
pub use token::{
    Admins, CreateToken, CreatedToken, Grant, Identity, RoleGiver, ServerNow, Token, TokenKind, TokenScope,
};
pub use trigger::{
    CursorRequest, Description, JobOccurrence, Occurrence, OccurrenceCounts, OccurrenceOutcome, Occurrences,
    Planned, Preview, PreviewRequest, Trigger,
};
pub use watch::{WatchEvent, WatchKind, WatchWhat};
pub use why::{LackingAmount, NodeAway, NodeLackKind, NodeVerdict, Why, WhyAction};
