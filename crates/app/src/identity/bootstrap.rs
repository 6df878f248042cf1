//! The first admin. There is no default credential: whoever starts the server on a new store gets a token made here, and
//! keeps it in a file that only they can read.

use mainspring_model::Timestamp;
use mainspring_store::Outcome;
use mainspring_wire::api::{LoginCode, LoginCodeRequest, Role};

use super::documents::{GrantDocument, LoginCodeDocument, TokenDocument};
use super::sessions::{login_code, write_code};
use super::{grants, tokens};
use crate::app::App;
use crate::audit::{self, Entry};
use crate::error::Result;
use crate::limits::LOGIN_CODE_TTL_DEFAULT;
use crate::operation::Operation;
use crate::principal::Caller;
use crate::record;
use crate::secret::SecretKind;

/// What the first start made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bootstrap {
    /// The secret of the first token; it has no end and is not shown again.
    pub token: String,
}

/// Who the first admin is.
const FIRST_ADMIN: &str = "admin";

impl App {
    /// Makes the first admin and a token for them, if nobody is admin everywhere. Of several that try at once, one does.
    pub async fn bootstrap(&self) -> Result<Option<Bootstrap>> {
        let mut admins = 0usize;
        grants::for_each(&*self.store, &[], |member| {
            admins += usize::from(member.namespace.is_none() && member.role == Role::Admin);
        })
        .await?;
        if admins > 0 {
            return Ok(None);
        }
        let grant =
            GrantDocument { role: Role::Admin, granted_at: self.now(), granted_by: "bootstrap".into() };
        let revision = match self.store.record(record::GRANT, &grants::key(FIRST_ADMIN, None)).await? {
            Some(found) => found.revision + 1,
            None => 1,
        };
        let grant = grants::write(FIRST_ADMIN, None, &grant, revision);
        let (token, write) = self.admin_token(self.now());
        let entry = self.bootstrap_entry(Operation::MemberPut, FIRST_ADMIN);
        let outcomes = self.journal.commit(vec![grant, write], entry).await?;
        self.principals.forget();
        let first = outcomes.iter().all(|outcome| *outcome == Outcome::Applied);
        Ok(first.then_some(Bootstrap { token }))
    }

    /// A further token for the first admin, for whoever can run commands on the server's machine and lost the first.
    pub async fn issue_admin_token(&self) -> Result<String> {
        let (token, write) = self.admin_token(self.now());
        let entry = self.bootstrap_entry(Operation::TokenCreateOther, FIRST_ADMIN);
        self.journal.write(vec![write], entry).await?;
        Ok(token)
    }

    /// A code that opens one session of the first admin: the link that is printed at start.
    pub async fn issue_login_code(&self) -> Result<LoginCode> {
        let expires_at = self.now() + LOGIN_CODE_TTL_DEFAULT;
        let document = LoginCodeDocument {
            subject: FIRST_ADMIN.into(),
            scopes: Vec::new(),
            created_by: "bootstrap".into(),
            origins: Vec::new(),
            ends: None,
        };
        let (code, hash) = self.fresh_secret(SecretKind::LoginCode);
        let entry = self.bootstrap_entry(Operation::LoginCodeCreate, FIRST_ADMIN);
        self.journal.write(vec![write_code(hash, &document, expires_at)], entry).await?;
        Ok(login_code(code, expires_at))
    }

    /// A code that opens one session of whoever has this token.
    pub async fn issue_login_code_of(&self, token: &str) -> Result<LoginCode> {
        let caller = Caller::new(self.authenticate(token).await?);
        self.create_login_code(&caller, LoginCodeRequest::default()).await
    }

    fn admin_token(&self, now: Timestamp) -> (String, mainspring_store::Write) {
        let document = TokenDocument {
            subject: FIRST_ADMIN.into(),
            name: "bootstrap".into(),
            session: false,
            scopes: Vec::new(),
            created_at: now,
            created_by: "bootstrap".into(),
            origins: Vec::new(),
        };
        let (secret, hash) = self.fresh_secret(SecretKind::Api);
        (secret, tokens::write(hash, &document, None))
    }

    fn bootstrap_entry(&self, operation: Operation, target: &str) -> Entry {
        Entry {
            at: self.now(),
            actor: "bootstrap".into(),
            token: None,
            operation,
            namespace: None,
            target: Some(target.into()),
            outcome: audit::Outcome::Allowed,
            detail: None,
            request_id: None,
            from: None,
        }
    }
}
