//! News: records that tell owners of what others changed. Whoever changes something writes one with it; owners look for them now
//! and then, and hear each once.

use std::time::Duration;

use mainspring_model::Timestamp;
use mainspring_store::{Record, RecordKey, RecordKind, RecordQuery, Write};
use rustc_hash::{FxHashMap, FxHashSet};

/// A piece of news, in the transaction of what it tells of. `standing` is the revision of that which stands.
pub(super) fn tell(
    (kind, key): (RecordKind, RecordKey),
    standing: Option<u64>,
    now: Timestamp,
    kept: Duration,
) -> Write {
    let (revision, expires_at) = (standing.map_or(1, |standing| standing + 1), Some(now + kept));
    Write::PutRecord(Box::new(Record { kind, key, revision, expires_at, value: [0].into() }))
}

/// News of one kind.
#[derive(Debug, Default)]
pub(super) struct News {
    /// What was heard last of each subject.
    heard: FxHashMap<RecordKey, (u64, Option<Timestamp>)>,
    /// What the pages have had so far.
    read: FxHashSet<RecordKey>,
}

impl News {
    /// Of a page, what was not heard before.
    pub(super) fn hear<'a>(
        &mut self,
        query: &RecordQuery,
        rows: &'a [Record],
        more: bool,
    ) -> Vec<&'a Record> {
        if query.after.is_none() {
            self.read.clear();
        }
        let mut news = Vec::new();
        for record in rows {
            // After a while a piece of news is forgotten, and the next of the same subject begins anew.
            let seen = (record.revision, record.expires_at);
            if self.heard.insert(record.key.clone(), seen) != Some(seen) {
                news.push(record);
            }
            self.read.insert(record.key.clone());
        }
        if !more {
            let read = std::mem::take(&mut self.read);
            self.heard.retain(|key, _| read.contains(key));
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: RecordKind = RecordKind(1);

    fn record(key: &str, revision: u64, at: i64) -> Record {
        let expires_at = Some(Timestamp::from_micros(at));
        Record { kind: KIND, key: key.as_bytes().into(), revision, expires_at, value: [0].into() }
    }

    /// Hears of pages of records, one after the other; answers the keys of what is new.
    fn hear(news: &mut News, pages: &[&[Record]]) -> String {
        let mut query = RecordQuery::all(KIND, 2);
        let mut new = String::new();
        for (n, page) in pages.iter().enumerate() {
            for record in news.hear(&query, page, n + 1 < pages.len()) {
                new += std::str::from_utf8(record.key.as_bytes()).unwrap();
            }
            query.after = page.last().map(|last| last.key.clone());
        }
        new
    }

    #[test]
    fn each_is_heard_once_and_what_went_begins_anew() {
        let mut news = News::default();
        let (a, b, c) = (record("a", 1, 10), record("b", 1, 10), record("c", 1, 10));
        assert_eq!(hear(&mut news, &[&[a.clone(), b.clone()], std::slice::from_ref(&c)]), "abc");
        assert_eq!(hear(&mut news, &[&[a.clone(), b.clone()], std::slice::from_ref(&c)]), "");
        // Another of a, that of b was forgotten in between, and c is gone.
        assert_eq!(hear(&mut news, &[&[record("a", 2, 20), record("b", 1, 20)]]), "ab");
        assert_eq!(news.heard.len(), 2);
        assert_eq!(hear(&mut news, &[&[record("a", 2, 20), record("b", 1, 20)], &[c]]), "c");
        assert_eq!(hear(&mut news, &[&[record("a", 2, 20)], &[record("b", 1, 20)]]), "");
        assert_eq!(news.heard.len(), 2, "also where there is more than a page");
    }
}
