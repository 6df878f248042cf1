//! The people of the company, as the use cases know them: each signs in with a token that nobody keeps but `demo`'s.

use std::collections::BTreeMap;

use mainspring_app::{App, Caller, Precondition};
use mainspring_model::Namespace;
use mainspring_wire::api::{CreateToken, PutMember, Role};

use crate::company::PEOPLE;
use crate::error::Error;

/// Who looks at the demonstration: the name says what it is.
pub(crate) const VISITOR: &str = "demo";
/// As long as a demonstration may be looked at.
const TOKEN_TTL: &str = "3650d";

/// Everybody.
pub(crate) struct People {
    callers: BTreeMap<&'static str, Caller>,
    /// The visitor's token.
    pub(crate) token: String,
}

impl People {
    /// Makes the first admin, and gives everybody their roles.
    pub(crate) async fn hire(app: &App) -> Result<Self, Error> {
        let first =
            app.bootstrap().await?.ok_or_else(|| Error::Broken("there is an admin already".into()))?;
        let admin = Caller::new(app.authenticate(&first.token).await?);
        put(app, &admin, VISITOR, None, Role::Admin).await?;
        for (who, namespace, role) in PEOPLE {
            put(app, &admin, who, Some(&place(namespace)?), role).await?;
        }
        let token = token(app, &admin, VISITOR).await?;
        let mut callers = BTreeMap::new();
        callers.insert(VISITOR, Caller::new(app.authenticate(&token).await?));
        for (who, ..) in PEOPLE {
            let token = self::token(app, &admin, who).await?;
            callers.insert(who, Caller::new(app.authenticate(&token).await?));
        }
        Ok(Self { callers, token })
    }

    /// Somebody, or the visitor.
    pub(crate) fn caller(&self, who: &str) -> Caller {
        let found = self.callers.get(who).or_else(|| self.callers.get(VISITOR));
        found.cloned().unwrap_or_else(|| unreachable!("the visitor is always there"))
    }
}

/// A namespace of the company.
pub(crate) fn place(path: &str) -> Result<Namespace, Error> {
    path.parse().map_err(|error| Error::Broken(format!("namespace {path}: {error}")))
}

async fn put(
    app: &App,
    admin: &Caller,
    who: &str,
    namespace: Option<&Namespace>,
    role: Role,
) -> Result<(), Error> {
    app.put_member(admin, who, namespace, PutMember { role }, Precondition::None).await?;
    Ok(())
}

async fn token(app: &App, admin: &Caller, who: &str) -> Result<String, Error> {
    let request = CreateToken {
        subject: Some(who.to_owned()),
        name: "demonstration".to_owned(),
        ttl: Some(TOKEN_TTL.to_owned()),
        ..CreateToken::default()
    };
    Ok(app.create_token(admin, request).await?.secret)
}
