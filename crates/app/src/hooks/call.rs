//! A call of a webhook, from the token to the run.

use std::collections::BTreeMap;

use mainspring_engine::{Answer, HookCall, TriggerCommand, TriggerKey};
use mainspring_model::spec::{Call, Trigger, Webhook, When};
use mainspring_model::{ErrorCode, Job, JobSpec};
use mainspring_store::{Record, RecordKey};
use mainspring_wire::api::Delivered;
use serde_json::Map;

use super::seal::{Owner, Unsealed};
use super::token::HookDocument;
use super::{payload, seal, signature};
use crate::app::{App, note_answer};
use crate::audit::{self, Entry};
use crate::error::{Error, Result, done};
use crate::identity::Origin;
use crate::operation::Operation;
use crate::ports::Command;
use crate::record;
use crate::secret::{SecretHash, SecretKind, hex, sha256};

/// Bytes of a key that is kept as it is; of a longer one the digest is.
const KEY_BYTES_MAX: usize = 80;

/// Headers that carry credentials: nobody's parameters need them.
const CREDENTIALS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// What came.
#[derive(Debug, Clone)]
pub struct HookRequest<'a> {
    /// The credential.
    pub token: &'a str,
    /// The body, as it came.
    pub body: &'a [u8],
    /// Its media type, without parameters, in lower case.
    pub media_type: Option<&'a str>,
    /// The headers that are text, by lower-case name.
    pub headers: BTreeMap<String, String>,
}

/// A trigger that somebody may call.
struct Found {
    job: Job,
    key: TriggerKey,
    version: u32,
    spec: std::sync::Arc<JobSpec>,
    place: usize,
    hash: SecretHash,
    secret: Vec<u8>,
    /// Its row, if the secret is to be sealed anew.
    old: Option<(Record, HookDocument)>,
}

impl App {
    /// Fires a trigger by its webhook.
    pub async fn call_hook(&self, request: HookRequest<'_>, from: &Origin) -> Result<Delivered> {
        let found = self.find_hook(request.token).await?;
        let webhook = found.webhook().ok_or_else(unknown)?;
        if let Some(wanted) = &webhook.signature {
            let said = request.headers.get(&wanted.header.to_ascii_lowercase()).map(String::as_str);
            if !signature::is_right(wanted, said, &found.secret, request.body) {
                return Err(unknown());
            }
        }
        if let Some((record, document)) = &found.old {
            self.seal_anew(request.token, record, document, &found.secret).await;
        }
        let entry = Entry {
            at: self.now(),
            actor: format!("trigger:{}", found.key.name).into(),
            token: Some(found.hash.id().into()),
            operation: Operation::HookCall,
            namespace: Some(found.job.namespace.clone()),
            target: Some(format!("{}/{}", found.job.name, found.key.name).into()),
            outcome: audit::Outcome::Allowed,
            detail: None,
            request_id: from.request_id.clone(),
            from: from.address,
        };
        let call = match self.read_call(&found, webhook, request).await {
            Ok(call) => call,
            Err(error) => return self.refused(entry, error).await,
        };
        let cell = self.cells.cell_of(&found.job.namespace);
        let delivery = call.key.as_deref().map(|key| found.key.delivery(key));
        let command = TriggerCommand::Call(Box::new(call));
        let answer =
            self.cells.command(cell, Command::Trigger { key: found.key, command }, vec![entry]).await;
        note_answer(&answer);
        let answer = answer?;
        if let Answer::Refused { .. } = answer
            && let Some(delivery) = delivery
            && let Some(first) = self.store.run_by_key(&found.job.namespace, &delivery).await?
        {
            // It was inserted after it was looked for, by an owner that is gone.
            return Ok(Delivered { id: first.head.id, duplicate: true });
        }
        match answer {
            Answer::Submitted { run, duplicate } => Ok(Delivered { id: run, duplicate }),
            answer => {
                done(answer)?;
                Err(Error::new(ErrorCode::Internal, "the call made no run"))
            }
        }
    }

    /// The trigger of a token.
    async fn find_hook(&self, token: &str) -> Result<Found> {
        if !SecretKind::Hook.fits(token) {
            return Err(unknown());
        }
        let hash = SecretHash::of(token);
        let key = RecordKey::from(&hash.as_bytes()[..]);
        let record = self.store.record(record::HOOK, &key).await?.ok_or_else(unknown)?;
        let document: HookDocument = record::decode(&record)?;
        let job = self.store.job(document.job).await?.ok_or_else(unknown)?;
        let row = match self.find_trigger(&job, &document.trigger).await {
            Err(error) if error.code == ErrorCode::NotFound => return Err(unknown()),
            row => row?,
        };
        let spec = self.find_version(job.id, row.state.version).await?;
        let is_it = |trigger: &Trigger| *trigger.name.as_str() == *row.key.name;
        let place = spec.triggers.iter().position(is_it).ok_or_else(unknown)?;
        let owner = Owner { token, job: document.job, trigger: &document.trigger };
        let Unsealed { secret, is_old } = seal::unseal(owner, &document.sealed).ok_or_else(unknown)?;
        let old = is_old.then_some((record, document));
        Ok(Found { job, key: row.key, version: row.state.version, spec, place, hash, secret, old })
    }

    /// What the call brings, checked: whoever sent it is told now what is wrong.
    async fn read_call(
        &self,
        found: &Found,
        webhook: &Webhook,
        request: HookRequest<'_>,
    ) -> Result<HookCall> {
        let payload = payload::read(request.media_type, request.body)?;
        let mut headers = request.headers;
        CREDENTIALS.iter().for_each(|name| drop(headers.remove(*name)));
        let call = Call { payload, headers, at: self.now() };
        let wrong = |prefix: &str, problems| Error::problems(ErrorCode::InvalidParameter, prefix, problems);
        let key = webhook.key(&call).map_err(|problem| wrong("", vec![problem]))?.map(short);
        let first = match &key {
            Some(key) => self.store.run_by_key(&found.job.namespace, &found.key.delivery(key)).await?,
            None => None,
        };
        let first = first.map(|run| run.head.id);
        let (at, key, version) = (call.at, key.map(Into::into), found.version);
        if first.is_some() {
            // What it brings was right for the job as it was then.
            return Ok(HookCall { at, key, version, first, parameters: Map::new() });
        }
        let declared = &found.spec.parameters;
        let parameters =
            found.trigger().parameters_for(&call, declared).map_err(|problems| wrong("", problems))?;
        declared.resolve(&parameters).map_err(|problems| wrong("parameters", problems))?;
        Ok(HookCall { at, key, version, first, parameters })
    }
}

impl Found {
    fn trigger(&self) -> &Trigger {
        &self.spec.triggers[self.place]
    }

    fn webhook(&self) -> Option<&Webhook> {
        match &self.trigger().when {
            When::Webhook { webhook } => Some(webhook),
            _ => None,
        }
    }
}

/// A key of any length as one that fits.
fn short(key: String) -> String {
    if key.len() <= KEY_BYTES_MAX && !key.starts_with("sha256:") {
        return key;
    }
    format!("sha256:{}", hex(&sha256(key.as_bytes())))
}

/// The same for all that is not right: whoever guesses learns nothing.
fn unknown() -> Error {
    Error::new(ErrorCode::Unauthenticated, "the token or the signature is not right")
}
