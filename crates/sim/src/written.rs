//! What a transaction wrote about triggers, as the store has it now. Read once, looked at by every checker.

use mainspring_engine::{End, Occurrence, TriggerKey, TriggerRow};
use mainspring_model::{CellId, Epoch, JobId};
use mainspring_store::{Record, Transaction, Write};
use mainspring_store_mem::MemCore;

/// Rows, lists of ends and lines of the ledger.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub rows: Vec<TriggerRow>,
    pub ends: Vec<(TriggerKey, Vec<End>)>,
    pub lines: Vec<(TriggerKey, Occurrence)>,
    /// The cell whose owner wrote; none when it was somebody else.
    pub owner: Option<CellId>,
    /// Under which epoch, and which of its batches that was.
    pub batch: Option<(Epoch, u64)>,
}

impl Written {
    pub(crate) fn read(transaction: &Transaction, core: &MemCore) -> Self {
        let owner = transaction.fence.as_ref().map(|fence| fence.cell);
        let batch = transaction.fence.as_ref().map(|fence| (fence.epoch, fence.seq));
        let mut read = Self { owner, batch, ..Self::default() };
        for write in &transaction.writes {
            let Write::PutRecord(record) = write else { continue };
            let Some(stored) = core.record(record.kind, &record.key) else { continue };
            if stored.kind == TriggerRow::KIND {
                // Of a row that was refused, the store has another.
                read.rows.extend(TriggerRow::read(&stored).filter(|_| stored == **record));
            } else if let Some(ends) = End::read(&stored) {
                read.ends.push(ends);
            } else if let Some(line) = Occurrence::read(&stored) {
                read.lines.extend(key_of(&stored).map(|key| (key, line)));
            }
        }
        read
    }
}

/// Whose ledger a line is in.
fn key_of(record: &Record) -> Option<TriggerKey> {
    let (job, rest) = record.key.as_bytes().split_first_chunk::<16>()?;
    let name = std::str::from_utf8(&rest[..rest.iter().position(|byte| *byte == 0)?]).ok()?;
    Some(TriggerKey { job: JobId::from_bytes(*job), name: name.into() })
}
