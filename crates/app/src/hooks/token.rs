//! The token of a webhook: one for each trigger, made anew as often as somebody asks, and void when it is made anew, revoked, or
//! its trigger is gone. Its hash is kept, with what callers sign with, encrypted under a key that only the token gives.

use mainspring_engine::TriggerKey;
use mainspring_model::spec::When;
use mainspring_model::{ErrorCode, Job, JobId, Timestamp};
use mainspring_store::{Outcome, Record, RecordKey, Transaction, Write};
use mainspring_wire::api::{HookToken, HookTokenRequest};
use serde::{Deserialize, Serialize};

use super::seal::{self, Owner};
use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::random::random_bytes;
use crate::record;
use crate::secret::{SecretHash, SecretKind};
use crate::triggers::Named;

/// Characters of a secret that callers bring.
const SECRET_CHARS: std::ops::RangeInclusive<usize> = 8..=256;

/// A token, by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HookDocument {
    pub(super) job: JobId,
    pub(super) trigger: String,
    /// What callers sign with, encrypted.
    pub(super) sealed: String,
    created_at: Timestamp,
    created_by: String,
}

impl App {
    /// Makes the token of a webhook; the one before is void from now on.
    pub async fn create_hook_token(
        &self,
        caller: &Caller,
        named: Named<'_>,
        request: HookTokenRequest,
        condition: Precondition,
    ) -> Result<(HookToken, u64)> {
        let (job, key, entry) = self.hook_of(caller, Operation::TriggerToken, named).await?;
        let given = match request.secret {
            Some(secret) if !SECRET_CHARS.contains(&secret.chars().count()) => {
                let (least, most) = (SECRET_CHARS.start(), SECRET_CHARS.end());
                let message = format!("must have {least} to {most} characters");
                return self.refused(entry, Error::field(ErrorCode::InvalidRequest, "secret", message)).await;
            }
            given => given,
        };
        let now = self.now();
        let token = self.random.secret(SecretKind::Hook);
        let secret = given.unwrap_or_else(|| self.random.secret(SecretKind::HookSecret));
        let hash = SecretHash::of(&token);
        let document = HookDocument {
            job: job.id,
            trigger: key.name.to_string(),
            sealed: seal::seal(
                Owner { token: &token, job: job.id, trigger: &key.name },
                secret.as_bytes(),
                random_bytes(),
            ),
            created_at: now,
            created_by: caller.subject().into(),
        };
        let (before, mut writes) = self.hook_removal(&key).await?;
        if let Err(error) = condition.check((before > 0).then_some(before)) {
            return self.refused(entry, error).await;
        }
        writes.push(put(record::HOOK, RecordKey::from(&hash.as_bytes()[..]), 1, record::encode(&document)));
        writes.push(put(record::HOOK_CLAIM, claim(&key), before + 1, record::encode(&hash)));
        self.journal.write(writes, Entry { detail: Some(hash.id().into()), ..entry }).await?;
        let path = format!("/v1/hooks/{token}");
        Ok((HookToken { id: hash.id(), token, path, secret, created_at: now.into() }, before + 1))
    }

    /// Revokes the token of a webhook.
    pub async fn revoke_hook_token(
        &self,
        caller: &Caller,
        named: Named<'_>,
        condition: Precondition,
    ) -> Result<()> {
        let (_, key, entry) = self.hook_of(caller, Operation::TriggerRevoke, named).await?;
        // What is compared is what is removed.
        let (before, mut removals) = self.hook_removal(&key).await?;
        if let Err(error) = condition.check((before > 0).then_some(before)) {
            return self.refused(entry, error).await;
        }
        if before == 0 {
            let error = Error::not_found(format!("token of `{}`", named.trigger));
            return self.refused(entry, error).await;
        }
        removals.push(claim_removal(&key, before));
        self.journal.write(removals, entry).await
    }

    /// What removes the token of a trigger; nothing when it has none.
    pub(crate) async fn hook_removals(&self, key: &TriggerKey) -> Result<Vec<Write>> {
        let (before, mut writes) = self.hook_removal(key).await?;
        if before > 0 {
            writes.push(claim_removal(key, before));
        }
        Ok(writes)
    }

    /// The webhook that is named, if the caller may.
    async fn hook_of(
        &self,
        caller: &Caller,
        operation: Operation,
        named: Named<'_>,
    ) -> Result<(Job, TriggerKey, Entry)> {
        self.allow(caller, operation, Some(named.namespace)).await?;
        let entry = Entry {
            target: Some(format!("{}/{}", named.job, named.trigger).into()),
            ..caller.entry(self.now(), operation, Some(named.namespace))
        };
        let found = async {
            let job = self.find_job(named.namespace, named.job).await?;
            let row = self.find_trigger(&job, named.trigger).await?;
            let spec = self.find_version(job.id, row.state.version).await?;
            let written = spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *row.key.name);
            match written.map(|trigger| &trigger.when) {
                Some(When::Webhook { .. }) => Ok((job, row.key)),
                _ => Err(Error::new(ErrorCode::IllegalState, "it is no webhook, so it has no token")),
            }
        };
        match found.await {
            Ok((job, key)) => Ok((job, key, entry)),
            Err(error) => self.refused(entry, error).await,
        }
    }

    /// The revision of the claim that stands (0 when none does), and the removal of its token.
    async fn hook_removal(&self, key: &TriggerKey) -> Result<(u64, Vec<Write>)> {
        let Some(found) = self.store.record(record::HOOK_CLAIM, &claim(key)).await? else {
            return Ok((0, Vec::new()));
        };
        let hash: SecretHash = record::decode(&found)?;
        let token = RecordKey::from(&hash.as_bytes()[..]);
        // It is written once, and once more when its secret is sealed anew.
        let expected = self.store.record(record::HOOK, &token).await?.map_or(1, |record| record.revision);
        let removal = Write::RemoveRecord { kind: record::HOOK, key: token, expected };
        Ok((found.revision, vec![removal]))
    }

    /// Seals the secret of an old row anew. Another server may do so too: one of them writes, and both have the secret.
    pub(super) async fn seal_anew(
        &self,
        token: &str,
        before: &Record,
        document: &HookDocument,
        secret: &[u8],
    ) {
        let owner = Owner { token, job: document.job, trigger: &document.trigger };
        let sealed = seal::seal(owner, secret, random_bytes());
        let value = record::encode(&HookDocument { sealed, ..document.clone() });
        let write = put(record::HOOK, before.key.clone(), before.revision + 1, value);
        let written = self.store.commit(Transaction::unfenced(vec![write])).await;
        match written.as_deref() {
            Ok([Outcome::Applied]) => tracing::info!(trigger = document.trigger, "sealed a secret anew"),
            // The next call tries again.
            other => tracing::warn!(trigger = document.trigger, ?other, "a secret was not sealed anew"),
        }
    }
}

/// Under which a trigger's token is found.
fn claim_removal(key: &TriggerKey, expected: u64) -> Write {
    Write::RemoveRecord { kind: record::HOOK_CLAIM, key: claim(key), expected }
}

fn claim(key: &TriggerKey) -> RecordKey {
    [key.job.as_bytes().as_slice(), key.name.as_bytes()].concat().into()
}

fn put(kind: mainspring_store::RecordKind, key: RecordKey, revision: u64, value: Vec<u8>) -> Write {
    Write::PutRecord(Box::new(Record { kind, key, revision, expires_at: None, value: value.into() }))
}
