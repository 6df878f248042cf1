//! Looking whether the audit is whole, part by part, the newest first.

use mainspring_model::ErrorCode;
use mainspring_store::{Record, RecordKey, RecordQuery};
use mainspring_wire::api::{AuditBreak, AuditCheck, Time};

use super::chain::Document;
use super::verify::verify;
use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::paging::cursor_of;
use crate::principal::Caller;
use crate::record;
use crate::secret::from_hex;

/// Records that one request looks at, and so many at once.
const RECORDS_MAX: usize = 10_000;
const RECORDS_AT_ONCE: usize = 1_000;
/// Bytes of records that one request looks at, beside the last page.
const BYTES_MAX: usize = 16 << 20;
/// Records with which the next part begins anew: more than there are processes that write at the same time.
const OVERLAP: usize = 100;
/// Breaks that are told.
const BREAKS_MAX: usize = 100;

impl App {
    /// Looks at a bounded part of the audit, from the newest record or from where the last part ended.
    pub async fn check_audit_chain(&self, caller: &Caller, cursor: Option<&str>) -> Result<AuditCheck> {
        self.allow(caller, Operation::AuditVerify, None).await?;
        let mut after = cursor.map(place).transpose()?;
        let (mut records, mut bytes): (Vec<Record>, usize) = (Vec::new(), 0);
        let mut has_more = true;
        while has_more && records.len() < RECORDS_MAX && bytes < BYTES_MAX {
            let query = RecordQuery {
                reverse: true,
                after: after.take(),
                ..RecordQuery::all(record::AUDIT, RECORDS_AT_ONCE)
            };
            let page = self.store.records(query).await?;
            after = page.rows.last().map(|last| last.key.clone());
            has_more = page.more;
            bytes += page.rows.iter().map(|row| row.value.len()).sum::<usize>();
            records.extend(page.rows);
        }
        let breaks = verify(&records).into_iter().take(BREAKS_MAX);
        let told = |broken: super::verify::Break| AuditBreak {
            chain: broken.chain,
            number: broken.number,
            what: broken.what.into(),
        };
        // A part is longer than its overlap, or it would not go on.
        let resume = records.len().saturating_sub(OVERLAP + 1).max(records.len().min(1));
        Ok(AuditCheck {
            checked: records.len() as u64,
            breaks: breaks.map(told).collect(),
            from: records.last().and_then(time_of),
            until: records.first().and_then(time_of),
            next_cursor: records.get(resume).filter(|_| has_more).map(|record| cursor_of(&record.key)),
        })
    }
}

fn place(cursor: &str) -> Result<RecordKey> {
    let key = from_hex(cursor).filter(|key| !key.is_empty()).map(RecordKey::from);
    key.ok_or_else(|| {
        let message = "not a cursor of this check; take `next_cursor` as it came";
        Error::field(ErrorCode::InvalidRequest, "cursor", message)
    })
}

fn time_of(record: &Record) -> Option<Time> {
    record::decode::<Document>(record).ok()?.entries.first().map(|entry| entry.at)
}
