//! Nodes at the door: a single-use join token becomes the node's own credential, and the credential lets it in.
//!
//! A credential names one node, so that nobody speaks for another (I34), and a node has one: whoever has a join token does
//! not take over a node that joined before. It has no end; removing the node takes it away, and then the node may join again.

use std::sync::Arc;

use mainspring_model::{ErrorCode, NodeId, Timestamp, limits};
use mainspring_store::{Outcome, Record, RecordKey, RecordQuery, Store, Write};
use mainspring_wire::api::{JoinToken, JoinTokenRequest};

use super::documents::{CredentialDocument, JoinDocument};
use super::tokens::ttl_of;
use crate::app::App;
use crate::audit::{self, Entry};
use crate::error::{Error, Result};
use crate::limits::{JOIN_TTL_DEFAULT, JOIN_TTL_MAX, NONCE_BYTES_MAX, NONCE_BYTES_MIN};
use crate::operation::Operation;
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::record;
use crate::secret::{SecretHash, SecretKind, sha256};

/// A node that was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeIdentity {
    /// Which.
    pub node: NodeId,
    /// The only pool that it may be in, if its join token said so.
    pub pool: Option<String>,
}

impl App {
    /// Makes a token with which one node joins once.
    pub async fn create_join_token(&self, caller: &Caller, request: JoinTokenRequest) -> Result<JoinToken> {
        self.allow(caller, Operation::NodeInvite, None).await?;
        if let Some(pool) = &request.pool {
            mainspring_model::name::check_name(pool)
                .map_err(|error| Error::field(ErrorCode::InvalidRequest, "pool", error.to_string()))?;
        }
        let ttl = ttl_of(request.ttl.as_deref(), JOIN_TTL_DEFAULT, JOIN_TTL_MAX)?;
        let entry = caller.entry(self.now(), Operation::NodeInvite, None);
        self.write_join_token(request.pool, ttl, caller.subject(), entry).await
    }

    /// Makes a join token for a node of this very process or machine: for `up`, which starts both sides.
    pub async fn issue_join_token(&self, pool: Option<String>) -> Result<JoinToken> {
        let entry = node_entry(self.now(), Operation::NodeInvite, "bootstrap", None);
        self.write_join_token(pool, JOIN_TTL_DEFAULT, "bootstrap", entry).await
    }

    /// Makes a join token for the node of this very process if it has no credential: it is new, or somebody removed it. Who
    /// owns the store lets its own node in again.
    pub async fn admit_resident(&self, node: NodeId) -> Result<Option<JoinToken>> {
        if self.has_credential(node).await? {
            return Ok(None);
        }
        let detail = match self.store.node(node).await? {
            Some(known) => format!("{} was removed; its own server lets it in again", known.name),
            None => "the node of this server".to_owned(),
        };
        let entry = node_entry(self.now(), Operation::NodeInvite, "bootstrap", Some(detail));
        let entry = Entry { target: Some(node.to_string().into()), ..entry };
        self.write_join_token(None, JOIN_TTL_DEFAULT, "bootstrap", entry).await.map(Some)
    }

    async fn write_join_token(
        &self,
        pool: Option<String>,
        ttl: std::time::Duration,
        by: &str,
        entry: Entry,
    ) -> Result<JoinToken> {
        let expires_at = self.now() + ttl;
        let document = JoinDocument { pool: pool.clone(), created_by: by.to_owned() };
        let (token, hash) = self.fresh_secret(SecretKind::Join);
        let write = write(record::JOIN_TOKEN, hash, record::encode(&document), Some(expires_at));
        self.journal.write(vec![write], entry).await?;
        Ok(JoinToken { token, expires_at: expires_at.into(), pool })
    }

    /// Exchanges a join token for the node's credential. The token is used up in the same transaction. A node whose answer
    /// was lost asks again with the same nonce and is answered the same.
    pub async fn redeem_join_token(
        &self,
        token: &str,
        node: NodeId,
        name: &str,
        nonce: &[u8],
    ) -> Result<String> {
        if !SecretKind::Join.fits(token) {
            return Err(refused());
        }
        if !(NONCE_BYTES_MIN..=NONCE_BYTES_MAX).contains(&nonce.len()) {
            let message = format!("must be {NONCE_BYTES_MIN} to {NONCE_BYTES_MAX} bytes");
            return Err(Error::field(ErrorCode::InvalidRequest, "nonce", message));
        }
        if name.len() > limits::WORD_BYTES_MAX {
            let message = format!("at most {} bytes", limits::WORD_BYTES_MAX);
            return Err(Error::field(ErrorCode::InvalidRequest, "name", message));
        }
        let credential = credential(token, nonce);
        let key = RecordKey::from(&SecretHash::of(token).as_bytes()[..]);
        let Some(found) = self.store.record(record::JOIN_TOKEN, &key).await? else {
            return self.redeemed(credential, node).await;
        };
        let now = self.now();
        if found.expires_at.is_some_and(|end| end <= now) {
            return Err(refused());
        }
        let JoinDocument { pool, created_by } = record::decode(&found)?;
        let document = CredentialDocument { node, name: name.to_owned(), pool, joined_at: now };
        let hash = SecretHash::of(&credential);
        let claim = Record {
            kind: record::NODE_CLAIM,
            key: RecordKey::from(&node.as_bytes()[..]),
            revision: 1,
            expires_at: None,
            value: record::encode(&hash).into(),
        };
        let writes = vec![
            Write::RemoveRecord { kind: record::JOIN_TOKEN, key, expected: found.revision },
            write(record::NODE_CREDENTIAL, hash, record::encode(&document), None),
            Write::PutRecord(Box::new(claim)),
        ];
        let entry =
            node_entry(now, Operation::NodeInvite, &created_by, Some(format!("{node} joined as {name}")));
        let entry = Entry { target: Some(node.to_string().into()), ..entry };
        if self.has_credential(node).await? {
            // The same question may have been answered a moment ago.
            if let Ok(known) = self.redeemed(credential, node).await {
                return Ok(known);
            }
            let detail = Some(format!("{node} has joined already").into());
            return self.refused(Entry { detail, ..entry }, taken(node)).await;
        }
        let outcomes = self.journal.commit(writes, entry).await?;
        match outcomes.iter().all(|outcome| *outcome == Outcome::Applied) {
            true => Ok(credential),
            false => self.redeemed(credential, node).await,
        }
    }

    /// The credential, if it is the node's already.
    async fn redeemed(&self, credential: String, node: NodeId) -> Result<String> {
        match self.authenticate_node(&credential).await? {
            known if known.node == node => Ok(credential),
            _ => Err(refused()),
        }
    }

    /// Takes a node's credential away, so that it is not let in again; one that is connected is disconnected. The row of one
    /// that is lost or has left goes too. The node may join anew with a join token.
    pub async fn remove_node(&self, caller: &Caller, node: NodeId, condition: Precondition) -> Result<()> {
        self.allow(caller, Operation::NodeRemove, None).await?;
        let target = Some(node.to_string().into());
        let entry = Entry { target, ..caller.entry(self.now(), Operation::NodeRemove, None) };
        let row = self.store.node(node).await?;
        let mut writes = self.credentials_of(node).await?;
        if row.is_none() && writes.is_empty() {
            return self.refused(entry, Error::not_found(node)).await;
        }
        let (_, assigned) = self.assigned(node).await?;
        if let Err(error) = condition.check(row.as_ref().map(|row| row.revision + assigned)) {
            return self.refused(entry, error).await;
        }
        let key = RecordKey::from(&node.as_bytes()[..]);
        if let Some(row) = row.filter(mainspring_model::Node::is_gone) {
            writes.push(Write::RemoveNode { id: node, expected: row.revision });
            if assigned > 0 {
                let (kind, key) = (record::NODE_LABELS, key.clone());
                writes.push(Write::RemoveRecord { kind, key, expected: assigned });
            }
        }
        if let Some(claim) = self.store.record(record::NODE_CLAIM, &key).await? {
            writes.push(Write::RemoveRecord { kind: record::NODE_CLAIM, key, expected: claim.revision });
        }
        self.journal.write(writes, entry).await?;
        // Where its owner is another server, that one finds out by itself. It says hello again, and is not let in.
        self.cells.relabelled(node).await;
        Ok(())
    }

    pub(crate) async fn has_credential(&self, node: NodeId) -> Result<bool> {
        Ok(has_credential(&*self.store, node).await?)
    }

    /// The removals of all credentials of a node. They are found by reading all: it is done when somebody removes a node.
    async fn credentials_of(&self, node: NodeId) -> Result<Vec<Write>> {
        let mut removals = Vec::new();
        let mut query = RecordQuery::all(record::NODE_CREDENTIAL, limits::PAGE_ROWS_MAX);
        loop {
            let page = self.store.records(query.clone()).await?;
            for row in &page.rows {
                if record::decode::<CredentialDocument>(row)?.node == node {
                    let (kind, key) = (row.kind, row.key.clone());
                    removals.push(Write::RemoveRecord { kind, key, expected: row.revision });
                }
            }
            match page.rows.last().filter(|_| page.more) {
                Some(last) => query.after = Some(last.key.clone()),
                None => return Ok(removals),
            }
        }
    }

    /// Whose credential this is.
    pub async fn authenticate_node(&self, credential: &str) -> Result<NodeIdentity> {
        if !SecretKind::Node.fits(credential) {
            return Err(refused());
        }
        let key = RecordKey::from(&SecretHash::of(credential).as_bytes()[..]);
        let found = self.store.record(record::NODE_CREDENTIAL, &key).await?.ok_or_else(refused)?;
        let document: CredentialDocument = record::decode(&found)?;
        Ok(NodeIdentity { node: document.node, pool: document.pool })
    }
}

/// Whether a node was let in, and nobody has taken its credential since.
pub async fn has_credential(store: &dyn Store, node: NodeId) -> mainspring_store::Result<bool> {
    Ok(store.record(record::NODE_CLAIM, &RecordKey::from(&node.as_bytes()[..])).await?.is_some())
}

/// Who knows the token and the nonce knows the credential; who knows only one of them knows nothing.
fn credential(token: &str, nonce: &[u8]) -> String {
    let mut source = Vec::with_capacity(token.len() + 1 + nonce.len());
    source.extend_from_slice(token.as_bytes());
    source.push(0);
    source.extend_from_slice(nonce);
    SecretKind::Node.secret(sha256(&source))
}

fn node_entry(now: Timestamp, operation: Operation, actor: &str, detail: Option<String>) -> Entry {
    Entry {
        at: now,
        actor: Arc::from(actor),
        token: None,
        operation,
        namespace: None,
        target: None,
        outcome: audit::Outcome::Allowed,
        detail: detail.map(Into::into),
        request_id: None,
        from: None,
    }
}

fn write(
    kind: mainspring_store::RecordKind,
    hash: SecretHash,
    value: Vec<u8>,
    expires_at: Option<Timestamp>,
) -> Write {
    let key = RecordKey::from(&hash.as_bytes()[..]);
    Write::PutRecord(Box::new(Record { kind, key, revision: 1, expires_at, value: value.into() }))
}

fn taken(node: NodeId) -> Error {
    let message = format!("{node} has joined already; remove the node before it joins anew");
    Error::new(ErrorCode::Forbidden, message)
}

fn refused() -> Error {
    Error::new(
        ErrorCode::Unauthenticated,
        "the join token or credential is unknown, used up, expired or revoked",
    )
}
