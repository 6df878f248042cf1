//! The two detail columns of a run: what was asked beyond the columns (`head`, written once) and where it
//! stands beyond the columns (`detail`, rewritten with the status).
//!
//! Times are kept as distances from the moment in the run's id: most fit into a few bytes.

use std::sync::Arc;

use mainspring_model::{
    BackfillId, Cause, CellId, Epoch, Fired, JobId, Namespace, NodeId, OverlapRule, Payload, Place, RunExtra,
    RunHead, RunId, RunKeys, RunState, RunStatus, Timestamp,
};
use mainspring_store::RunEnd;

use super::detail::{self, Fields, Writer};
use crate::value::Damage;

mod head {
    pub(super) const JOB_VERSION: u8 = 1;
    pub(super) const PRIORITY: u8 = 2;
    pub(super) const CREATED_AT: u8 = 3;
    pub(super) const SUBMITTED_BY: u8 = 4;
    pub(super) const INLINE_SPEC: u8 = 5;
    pub(super) const NOT_BEFORE: u8 = 6;
    pub(super) const DEADLINE: u8 = 7;
    pub(super) const KEYS: u8 = 8;
    pub(super) const CONCURRENCY_KEY: u8 = 9;
    pub(super) const RATE_KEY: u8 = 10;
    pub(super) const HASH_KEY: u8 = 11;
    pub(super) const TRIGGER: u8 = 12;
    pub(super) const PLANNED: u8 = 13;
    pub(super) const BACKFILL: u8 = 14;
    pub(super) const OVERLAP: u8 = 15;
    pub(super) const DEPTH: u8 = 16;
}

mod status {
    pub(super) const ATTEMPT: u8 = 1;
    pub(super) const ATTEMPT_EPOCH: u8 = 2;
    pub(super) const LOSSES: u8 = 3;
    pub(super) const NODE: u8 = 4;
    pub(super) const ELIGIBLE_AT: u8 = 5;
    pub(super) const PLACED_AT: u8 = 6;
    pub(super) const STARTED_AT: u8 = 7;
    pub(super) const FINISHED_AT: u8 = 8;
    pub(super) const EXIT_CODE: u8 = 9;
    pub(super) const SIGNAL: u8 = 10;
    pub(super) const CAUSE: u8 = 11;
    pub(super) const REASON: u8 = 12;
    pub(super) const EXTRA: u8 = 13;
    pub(super) const CANCEL: u8 = 14;
    pub(super) const FAILED_NODE: u8 = 15;
    pub(super) const PROGRESS: u8 = 16;
    pub(super) const CHECKPOINT: u8 = 17;
    pub(super) const RESULT: u8 = 18;
    pub(super) const CPU_US: u8 = 19;
    pub(super) const MEMORY_PEAK_BYTES: u8 = 20;
    pub(super) const MAYBE_DOUBLED: u8 = 21;
    pub(super) const HOPS: u8 = 22;
    pub(super) const BEGUN_AT: u8 = 23;
    pub(super) const QUEUED_AT: u8 = 24;
    pub(super) const SILENT: u8 = 25;
    pub(super) const PRIORITY: u8 = 26;
}

/// The columns of a head, as they were read.
pub(crate) struct HeadColumns {
    pub(crate) id: RunId,
    pub(crate) namespace: Namespace,
    pub(crate) job: JobId,
    pub(crate) idempotency_key: Option<Box<str>>,
    pub(crate) params: Payload,
}

/// The columns of a status, as they were read.
pub(crate) struct StatusColumns {
    pub(crate) cell: CellId,
    pub(crate) version: u64,
    pub(crate) epoch: Epoch,
    pub(crate) state: RunState,
    pub(crate) place: Option<Place>,
}

/// Appends the head's detail.
pub(crate) fn write_head(head: &RunHead, out: &mut Vec<u8>) {
    let base = head.id.made_at();
    let mut out = Writer(out);
    out.counted(head::JOB_VERSION, i64::from(head.job_version));
    out.counted(head::PRIORITY, i64::from(head.priority));
    out.counted(head::CREATED_AT, distance(base, head.created_at));
    out.filled(head::SUBMITTED_BY, head.submitted_by.as_bytes());
    if let Some(spec) = &head.inline_spec {
        out.bytes(head::INLINE_SPEC, spec);
    }
    time(&mut out, head::NOT_BEFORE, base, head.not_before);
    time(&mut out, head::DEADLINE, base, head.deadline);
    if let Some(keys) = &head.keys {
        out.flag(head::KEYS, true);
        out.filled(head::CONCURRENCY_KEY, keys.concurrency.as_bytes());
        out.filled(head::RATE_KEY, keys.rate.as_bytes());
        out.filled(head::HASH_KEY, keys.hash.as_bytes());
    }
    if let Some(fired) = &head.fired {
        out.bytes(head::TRIGGER, fired.trigger.as_bytes());
        out.counted(head::PLANNED, distance(base, fired.planned));
        if let Some(backfill) = &fired.backfill {
            out.bytes(head::BACKFILL, backfill.as_bytes());
        }
        out.counted(head::DEPTH, fired.depth.into());
    }
    out.counted(head::OVERLAP, overlap_number(head.overlap));
}

/// The head of these columns and this detail.
pub(crate) fn read_head(columns: HeadColumns, bytes: Option<&[u8]>) -> Result<RunHead, Damage> {
    let HeadColumns { id, namespace, job, idempotency_key, params } = columns;
    let base = id.made_at();
    let mut head = RunHead {
        id,
        namespace,
        job,
        job_version: 0,
        inline_spec: None,
        idempotency_key,
        priority: 0,
        created_at: base,
        not_before: None,
        deadline: None,
        params,
        keys: None,
        submitted_by: Arc::from(""),
        fired: None,
        overlap: Default::default(),
    };
    for field in Fields::of(bytes) {
        let (tag, bytes) = field?;
        match tag {
            head::JOB_VERSION => head.job_version = number(bytes)?,
            head::PRIORITY => head.priority = number(bytes)?,
            head::CREATED_AT => head.created_at = moment(base, bytes)?,
            head::SUBMITTED_BY => head.submitted_by = Arc::from(detail::text(bytes)?),
            head::INLINE_SPEC => head.inline_spec = Some(Payload::from(bytes)),
            head::NOT_BEFORE => head.not_before = Some(moment(base, bytes)?),
            head::DEADLINE => head.deadline = Some(moment(base, bytes)?),
            head::TRIGGER => {
                let trigger = detail::text(bytes)?.into();
                head.fired = Some(Box::new(Fired { trigger, planned: base, backfill: None, depth: 0 }));
            }
            head::PLANNED => {
                if let Some(fired) = &mut head.fired {
                    fired.planned = moment(base, bytes)?;
                }
            }
            head::BACKFILL => {
                if let Some(fired) = &mut head.fired {
                    let id = bytes.try_into().map_err(|_| Damage::new("a backfill is not an id"))?;
                    fired.backfill = Some(BackfillId::from_bytes(id));
                }
            }
            head::DEPTH => {
                if let Some(fired) = &mut head.fired {
                    fired.depth = number(bytes)?;
                }
            }
            head::OVERLAP => head.overlap = overlap_rule(number(bytes)?),
            head::KEYS..=head::HASH_KEY => read_key(tag, bytes, head.keys.get_or_insert_default())?,
            _ => {}
        }
    }
    Ok(head)
}

fn overlap_number(rule: OverlapRule) -> i64 {
    match rule {
        OverlapRule::Policy => 0,
        OverlapRule::Wait => 1,
        OverlapRule::Force => 2,
    }
}

fn overlap_rule(number: u8) -> OverlapRule {
    match number {
        1 => OverlapRule::Wait,
        2 => OverlapRule::Force,
        _ => OverlapRule::Policy,
    }
}

fn read_key(tag: u8, bytes: &[u8], keys: &mut RunKeys) -> Result<(), Damage> {
    match tag {
        head::CONCURRENCY_KEY => keys.concurrency = detail::text(bytes)?.into(),
        head::RATE_KEY => keys.rate = detail::text(bytes)?.into(),
        head::HASH_KEY => keys.hash = detail::text(bytes)?.into(),
        _ => {}
    }
    Ok(())
}

/// Appends the detail of the status of run `id`.
pub(crate) fn write_status(id: RunId, status: &RunStatus, out: &mut Vec<u8>) {
    let base = id.made_at();
    let mut out = Writer(out);
    out.counted(status::ATTEMPT, i64::from(status.attempt));
    if status.attempt_epoch != status.epoch {
        out.int(status::ATTEMPT_EPOCH, status.attempt_epoch.0 as i64);
    }
    out.counted(status::LOSSES, i64::from(status.losses));
    if let Some(node) = &status.node {
        out.bytes(status::NODE, node.as_bytes());
    }
    time(&mut out, status::ELIGIBLE_AT, base, status.eligible_at);
    time(&mut out, status::PLACED_AT, base, status.placed_at);
    time(&mut out, status::STARTED_AT, base, status.started_at);
    time(&mut out, status::FINISHED_AT, base, status.finished_at);
    match &status.cause {
        None => {}
        Some(Cause::Exit { code }) => out.int(status::EXIT_CODE, i64::from(*code)),
        Some(Cause::Signal { signal }) => out.int(status::SIGNAL, i64::from(*signal)),
        Some(cause) => out.json(status::CAUSE, cause),
    }
    if let Some(reason) = &status.reason {
        out.json(status::REASON, reason);
    }
    if let Some(extra) = &status.extra {
        write_extra(base, extra, &mut out);
    }
}

fn write_extra(base: Timestamp, extra: &RunExtra, out: &mut Writer<'_>) {
    // Named one by one, so that a new field cannot be forgotten here.
    let RunExtra {
        cancel,
        failed_nodes,
        progress,
        checkpoint,
        result,
        usage,
        begun_at,
        queued_at,
        hops,
        priority,
        maybe_doubled,
    } = extra;
    out.flag(status::EXTRA, true);
    if let Some(cancel) = cancel {
        out.json(status::CANCEL, cancel);
    }
    for node in failed_nodes {
        out.bytes(status::FAILED_NODE, node.as_bytes());
    }
    if let Some(progress) = progress {
        out.json(status::PROGRESS, progress);
    }
    if let Some(checkpoint) = checkpoint {
        out.bytes(status::CHECKPOINT, checkpoint);
    }
    if let Some(result) = result {
        out.bytes(status::RESULT, result);
    }
    out.counted(status::CPU_US, usage.cpu_us as i64);
    out.counted(status::MEMORY_PEAK_BYTES, usage.memory_peak_bytes as i64);
    out.flag(status::SILENT, usage.silent);
    out.counted(status::HOPS, i64::from(*hops));
    // One more, for nothing is written of 0.
    out.counted(status::PRIORITY, priority.map_or(0, |priority| i64::from(priority) + 1));
    out.flag(status::MAYBE_DOUBLED, *maybe_doubled);
    time(out, status::BEGUN_AT, base, *begun_at);
    time(out, status::QUEUED_AT, base, *queued_at);
}

/// The status of run `id` with these columns and this detail.
pub(crate) fn read_status(
    id: RunId,
    columns: StatusColumns,
    bytes: Option<&[u8]>,
) -> Result<RunStatus, Damage> {
    let StatusColumns { cell, version, epoch, state, place } = columns;
    let base = id.made_at();
    let mut status = RunStatus {
        cell,
        version,
        epoch,
        state,
        place,
        attempt: 0,
        attempt_epoch: epoch,
        losses: 0,
        node: None,
        eligible_at: None,
        placed_at: None,
        started_at: None,
        finished_at: None,
        cause: None,
        reason: None,
        extra: None,
    };
    for field in Fields::of(bytes) {
        let (tag, bytes) = field?;
        match tag {
            status::ATTEMPT => status.attempt = number(bytes)?,
            status::ATTEMPT_EPOCH => status.attempt_epoch = Epoch(detail::int(bytes)? as u64),
            status::LOSSES => status.losses = number(bytes)?,
            status::NODE => status.node = Some(node(bytes)?),
            status::ELIGIBLE_AT => status.eligible_at = Some(moment(base, bytes)?),
            status::PLACED_AT => status.placed_at = Some(moment(base, bytes)?),
            status::STARTED_AT => status.started_at = Some(moment(base, bytes)?),
            status::FINISHED_AT => status.finished_at = Some(moment(base, bytes)?),
            status::EXIT_CODE => status.cause = Some(Cause::Exit { code: number(bytes)? }),
            status::SIGNAL => status.cause = Some(Cause::Signal { signal: number(bytes)? }),
            status::CAUSE => status.cause = Some(detail::json(bytes)?),
            status::REASON => status.reason = Some(detail::json(bytes)?),
            status::EXTRA..=status::PRIORITY => read_extra(base, tag, bytes, status.extra_mut())?,
            _ => {}
        }
    }
    Ok(status)
}

/// Bytes at the beginning of a status's detail in which all that [`read_end`] reads is: it is written first, an id and seven
/// numbers.
pub(crate) const END_BYTES: usize = 128;

/// The end of a run, from the beginning of its status's detail.
pub(crate) fn read_end(
    (run, job, state): (RunId, JobId, RunState),
    bytes: Option<&[u8]>,
) -> Result<RunEnd, Damage> {
    let base = run.made_at();
    let mut end = RunEnd {
        run,
        job,
        state,
        attempt: 0,
        eligible_at: None,
        placed_at: None,
        started_at: None,
        finished_at: None,
    };
    let is_cut = bytes.is_some_and(|bytes| bytes.len() >= END_BYTES);
    for field in Fields::of(bytes) {
        let (tag, bytes) = match field {
            Err(_) if is_cut => break,
            field => field?,
        };
        match tag {
            status::ATTEMPT => end.attempt = number(bytes)?,
            status::ELIGIBLE_AT => end.eligible_at = Some(moment(base, bytes)?),
            status::PLACED_AT => end.placed_at = Some(moment(base, bytes)?),
            status::STARTED_AT => end.started_at = Some(moment(base, bytes)?),
            status::FINISHED_AT => end.finished_at = Some(moment(base, bytes)?),
            _ if tag > status::FINISHED_AT => break,
            _ => {}
        }
    }
    Ok(end)
}

fn read_extra(base: Timestamp, tag: u8, bytes: &[u8], extra: &mut RunExtra) -> Result<(), Damage> {
    match tag {
        status::CANCEL => extra.cancel = Some(detail::json(bytes)?),
        status::FAILED_NODE => extra.failed_nodes.push(node(bytes)?),
        status::PROGRESS => extra.progress = Some(detail::json(bytes)?),
        status::CHECKPOINT => extra.checkpoint = Some(Payload::from(bytes)),
        status::RESULT => extra.result = Some(Payload::from(bytes)),
        status::CPU_US => extra.usage.cpu_us = detail::int(bytes)? as u64,
        status::MEMORY_PEAK_BYTES => extra.usage.memory_peak_bytes = detail::int(bytes)? as u64,
        status::SILENT => extra.usage.silent = true,
        status::MAYBE_DOUBLED => extra.maybe_doubled = true,
        status::HOPS => extra.hops = number(bytes)?,
        status::PRIORITY => {
            extra.priority = number::<u32>(bytes)?.checked_sub(1).and_then(|one| one.try_into().ok())
        }
        status::BEGUN_AT => extra.begun_at = Some(moment(base, bytes)?),
        status::QUEUED_AT => extra.queued_at = Some(moment(base, bytes)?),
        _ => {}
    }
    Ok(())
}

fn distance(base: Timestamp, at: Timestamp) -> i64 {
    at.as_micros().wrapping_sub(base.as_micros())
}

fn time(out: &mut Writer<'_>, tag: u8, base: Timestamp, at: Option<Timestamp>) {
    if let Some(at) = at {
        out.int(tag, distance(base, at));
    }
}

fn moment(base: Timestamp, bytes: &[u8]) -> Result<Timestamp, Damage> {
    Ok(Timestamp::from_micros(base.as_micros().wrapping_add(detail::int(bytes)?)))
}

fn node(bytes: &[u8]) -> Result<NodeId, Damage> {
    bytes.try_into().map(NodeId::from_bytes).map_err(|_| Damage::new("a node is not an id"))
}

fn number<T: TryFrom<i64>>(bytes: &[u8]) -> Result<T, Damage> {
    T::try_from(detail::int(bytes)?).map_err(|_| Damage::new("a detail number does not fit"))
}
