//! Whether a chain is whole: nothing changed, nothing left out between its first and its last record.

use std::collections::BTreeMap;

use mainspring_model::MemberId;
use mainspring_store::Record;

use super::chain::Document;
use crate::record;
use crate::secret::{hex, sha256};

/// Where a chain is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The chain.
    pub chain: MemberId,
    /// The record that does not follow from the one before.
    pub number: u64,
    /// What is wrong.
    pub what: &'static str,
}

/// Every break in these records. They may be of several chains and in any order; the oldest of a chain may be cut off.
pub fn verify(records: &[Record]) -> Vec<Break> {
    let mut chains: BTreeMap<(MemberId, u64), (String, [u8; 32])> = BTreeMap::new();
    let mut breaks = Vec::new();
    for record in records {
        match record::decode::<Document>(record) {
            Ok(document) => {
                let hash = sha256(&record.value);
                chains.insert((document.chain, document.number), (document.before, hash));
            }
            Err(_) => breaks.push(Break { chain: MemberId::MIN, number: 0, what: "cannot be read" }),
        }
    }
    let mut last: Option<(MemberId, u64, [u8; 32])> = None;
    for ((chain, number), (before, hash)) in chains {
        if let Some((of, last_number, last_hash)) = last.filter(|(of, ..)| *of == chain) {
            if last_number + 1 != number {
                breaks.push(Break { chain: of, number, what: "one or more before it are missing" });
            } else if hex(&last_hash) != before {
                breaks.push(Break { chain: of, number, what: "the one before it was changed" });
            }
        }
        last = Some((chain, number, hash));
    }
    breaks
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mainspring_model::{Timestamp, limits};
    use mainspring_store::Write;

    use super::super::{Chain, Entry, Outcome};
    use super::*;
    use crate::operation::Operation;

    fn entry(detail: usize) -> Entry {
        Entry {
            at: Timestamp::from_micros(5),
            actor: "ann".into(),
            token: None,
            operation: Operation::RunSubmit,
            namespace: None,
            target: None,
            outcome: Outcome::Allowed,
            detail: Some("\"".repeat(detail).into()),
            request_id: None,
            from: None,
        }
    }

    fn chain(id: MemberId) -> Arc<Chain> {
        Arc::new(Chain::new(id, std::time::Duration::from_secs(60)))
    }

    fn records(chain: &Arc<Chain>, entries: Vec<Entry>) -> Vec<Record> {
        let now = Timestamp::from_micros(7);
        let unboxed = |write| match write {
            Write::PutRecord(record) => *record,
            other => panic!("{other:?}"),
        };
        let Some(draft) = chain.draft(now, entries) else { return Vec::new() };
        let records = draft.records().iter().cloned().map(unboxed).collect();
        draft.written();
        records
    }

    #[test]
    fn what_is_changed_or_missing_is_seen() {
        let (one, two) = (chain(MemberId::new(Timestamp::ZERO, 1)), chain(MemberId::MAX));
        let mut all: Vec<Record> = (0..4).flat_map(|_| records(&one, vec![entry(1)])).collect();
        all.extend(records(&two, vec![entry(1), entry(2)]));
        assert_eq!(verify(&all), []);
        assert_eq!(verify(&all[1..]), [], "the oldest are cut off");
        let mut without = all.clone();
        without.remove(1);
        assert_eq!(verify(&without).len(), 1);
        let mut changed = all.clone();
        let text = String::from_utf8(changed[1].value.to_vec()).unwrap().replace("ann", "bob");
        changed[1].value = text.into_bytes().into();
        assert_eq!(verify(&changed)[0].number, 3);
    }

    #[test]
    fn no_record_is_larger_than_a_store_takes() {
        let chain = chain(MemberId::MIN);
        assert_eq!(records(&chain, vec![]), []);
        let mut all: Vec<Entry> = (0..2000).map(|_| entry(limits::MESSAGE_BYTES_MAX)).collect();
        all.push(entry(limits::RECORD_VALUE_BYTES_MAX));
        let bells = Some("\u{7}".repeat(limits::WORD_BYTES_MAX).into());
        all.extend((0..2000).map(|_| Entry { detail: bells.clone(), ..entry(0) }));
        let many = records(&chain, all);
        assert!(many.len() > 1);
        assert!(many.iter().all(|record| record.value.len() <= limits::RECORD_VALUE_BYTES_MAX));
        assert_eq!(verify(&many), []);
    }
}
