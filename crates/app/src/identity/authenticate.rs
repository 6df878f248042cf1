//! From a secret to who asks, with a short memory.
//!
//! A miss costs two reads, for a session one more for what it came from; a hit costs one hash. The memory holds nothing that was changed by this process after it was
//! read: every change starts a new generation, and what was read under an older one is not kept.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use mainspring_model::{ErrorCode, Namespace};
use mainspring_store::RecordKey;
use mainspring_wire::api::Role;
use rustc_hash::FxHashMap;

use super::documents::TokenDocument;
use super::grants;
use crate::app::App;
use crate::error::{Error, Result};
use crate::principal::{Caller, Principal};
use crate::record;
use crate::secret::{SecretHash, SecretKind};

/// Principals remembered at most; then the memory begins anew.
const REMEMBERED_MAX: usize = 10_000;

/// The memory of who is who.
#[derive(Debug)]
pub(crate) struct Principals {
    ttl: Duration,
    generation: AtomicU64,
    known: RwLock<FxHashMap<SecretHash, (Arc<Principal>, Instant)>>,
}

impl Principals {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self { ttl, generation: AtomicU64::new(0), known: RwLock::default() }
    }

    /// Something about tokens or roles changed.
    pub(crate) fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.known.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn get(&self, hash: &SecretHash, since: Option<Instant>) -> Option<Arc<Principal>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known
            .get(hash)
            .filter(|(_, read_at)| {
                read_at.elapsed() < self.ttl && since.is_none_or(|since| *read_at >= since)
            })
            .map(|(principal, _)| principal.clone())
    }

    fn put(&self, principal: &Arc<Principal>, generation: u64, read_at: Instant) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if self.generation.load(Ordering::SeqCst) != generation {
            return;
        }
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(principal.hash, (principal.clone(), read_at));
    }
}

impl App {
    /// Who shows this secret: an API token, or the secret of a session.
    pub async fn authenticate(&self, secret: &str) -> Result<Arc<Principal>> {
        self.authenticate_since(secret, None).await
    }

    /// Whether this secret was good when it was last shown here. It may have ended since.
    pub fn remembers(&self, secret: &str) -> bool {
        let known = self.principals.known.read().unwrap_or_else(PoisonError::into_inner);
        known.contains_key(&SecretHash::of(secret))
    }

    /// The same; what was read before the moment is read anew.
    pub async fn authenticate_since(&self, secret: &str, since: Option<Instant>) -> Result<Arc<Principal>> {
        if ![SecretKind::Api, SecretKind::Session].iter().any(|kind| kind.fits(secret)) {
            return Err(unauthenticated());
        }
        let hash = SecretHash::of(secret);
        let principal = match self.principals.get(&hash, since) {
            Some(principal) => principal,
            None => self.read_principal(hash).await?,
        };
        if principal.expires_at.is_some_and(|end| end <= self.now()) {
            return Err(unauthenticated());
        }
        Ok(principal)
    }

    /// The same caller with what they may do by now; an error when their token is no longer good. For long streams.
    pub async fn refresh(&self, caller: &Caller) -> Result<Caller> {
        let hash = caller.principal.hash;
        let principal = match self.principals.get(&hash, None) {
            Some(principal) => principal,
            None => self.read_principal(hash).await?,
        };
        if principal.expires_at.is_some_and(|end| end <= self.now()) {
            return Err(unauthenticated());
        }
        Ok(Caller { principal, ..caller.clone() })
    }

    /// The roles that a subject has by now.
    pub(crate) async fn grants_of(&self, subject: &str) -> Result<Vec<(Option<Namespace>, Role)>> {
        grants::of_subject(&*self.store, subject).await
    }

    async fn read_principal(&self, hash: SecretHash) -> Result<Arc<Principal>> {
        let generation = self.principals.generation.load(Ordering::SeqCst);
        let read_at = Instant::now();
        let key = RecordKey::from(&hash.as_bytes()[..]);
        let found = self.store.record(record::TOKEN, &key).await?.ok_or_else(unauthenticated)?;
        let document: TokenDocument = record::decode(&found)?;
        self.check_origins(&document.origins).await?;
        let grants = grants::of_subject(&*self.store, &document.subject).await?;
        let principal = Arc::new(Principal {
            subject: document.subject.into(),
            token: hash.id().into(),
            hash,
            expires_at: found.expires_at,
            grants,
            origins: document.origins,
            scopes: document.scopes.into_iter().map(|scope| (scope.namespace, scope.role)).collect(),
        });
        self.principals.put(&principal, generation, read_at);
        Ok(principal)
    }

    /// Goes on only if everything that a session or a login code came from is still good: whoever takes a token back takes
    /// back what was made of it.
    pub(super) async fn check_origins(&self, origins: &[SecretHash]) -> Result<()> {
        for origin in origins {
            let found = self.store.record(record::TOKEN, &RecordKey::from(&origin.as_bytes()[..])).await?;
            let found = found.ok_or_else(unauthenticated)?;
            if found.expires_at.is_some_and(|end| end <= self.now()) {
                return Err(unauthenticated());
            }
        }
        Ok(())
    }
}

pub(super) fn unauthenticated() -> Error {
    Error::new(ErrorCode::Unauthenticated, "the token or session is unknown, expired or revoked")
}
