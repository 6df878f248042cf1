//! When tokens and sessions were last used, and from where: noted with each request, written later and seldom.
//!
//! At most one write for a token in ten minutes, off the path of requests; what a process had not written when it ended is lost.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use mainspring_model::Timestamp;
use mainspring_store::{Record, RecordKey, Result as StoreResult, Transaction, Write};
use mainspring_wire::api::Token;
use rustc_hash::FxHashMap;
use tokio::sync::Notify;
use tracing::warn;

use super::documents::TokenUseDocument;
use crate::app::App;
use crate::principal::Caller;
use crate::record;
use crate::secret::{SecretHash, from_hex};

/// How often the use of one token is written at most.
const WRITTEN_EVERY: Duration = Duration::from_secs(600);
/// How long uses are gathered before they are written together.
const GATHERED_FOR: Duration = Duration::from_secs(1);
/// How long it is kept: longer than tokens usually are.
const KEPT_FOR: Duration = Duration::from_secs(400 * 86_400);
/// Tokens whose use is remembered; then the memory begins anew.
const REMEMBERED_MAX: usize = 10_000;
/// Uses written in one transaction.
const WRITTEN_AT_ONCE: usize = 100;
/// Tokens of a page that are looked up at the same time.
const READ_AT_ONCE: usize = 16;

/// The uses that this process saw.
#[derive(Debug, Default)]
pub(crate) struct TokenUses {
    state: Mutex<State>,
    due: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// When the use of a token was last noted for writing.
    noted: FxHashMap<SecretHash, Timestamp>,
    due: Vec<(SecretHash, TokenUseDocument)>,
}

impl TokenUses {
    /// Notes a use.
    fn note(&self, token: SecretHash, at: Timestamp, from: Option<IpAddr>) {
        let mut state = self.state();
        if state.noted.get(&token).is_some_and(|noted| at.since(*noted) < WRITTEN_EVERY) {
            return;
        }
        if state.noted.len() >= REMEMBERED_MAX {
            state.noted.clear();
        }
        if state.due.len() < REMEMBERED_MAX {
            state.noted.insert(token, at);
            state.due.push((token, TokenUseDocument { at, from }));
            self.due.notify_one();
        }
    }

    fn take(&self) -> Vec<(SecretHash, TokenUseDocument)> {
        std::mem::take(&mut self.state().due)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// Notes that the caller's token was used.
    pub fn note_use(&self, caller: &Caller) {
        self.token_uses.note(caller.principal.hash, self.now(), caller.from);
    }

    /// Writes when tokens were used, whenever that is due. Never returns.
    pub async fn write_token_uses(&self) {
        loop {
            self.token_uses.due.notified().await;
            tokio::time::sleep(GATHERED_FOR).await;
            for uses in self.token_uses.take().chunks(WRITTEN_AT_ONCE) {
                if let Err(error) = self.write_uses(uses).await {
                    warn!(%error, "when tokens were last used is not written");
                }
            }
        }
    }

    async fn write_uses(&self, uses: &[(SecretHash, TokenUseDocument)]) -> StoreResult<()> {
        let mut writes = Vec::with_capacity(uses.len());
        for (token, seen) in uses {
            let key = key(token);
            let found = self.store.record(record::TOKEN_USE, &key).await?;
            let known = found.as_ref().and_then(|row| record::decode::<TokenUseDocument>(row).ok());
            // Another process wrote it a moment ago.
            if known.is_some_and(|known| seen.at.since(known.at) < WRITTEN_EVERY) {
                continue;
            }
            writes.push(Write::PutRecord(Box::new(Record {
                kind: record::TOKEN_USE,
                key,
                revision: found.map_or(1, |row| row.revision + 1),
                expires_at: Some(seen.at + KEPT_FOR),
                value: record::encode(seen).into(),
            })));
        }
        if !writes.is_empty() {
            // Of two who write at once one is as good as the other.
            self.store.commit(Transaction::unfenced(writes)).await?;
        }
        Ok(())
    }

    /// Adds when tokens were last used, where that is known.
    pub(super) async fn add_uses(&self, tokens: &mut [Token]) {
        for tokens in tokens.chunks_mut(READ_AT_ONCE) {
            let asked: Vec<_> = tokens.iter().map(|token| self.use_of(token.id.clone())).collect();
            for (token, used) in tokens.iter_mut().zip(join_all(asked).await) {
                if let Some(TokenUseDocument { at, from }) = used {
                    (token.last_used_at, token.from) = (Some(at.into()), from.map(|from| from.to_string()));
                }
            }
        }
    }

    async fn use_of(&self, id: String) -> Option<TokenUseDocument> {
        let prefix = id.strip_prefix("tok_").and_then(from_hex)?;
        let query = mainspring_store::RecordQuery {
            prefix: prefix.into(),
            ..mainspring_store::RecordQuery::all(record::TOKEN_USE, 1)
        };
        let page = self.store.records(query).await.ok()?;
        record::decode(page.rows.first()?).ok()
    }
}

fn key(token: &SecretHash) -> RecordKey {
    RecordKey::from(&token.as_bytes()[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_use_of_a_token_is_due_in_ten_minutes() {
        let uses = TokenUses::default();
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let (one, other) = (SecretHash::of("one"), SecretHash::of("other"));
        for (token, seconds) in [(one, 0), (one, 1), (other, 2), (one, 599)] {
            uses.note(token, at(seconds), None);
        }
        let due = |uses: &TokenUses| -> Vec<i64> {
            uses.take().iter().map(|(_, seen)| seen.at.as_micros() / 1_000_000).collect()
        };
        assert_eq!(due(&uses), [0, 2]);
        assert_eq!(due(&uses), [0; 0]);
        uses.note(one, at(601), None);
        assert_eq!(due(&uses), [601]);
    }
}
