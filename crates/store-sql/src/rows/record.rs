//! Records as rows: (kind, key), a revision, and bytes that nobody here looks into.

use mainspring_model::{Payload, Timestamp};
use mainspring_store::{Record, RecordKey, RecordKind};

use crate::batch::{Action, Batch, Kind, column};
use crate::value::{Damage, Param, Row};

/// Inserts records.
pub(crate) static INSERT: Batch = Batch {
    table: "records",
    columns: &[
        column("kind", Kind::Int),
        column("record_key", Kind::Bytes),
        column("revision", Kind::Big),
        column("expires_at", Kind::Big),
        column("value", Kind::Bytes),
    ],
    key: 2,
    action: Action::InsertAbsent { unique: &[] },
    row_type: None,
};

/// Replaces records.
pub(crate) static UPDATE: Batch = Batch {
    table: "records",
    columns: &[
        column("kind", Kind::Int),
        column("record_key", Kind::Bytes),
        column("revision", Kind::Big),
        column("revision", Kind::Big),
        column("expires_at", Kind::Big),
        column("value", Kind::Bytes),
    ],
    key: 2,
    action: Action::CompareAndSet,
    row_type: None,
};

/// Removes records.
pub(crate) static REMOVE: Batch = Batch {
    table: "records",
    columns: &[column("kind", Kind::Int), column("record_key", Kind::Bytes), column("revision", Kind::Big)],
    key: 2,
    action: Action::CompareAndRemove,
    row_type: None,
};

/// What a read selects.
pub(crate) const SELECT: &str = "SELECT kind, record_key, revision, expires_at, value FROM records";

/// The row of a record.
pub(crate) fn encode(record: &Record) -> Vec<Param> {
    let [kind, key] = encode_key(record.kind, &record.key);
    let revision = Param::Int(record.revision as i64);
    vec![kind, key, revision, Param::time(record.expires_at), Param::from(&*record.value)]
}

/// The row of an update of a record: its key, the revision before, the rest.
pub(crate) fn encode_update(record: &Record) -> Vec<Param> {
    let mut row = encode(record);
    row.insert(2, Param::Int(record.revision.wrapping_sub(1) as i64));
    row
}

/// The row of a removal.
pub(crate) fn encode_removal(kind: RecordKind, key: &RecordKey, expected: u64) -> Vec<Param> {
    let [kind, key] = encode_key(kind, key);
    vec![kind, key, Param::Int(expected as i64)]
}

/// The columns of the primary key.
pub(crate) fn encode_key(kind: RecordKind, key: &RecordKey) -> [Param; 2] {
    [i64::from(kind.0).into(), key.as_bytes().into()]
}

/// The key of a row that begins with it.
pub(crate) fn decode_key(row: &dyn Row) -> Result<(RecordKind, RecordKey), Damage> {
    Ok((RecordKind(row.number(0)?), row.bytes(1)?.into()))
}

/// The record of a row.
pub(crate) fn decode(row: &dyn Row) -> Result<Record, Damage> {
    let (kind, key) = decode_key(row)?;
    decode_named(row, kind, key.clone())
        .map_err(|damage| damage.named(format_args!("record {} {:?}", kind.0, key.as_bytes())))
}

fn decode_named(row: &dyn Row, kind: RecordKind, key: RecordKey) -> Result<Record, Damage> {
    Ok(Record {
        kind,
        key,
        revision: row.int(2)? as u64,
        expires_at: row.int_opt(3)?.map(Timestamp::from_micros),
        value: Payload::from(row.bytes(4)?),
    })
}
