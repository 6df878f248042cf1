//! The two detail columns of a run: what was asked beyond the columns (`head`, written once) and where it
//! stands beyond the columns (`detail`, rewritten with the status). An ordinary run that ends with exit code 0
//! has an empty `detail`.

use mainspring_model::{Cause, Epoch, NodeId, Payload, RunExtra, RunHead, RunKeys, RunStatus};

use super::detail::{self, Fields, Writer};
use crate::value::Damage;

mod head {
    pub(super) const INLINE_SPEC: u8 = 1;
    pub(super) const NOT_BEFORE: u8 = 2;
    pub(super) const DEADLINE: u8 = 3;
    pub(super) const KEYS: u8 = 4;
    pub(super) const CONCURRENCY_KEY: u8 = 5;
    pub(super) const RATE_KEY: u8 = 6;
    pub(super) const HASH_KEY: u8 = 7;
    pub(super) const SUBMITTED_BY: u8 = 8;
}

mod status {
    pub(super) const ATTEMPT_EPOCH: u8 = 1;
    pub(super) const LOSSES: u8 = 2;
    pub(super) const CAUSE_CODE: u8 = 3;
    pub(super) const CAUSE: u8 = 4;
    pub(super) const REASON: u8 = 5;
    pub(super) const EXTRA: u8 = 6;
    pub(super) const CANCEL: u8 = 7;
    pub(super) const FAILED_NODES: u8 = 8;
    pub(super) const PROGRESS: u8 = 9;
    pub(super) const CHECKPOINT: u8 = 10;
    pub(super) const RESULT: u8 = 11;
    pub(super) const CPU_US: u8 = 12;
    pub(super) const MEMORY_PEAK_BYTES: u8 = 13;
    pub(super) const MAYBE_DOUBLED: u8 = 14;
    pub(super) const HOPS: u8 = 15;
}

/// Appends the head's detail.
pub(crate) fn write_head(head: &RunHead, out: &mut Vec<u8>) {
    let mut out = Writer(out);
    if let Some(spec) = &head.inline_spec {
        out.bytes(head::INLINE_SPEC, spec);
    }
    out.time(head::NOT_BEFORE, head.not_before);
    out.time(head::DEADLINE, head.deadline);
    if let Some(keys) = &head.keys {
        out.flag(head::KEYS, true);
        out.filled(head::CONCURRENCY_KEY, keys.concurrency.as_bytes());
        out.filled(head::RATE_KEY, keys.rate.as_bytes());
        out.filled(head::HASH_KEY, keys.hash.as_bytes());
    }
    out.filled(head::SUBMITTED_BY, head.submitted_by.as_bytes());
}

/// Fills in the head's detail.
pub(crate) fn read_head(bytes: Option<&[u8]>, head: &mut RunHead) -> Result<(), Damage> {
    for field in Fields::of(bytes) {
        let (tag, bytes) = field?;
        match tag {
            head::INLINE_SPEC => head.inline_spec = Some(Payload::from(bytes)),
            head::NOT_BEFORE => head.not_before = detail::time(bytes)?,
            head::DEADLINE => head.deadline = detail::time(bytes)?,
            head::KEYS..=head::HASH_KEY => read_key(tag, bytes, head.keys.get_or_insert_default())?,
            head::SUBMITTED_BY => head.submitted_by = detail::text(bytes)?.into(),
            _ => {}
        }
    }
    Ok(())
}

fn read_key(tag: u8, bytes: &[u8], keys: &mut RunKeys) -> Result<(), Damage> {
    match tag {
        head::CONCURRENCY_KEY => keys.concurrency = detail::text(bytes)?,
        head::RATE_KEY => keys.rate = detail::text(bytes)?,
        head::HASH_KEY => keys.hash = detail::text(bytes)?,
        _ => {}
    }
    Ok(())
}

/// Appends the status's detail.
pub(crate) fn write_status(status: &RunStatus, out: &mut Vec<u8>) {
    let mut out = Writer(out);
    if status.attempt_epoch != status.epoch {
        out.int(status::ATTEMPT_EPOCH, status.attempt_epoch.0 as i64);
    }
    out.counted(status::LOSSES, i64::from(status.losses));
    match &status.cause {
        None | Some(Cause::Exit { code: 0 } | Cause::Oom | Cause::Overlap) => {}
        Some(Cause::Exit { code: number } | Cause::Signal { signal: number }) => {
            out.int(status::CAUSE_CODE, i64::from(*number));
        }
        Some(cause) => out.json(status::CAUSE, cause),
    }
    if let Some(reason) = &status.reason {
        out.json(status::REASON, reason);
    }
    if let Some(extra) = &status.extra {
        write_extra(extra, &mut out);
    }
}

fn write_extra(extra: &RunExtra, out: &mut Writer<'_>) {
    // Named one by one, so that a new field cannot be forgotten here.
    let RunExtra { cancel, failed_nodes, progress, checkpoint, result, usage, hops, maybe_doubled } = extra;
    out.flag(status::EXTRA, true);
    if let Some(cancel) = cancel {
        out.json(status::CANCEL, cancel);
    }
    for node in failed_nodes {
        out.bytes(status::FAILED_NODES, node.as_bytes());
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
    out.counted(status::HOPS, i64::from(*hops));
    out.flag(status::MAYBE_DOUBLED, *maybe_doubled);
}

/// Fills in the status's detail; `cause` is the number in the cause column. The status comes with its columns
/// filled and its `attempt_epoch` equal to its `epoch`.
pub(crate) fn read_status(
    bytes: Option<&[u8]>,
    cause: Option<i64>,
    status: &mut RunStatus,
) -> Result<(), Damage> {
    let mut code = 0;
    let mut told = None;
    for field in Fields::of(bytes) {
        let (tag, bytes) = field?;
        match tag {
            status::ATTEMPT_EPOCH => status.attempt_epoch = Epoch(detail::int(bytes)? as u64),
            status::LOSSES => status.losses = number(bytes)?,
            status::CAUSE_CODE => code = number(bytes)?,
            status::CAUSE => told = Some(detail::json(bytes)?),
            status::REASON => status.reason = Some(detail::json(bytes)?),
            status::EXTRA..=status::HOPS => read_extra(tag, bytes, status.extra_mut())?,
            _ => {}
        }
    }
    status.cause = match (cause, told) {
        (None, _) => None,
        (Some(1), None) => Some(Cause::Exit { code }),
        (Some(2), None) => Some(Cause::Signal { signal: code }),
        (Some(3), None) => Some(Cause::Oom),
        (Some(12), None) => Some(Cause::Overlap),
        (Some(number), Some(cause)) if i64::from(Cause::number(&cause)) == number => Some(cause),
        (Some(number), _) => return Err(Damage::new(format!("cause {number} without its detail"))),
    };
    Ok(())
}

fn read_extra(tag: u8, bytes: &[u8], extra: &mut RunExtra) -> Result<(), Damage> {
    match tag {
        status::CANCEL => extra.cancel = Some(detail::json(bytes)?),
        status::FAILED_NODES => {
            let id = bytes.try_into().map_err(|_| Damage::new("a failed node is not an id"))?;
            extra.failed_nodes.push(NodeId::from_bytes(id));
        }
        status::PROGRESS => extra.progress = Some(detail::json(bytes)?),
        status::CHECKPOINT => extra.checkpoint = Some(Payload::from(bytes)),
        status::RESULT => extra.result = Some(Payload::from(bytes)),
        status::CPU_US => extra.usage.cpu_us = detail::int(bytes)? as u64,
        status::MEMORY_PEAK_BYTES => extra.usage.memory_peak_bytes = detail::int(bytes)? as u64,
        status::MAYBE_DOUBLED => extra.maybe_doubled = true,
        status::HOPS => extra.hops = number(bytes)?,
        _ => {}
    }
    Ok(())
}

fn number<T: TryFrom<i64>>(bytes: &[u8]) -> Result<T, Damage> {
    T::try_from(detail::int(bytes)?).map_err(|_| Damage::new("a detail number does not fit"))
}
