//! API tokens: made, listed, revoked. One's own by anybody, others' by who is admin everywhere.
//!
//! A token never allows more than its maker may: its scopes limit it, its subject's roles limit it, and a token that is made
//! with a limited token carries the limits of that one.

use std::time::Duration;

use mainspring_model::{ErrorCode, Timestamp, duration_text, limits as model_limits};
use mainspring_store::{Conflict, Outcome, Record, RecordKey, RecordQuery, Write};
use mainspring_wire::api::{CreateToken, CreatedToken, Page, Token, TokenKind, TokenScope};

use super::documents::TokenDocument;
use super::subject;
use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::limits::{SCOPES_MAX, TOKEN_TTL_DEFAULT};
use crate::operation::Operation;
use crate::paging::{PageRequest, visible};
use crate::precondition::Precondition;
use crate::principal::{Caller, Principal};
use crate::record;
use crate::secret::{SecretHash, SecretKind, from_hex};

impl App {
    /// Makes a token.
    pub async fn create_token(&self, caller: &Caller, request: CreateToken) -> Result<CreatedToken> {
        let subject = request.subject.clone().unwrap_or_else(|| caller.subject().to_owned());
        let operation = match subject == caller.subject() {
            true => Operation::TokenCreate,
            false => Operation::TokenCreateOther,
        };
        self.allow(caller, operation, None).await?;
        let now = self.now();
        subject::check(&subject)?;
        let expires_at = now + ttl_of(request.ttl.as_deref(), TOKEN_TTL_DEFAULT, model_limits::DURATION_MAX)?;
        // A token that is made with one that ends does not outlive it.
        let expires_at = match (operation, caller.principal.expires_at) {
            (Operation::TokenCreate, Some(end)) => expires_at.min(end.max(now)),
            _ => expires_at,
        };
        let document = TokenDocument {
            subject: subject.clone(),
            name: name_of(request.name)?,
            session: false,
            scopes: scopes_of(&caller.principal, operation, request.scopes)?,
            created_at: now,
            created_by: caller.subject().into(),
            // A token outlasts the token or session that made it: people make them in the console, and the next with the last.
            origins: Vec::new(),
        };
        let (secret, hash) = self.fresh_secret(SecretKind::Api);
        let entry = Entry {
            target: Some(hash.id().into()),
            detail: Some(format!("for {subject}").into()),
            ..caller.entry(now, operation, None)
        };
        self.journal.write(vec![write(hash, &document, Some(expires_at))], entry).await?;
        Ok(CreatedToken { token: token(hash, document, Some(expires_at), 1), secret })
    }

    /// Lists one's own tokens, or everybody's.
    pub async fn list_tokens(
        &self,
        caller: &Caller,
        all: bool,
        request: &PageRequest,
    ) -> Result<Page<Token>> {
        let operation = if all { Operation::TokenListAll } else { Operation::TokenList };
        self.allow(caller, operation, None).await?;
        let own = |token: &Token| all || token.subject == caller.subject();
        let query = request.records(record::TOKEN, &[])?;
        let mut page = visible(&*self.store, query, |row| Ok(read(row)?.filter(own))).await?;
        self.add_uses(&mut page.items).await;
        Ok(page)
    }

    /// Reads a token.
    pub async fn token(&self, caller: &Caller, id: &str) -> Result<Token> {
        let (_, mut token) = self.find_token(id).await?;
        match token.subject == caller.subject() {
            true => self.allow(caller, Operation::TokenGet, None).await?,
            false => self.hide_token(caller, Operation::TokenGetOther, id).await?,
        }
        self.add_uses(std::slice::from_mut(&mut token)).await;
        Ok(token)
    }

    /// Revokes a token, at once in this process.
    pub async fn delete_token(&self, caller: &Caller, id: &str, condition: Precondition) -> Result<()> {
        let (key, token) = self.find_token(id).await?;
        let operation = match token.subject == caller.subject() {
            true => Operation::TokenDelete,
            false => Operation::TokenDeleteOther,
        };
        self.hide_token(caller, operation, id).await?;
        // Whoever was given a part of somebody's rights is not given the others of their tokens.
        if !caller.principal.scopes.is_empty() && *caller.principal.token != *id {
            self.deny(caller, operation, None, Some(id.to_owned())).await;
            return Err(Error::new(ErrorCode::Forbidden, "a token with scopes revokes only itself"));
        }
        let entry = Entry { target: Some(id.into()), ..caller.entry(self.now(), operation, None) };
        if let Err(error) = condition.check(Some(token.revision)) {
            return self.refused(entry, error).await;
        }
        let removal = Write::RemoveRecord { kind: record::TOKEN, key, expected: token.revision };
        self.revoke(removal, entry).await
    }

    /// Removes a token or a session. One that is gone already is as good as removed.
    pub(super) async fn revoke(&self, removal: Write, entry: Entry) -> Result<()> {
        let outcomes = self.journal.commit(vec![removal], entry).await;
        self.principals.forget();
        match outcomes?.first() {
            Some(Outcome::Applied | Outcome::Conflict(Conflict::Missing)) => Ok(()),
            _ => Err(changed()),
        }
    }

    /// Goes on if the caller may; otherwise there is no such token.
    async fn hide_token(&self, caller: &Caller, operation: Operation, id: &str) -> Result<()> {
        if caller.principal.may(operation, None) {
            return Ok(());
        }
        self.deny(caller, operation, None, Some(id.to_owned())).await;
        Err(Error::not_found(format!("token `{id}`")))
    }

    async fn find_token(&self, id: &str) -> Result<(RecordKey, Token)> {
        let missing = || Error::not_found(format!("token `{id}`"));
        let prefix =
            id.strip_prefix("tok_").and_then(from_hex).filter(|key| key.len() == 12).ok_or_else(missing)?;
        let query = RecordQuery { prefix: prefix.into(), ..RecordQuery::all(record::TOKEN, 1) };
        let page = self.store.records(query).await?;
        let row = page.rows.first().ok_or_else(missing)?;
        Ok((row.key.clone(), read(row)?.ok_or_else(missing)?))
    }

    /// A new secret and its hash.
    pub(super) fn fresh_secret(&self, kind: SecretKind) -> (String, SecretHash) {
        let secret = self.random.secret(kind);
        let hash = SecretHash::of(&secret);
        (secret, hash)
    }
}

/// The write of a new token.
pub(super) fn write(hash: SecretHash, document: &TokenDocument, expires_at: Option<Timestamp>) -> Write {
    Write::PutRecord(Box::new(Record {
        kind: record::TOKEN,
        key: RecordKey::from(&hash.as_bytes()[..]),
        revision: 1,
        expires_at,
        value: record::encode(document).into(),
    }))
}

/// How long something is good for.
pub(crate) fn ttl_of(text: Option<&str>, default: Duration, max: Duration) -> Result<Duration> {
    let wrong = |message: String| Error::field(ErrorCode::InvalidRequest, "ttl", message);
    let ttl = match text {
        Some(text) => duration_text::parse(text).map_err(|error| wrong(error.to_string()))?,
        None => default,
    };
    if ttl.is_zero() || ttl > max {
        return Err(wrong(format!("must be more than nothing and at most {}", duration_text::format(max))));
    }
    Ok(ttl)
}

fn scopes_of(maker: &Principal, operation: Operation, asked: Vec<TokenScope>) -> Result<Vec<TokenScope>> {
    if asked.len() > SCOPES_MAX {
        let message = format!("at most {SCOPES_MAX} scopes");
        return Err(Error::field(ErrorCode::InvalidRequest, "scopes", message));
    }
    if operation == Operation::TokenCreateOther || maker.scopes.is_empty() {
        return Ok(asked);
    }
    let own = || {
        maker.scopes.iter().map(|(namespace, role)| TokenScope { namespace: namespace.clone(), role: *role })
    };
    if asked.is_empty() {
        return Ok(own().collect());
    }
    // Each scope that was asked for, cut down to what the maker's own token allows there.
    let cut = |scope: TokenScope| {
        let role = own()
            .filter(|limit| match (&scope.namespace, &limit.namespace) {
                (_, None) => true,
                (None, Some(_)) => false,
                (Some(inner), Some(outer)) => inner.is_within(outer),
            })
            .map(|limit| limit.role.min(scope.role))
            .max()?;
        Some(TokenScope { role, ..scope })
    };
    let scopes: Vec<TokenScope> = asked.into_iter().filter_map(cut).collect();
    if scopes.is_empty() {
        let message = "your own token does not reach there";
        return Err(Error::field(ErrorCode::Forbidden, "scopes", message));
    }
    Ok(scopes)
}

fn name_of(name: String) -> Result<String> {
    if name.len() <= model_limits::WORD_BYTES_MAX {
        return Ok(name);
    }
    let message = format!("at most {} bytes", model_limits::WORD_BYTES_MAX);
    Err(Error::field(ErrorCode::InvalidRequest, "name", message))
}

fn read(row: &Record) -> Result<Option<Token>> {
    let Some(hash) = SecretHash::from_bytes(row.key.as_bytes()) else { return Ok(None) };
    Ok(Some(token(hash, record::decode(row)?, row.expires_at, row.revision)))
}

pub(super) fn token(
    hash: SecretHash,
    document: TokenDocument,
    expires_at: Option<Timestamp>,
    revision: u64,
) -> Token {
    Token {
        id: hash.id(),
        subject: document.subject,
        name: document.name,
        kind: if document.session { TokenKind::Session } else { TokenKind::Api },
        scopes: document.scopes,
        expires_at: expires_at.map(Into::into),
        created_at: document.created_at.into(),
        created_by: document.created_by,
        revision,
        last_used_at: None,
        from: None,
    }
}

/// Somebody else was faster.
fn changed() -> Error {
    Error::new(ErrorCode::Conflict, "it changed meanwhile")
}
