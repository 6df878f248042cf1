//! Sessions of the console: opened with a one-time code or a token, ended by their owner.
//!
//! A session and a login code come from a token or from another session, and are good no longer than that.

use mainspring_model::{ErrorCode, Timestamp};
use mainspring_store::{Outcome, Record, RecordKey, Write};
use mainspring_wire::api::{
    Identity, LoginCode, LoginCodeRequest, ServerNow, Session, SessionRequest, TokenScope,
};

use super::admins;
use super::authenticate::unauthenticated;
use super::documents::{LoginCodeDocument, TokenDocument};
use super::tokens::{self, ttl_of};
use crate::app::App;
use crate::audit::{self, Entry};
use crate::error::{Error, Result};
use crate::limits::{LOGIN_CODE_TTL_DEFAULT, LOGIN_CODE_TTL_MAX, SESSION_ORIGINS_MAX, SESSION_TTL};
use crate::operation::Operation;
use crate::principal::{Caller, Principal};
use crate::record;
use crate::secret::{SecretHash, SecretKind};

/// A session that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// For the cookie and nobody else.
    pub secret: String,
    /// What the API tells.
    pub session: Session,
}

impl App {
    /// Who asks, what they may do and whom they can ask for more.
    pub async fn me(&self, caller: &Caller) -> Result<Identity> {
        self.identity_of(&caller.principal).await
    }

    async fn identity_of(&self, principal: &Principal) -> Result<Identity> {
        let grants = principal.effective_grants();
        Ok(Identity {
            subject: principal.subject.as_ref().into(),
            token: principal.token.as_ref().into(),
            expires_at: principal.expires_at.map(Into::into),
            admins: admins::around(&*self.store, &grants).await?,
            grants,
            server: Some(self.server_now()),
        })
    }

    /// This server at this moment.
    pub fn server_now(&self) -> ServerNow {
        ServerNow { software: env!("CARGO_PKG_VERSION").into(), now: self.now().into() }
    }

    /// Opens a session for a login code or a token. `entry` tells the audit what is known of the request.
    pub async fn open_session(&self, request: SessionRequest, from: &Origin) -> Result<Opened> {
        match (request.code.as_deref(), request.token.as_deref()) {
            (Some(code), None) => self.open_by_code(code, from).await,
            (None, Some(token)) => self.open_by_token(token, from).await,
            _ => Err(Error::new(ErrorCode::InvalidRequest, "give either `code` or `token`")),
        }
    }

    async fn open_by_code(&self, code: &str, from: &Origin) -> Result<Opened> {
        if !SecretKind::LoginCode.fits(code) {
            return Err(unauthenticated());
        }
        let key = RecordKey::from(&SecretHash::of(code).as_bytes()[..]);
        let found = self.store.record(record::LOGIN_CODE, &key).await?.ok_or_else(unauthenticated)?;
        if found.expires_at.is_some_and(|end| end <= self.now()) {
            return Err(unauthenticated());
        }
        let LoginCodeDocument { subject, scopes, origins, ends, .. } = record::decode(&found)?;
        self.check_origins(&origins).await?;
        let removal = Write::RemoveRecord { kind: record::LOGIN_CODE, key, expected: found.revision };
        self.open(Opening { subject, scopes, origins, ends }, vec![removal], from).await
    }

    async fn open_by_token(&self, secret: &str, from: &Origin) -> Result<Opened> {
        let principal = self.authenticate(secret).await?;
        let opening = Opening {
            subject: principal.subject.as_ref().into(),
            scopes: scopes_of(&principal),
            origins: origins_of(&principal)?,
            ends: principal.expires_at,
        };
        self.open(opening, Vec::new(), from).await
    }

    async fn open(
        &self,
        Opening { subject, scopes, origins, ends }: Opening,
        mut writes: Vec<Write>,
        from: &Origin,
    ) -> Result<Opened> {
        let now = self.now();
        let expires_at = ends.map_or(now + SESSION_TTL, |end| end.min(now + SESSION_TTL));
        let (secret, hash) = self.fresh_secret(SecretKind::Session);
        let document = TokenDocument {
            subject: subject.clone(),
            name: "console".into(),
            session: true,
            scopes,
            created_at: now,
            created_by: subject.clone(),
            origins,
        };
        let entry = Entry {
            at: now,
            actor: subject.into(),
            token: None,
            operation: Operation::SessionCreate,
            namespace: None,
            target: Some(hash.id().into()),
            outcome: audit::Outcome::Allowed,
            detail: None,
            request_id: from.request_id.clone(),
            from: from.address,
        };
        writes.push(tokens::write(hash, &document, Some(expires_at)));
        let outcomes = self.journal.commit(writes, entry).await?;
        if outcomes.iter().any(|outcome| *outcome != Outcome::Applied) {
            // The code was used a moment ago.
            return Err(unauthenticated());
        }
        let identity = self.identity_of(&*self.authenticate(&secret).await?).await?;
        Ok(Opened { secret, session: Session { identity, expires_at: expires_at.into() } })
    }

    /// Ends the session, or revokes the token, that the call came with.
    pub async fn end_session(&self, caller: &Caller) -> Result<()> {
        self.allow(caller, Operation::SessionDelete, None).await?;
        let principal = &caller.principal;
        let entry = Entry {
            target: Some(principal.token.as_ref().into()),
            ..caller.entry(self.now(), Operation::SessionDelete, None)
        };
        let key = RecordKey::from(&principal.hash.as_bytes()[..]);
        let Some(found) = self.store.record(record::TOKEN, &key).await? else {
            self.journal.note(entry).await;
            return Ok(());
        };
        let document: TokenDocument = record::decode(&found)?;
        if !document.session {
            let error =
                Error::new(ErrorCode::IllegalState, "this is an API token and no session; revoke it instead");
            return self.refused(entry, error).await;
        }
        let removal = Write::RemoveRecord { kind: record::TOKEN, key, expected: found.revision };
        self.revoke(removal, entry).await
    }

    /// Makes a code that opens one session for whoever asks, with the limits of the token they ask with.
    pub async fn create_login_code(&self, caller: &Caller, request: LoginCodeRequest) -> Result<LoginCode> {
        self.allow(caller, Operation::LoginCodeCreate, None).await?;
        let now = self.now();
        let ttl = ttl_of(request.ttl.as_deref(), LOGIN_CODE_TTL_DEFAULT, LOGIN_CODE_TTL_MAX)?;
        let ends = caller.principal.expires_at;
        let expires_at = ends.map_or(now + ttl, |end| end.min(now + ttl));
        let document = LoginCodeDocument {
            subject: caller.subject().into(),
            scopes: scopes_of(&caller.principal),
            created_by: caller.subject().into(),
            origins: origins_of(&caller.principal)?,
            ends,
        };
        let (code, hash) = self.fresh_secret(SecretKind::LoginCode);
        let entry = caller.entry(now, Operation::LoginCodeCreate, None);
        self.journal.write(vec![write_code(hash, &document, expires_at)], entry).await?;
        Ok(login_code(code, expires_at))
    }
}

/// A session to be.
struct Opening {
    subject: String,
    scopes: Vec<TokenScope>,
    origins: Vec<SecretHash>,
    ends: Option<Timestamp>,
}

fn scopes_of(principal: &Principal) -> Vec<TokenScope> {
    let scope = |(namespace, role): &(_, _)| TokenScope { namespace: Clone::clone(namespace), role: *role };
    principal.scopes.iter().map(scope).collect()
}

/// What comes from this token or session comes from all that it came from itself.
fn origins_of(principal: &Principal) -> Result<Vec<SecretHash>> {
    if principal.origins.len() >= SESSION_ORIGINS_MAX {
        let message =
            format!("a session of a session, {SESSION_ORIGINS_MAX} times over; sign in with a token");
        return Err(Error::new(ErrorCode::IllegalState, message));
    }
    Ok(principal.origins.iter().copied().chain([principal.hash]).collect())
}

/// What is known about a request of somebody who has not signed in.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The request.
    pub request_id: Option<std::sync::Arc<str>>,
    /// From where.
    pub address: Option<std::net::IpAddr>,
}

pub(super) fn write_code(hash: SecretHash, document: &LoginCodeDocument, expires_at: Timestamp) -> Write {
    Write::PutRecord(Box::new(Record {
        kind: record::LOGIN_CODE,
        key: RecordKey::from(&hash.as_bytes()[..]),
        revision: 1,
        expires_at: Some(expires_at),
        value: record::encode(document).into(),
    }))
}

pub(super) fn login_code(code: String, expires_at: Timestamp) -> LoginCode {
    // After the hash mark: browsers do not send it to servers, nor to the next page as a referrer.
    LoginCode { path: format!("/#login={code}"), code, expires_at: expires_at.into() }
}
