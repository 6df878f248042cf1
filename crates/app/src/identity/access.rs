//! Why somebody may do something: the operation's row of the permission table, and the subject's grant that decides.

use mainspring_model::{ErrorCode, Namespace};
use mainspring_wire::api::{Access, AccessPlace, Grant, Role};

use super::{grants, subject};
use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::{Operation, Place};
use crate::principal::Caller;

impl App {
    /// Whether somebody may do something in a namespace, or everywhere.
    pub async fn access(
        &self,
        caller: &Caller,
        who: &str,
        operation: &str,
        namespace: Option<&Namespace>,
    ) -> Result<Access> {
        self.allow(caller, Operation::AccessGet, namespace).await?;
        subject::check(who)?;
        let found = Operation::parse(operation).ok_or_else(|| {
            let message =
                format!("`{operation}` is no operation; `x-permission` in /openapi.json names them");
            Error::field(ErrorCode::InvalidRequest, "operation", message)
        })?;
        let roles = grants::of_subject(&*self.store, who).await?;
        let place = match found.place() {
            Place::Namespace => AccessPlace::Namespace,
            Place::Cluster => AccessPlace::Everywhere,
            Place::SignedIn => AccessPlace::SignedIn,
            Place::Anyone => AccessPlace::Anyone,
        };
        let (needs, at) = match place {
            AccessPlace::Namespace => (Some(found.role()), namespace),
            AccessPlace::Everywhere => (Some(found.role()), None),
            AccessPlace::SignedIn | AccessPlace::Anyone => (None, None),
        };
        let grant = needs.and_then(|_| deciding(roles, at));
        let allowed = needs.is_none_or(|role| grant.as_ref().is_some_and(|grant| grant.role >= role));
        Ok(Access {
            subject: who.to_owned(),
            operation: found.name().into(),
            namespace: namespace.cloned(),
            allowed,
            needs,
            place,
            grant,
        })
    }
}

/// The highest role that holds in a place; of several, the one that was given nearest to it.
fn deciding(roles: Vec<(Option<Namespace>, Role)>, at: Option<&Namespace>) -> Option<Grant> {
    let holds = |given: &Option<Namespace>| match (given, at) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(given), Some(at)) => at.is_within(given),
    };
    let held = roles.into_iter().filter(|(given, _)| holds(given));
    let nearest = held.max_by(|(one, role), (other, other_role)| (role, one).cmp(&(other_role, other)));
    nearest.map(|(namespace, role)| Grant { namespace, role })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_role_decides_and_of_equals_the_nearest() {
        let path = |path: &str| path.parse::<Namespace>().unwrap();
        let check =
            |roles: &[(Option<&str>, Role)], at: Option<&str>, expected: Option<(Option<&str>, Role)>| {
                let roles = roles.iter().map(|(place, role)| (place.map(path), *role)).collect();
                let found = deciding(roles, at.map(path).as_ref()).map(|grant| (grant.namespace, grant.role));
                assert_eq!(found, expected.map(|(place, role)| (place.map(path), role)));
            };
        let (viewer, admin) = (Role::Viewer, Role::Admin);
        check(&[], Some("acme"), None);
        check(&[(Some("acme"), viewer)], Some("acme/data"), Some((Some("acme"), viewer)));
        check(&[(Some("acme/data"), admin)], Some("acme"), None);
        check(&[(Some("acme"), admin)], None, None);
        check(&[(None, viewer), (Some("acme"), admin)], Some("acme"), Some((Some("acme"), admin)));
        check(&[(None, admin), (Some("acme"), admin)], Some("acme/x"), Some((Some("acme"), admin)));
        check(&[(None, admin), (Some("acme"), viewer)], Some("acme"), Some((None, admin)));
    }
}
