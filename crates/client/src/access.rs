//! Who may do what: tokens, members, namespaces, sign-in, and what was done.

use mainspring_wire::api::{
    Access, AuditCheck, AuditEntry, CreateToken, CreatedToken, Identity, LoginCode, LoginCodeRequest, Member,
    Namespace, PutMember, PutNamespace, Role, Session, SessionRequest, Token,
};

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::pages::Pages;

impl Client {
    /// Who this client is and what it may do.
    pub async fn me(&self) -> Result<Identity, Error> {
        self.ask(Call::get(&["v1", "me"])).await
    }

    /// The caller's tokens, or everybody's.
    pub fn tokens(&self, all: bool) -> Pages<Token> {
        Pages::new(self, Call::get(&["v1", "tokens"]).maybe("all", all.then_some(true)))
    }

    /// Makes a token; its secret is in the answer and nowhere else.
    pub async fn create_token(&self, request: &CreateToken) -> Result<CreatedToken, Error> {
        self.ask(Call::post(&["v1", "tokens"]).json(request)?).await
    }

    /// Revokes a token.
    pub async fn revoke_token(&self, id: &str) -> Result<(), Error> {
        self.tell(Call::delete(&["v1", "tokens", id])).await
    }

    /// A one-time code that opens a session of the console.
    pub async fn create_login_code(&self, request: &LoginCodeRequest) -> Result<LoginCode, Error> {
        self.ask(Call::post(&["v1", "login-codes"]).json(request)?).await
    }

    /// Exchanges a one-time code or a token for a session: what it is, and the cookie that carries its secret.
    pub async fn create_session(&self, request: &SessionRequest) -> Result<(Session, Option<String>), Error> {
        let answer = self.send(Call::post(&["v1", "sessions"]).json(request)?).await?;
        let cookie =
            answer.headers().get("set-cookie").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = answer.bytes().await.map_err(Error::Broken)?;
        let session = serde_json::from_slice(&body).map_err(|error| Error::Unreadable(error.to_string()))?;
        Ok((session, cookie))
    }

    /// Whether somebody may do something, and by which grant.
    pub async fn access(
        &self,
        subject: &str,
        operation: &str,
        namespace: Option<&str>,
    ) -> Result<Access, Error> {
        let call = Call::get(&["v1", "access"]).maybe("subject", Some(subject));
        self.ask(call.maybe("operation", Some(operation)).maybe("namespace", namespace)).await
    }

    /// Whether a part of the audit is as it was written.
    pub async fn verify_audit(&self, cursor: Option<&str>) -> Result<AuditCheck, Error> {
        self.ask(Call::get(&["v1", "audit", "verify"]).maybe("cursor", cursor)).await
    }

    /// Who has which role, in a namespace or everywhere that the caller may see.
    pub fn members(&self, namespace: Option<&str>) -> Pages<Member> {
        Pages::new(self, Call::get(&["v1", "members"]).maybe("namespace", namespace))
    }

    /// Gives somebody a role in a namespace, or everywhere.
    pub async fn put_member(
        &self,
        subject: &str,
        namespace: Option<&str>,
        role: Role,
    ) -> Result<Member, Error> {
        let call = Call::put(&["v1", "members", subject]).maybe("namespace", namespace);
        self.ask(call.json(&PutMember { role })?).await
    }

    /// Takes somebody's role in a namespace, or the one everywhere.
    pub async fn delete_member(&self, subject: &str, namespace: Option<&str>) -> Result<(), Error> {
        self.tell(Call::delete(&["v1", "members", subject]).maybe("namespace", namespace)).await
    }

    /// Namespaces that the caller may see.
    pub fn namespaces(&self) -> Pages<Namespace> {
        Pages::new(self, Call::get(&["v1", "namespaces"]))
    }

    /// A namespace.
    pub async fn namespace(&self, path: &str) -> Result<Namespace, Error> {
        self.ask(Call::get(&["v1", "namespaces", path])).await
    }

    /// Makes or describes a namespace.
    pub async fn put_namespace(&self, path: &str, description: &str) -> Result<Namespace, Error> {
        let request = PutNamespace { description: description.to_owned() };
        self.ask(Call::put(&["v1", "namespaces", path]).json(&request)?).await
    }

    /// Removes a namespace that is empty.
    pub async fn delete_namespace(&self, path: &str) -> Result<(), Error> {
        self.tell(Call::delete(&["v1", "namespaces", path])).await
    }

    /// Who did what, newest first.
    pub fn audit(&self, namespace: Option<&str>) -> Pages<AuditEntry> {
        Pages::new(self, Call::get(&["v1", "audit"]).maybe("namespace", namespace))
    }
}
