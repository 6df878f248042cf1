//! Who asks: a subject with a token, the roles of the subject, the limits of the token. Pure; where they are read from is
//! `identity/`.
//!
//! A role on a namespace holds in all below it. The token's scopes only take away. Invariant: without a grant there is no
//! role, and an unknown namespace is nobody's but those who have a role everywhere or above it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use mainspring_model::{Namespace, Timestamp};
use mainspring_wire::api::{Grant, Role};

use crate::audit::{Entry, Outcome};
use crate::operation::{Operation, Place};
use crate::secret::SecretHash;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Who: a person or a program.
    pub subject: Arc<str>,
    /// The token's name for people.
    pub token: Arc<str>,
    /// The token.
    pub(crate) hash: SecretHash,
    /// The token is good until then.
    pub expires_at: Option<Timestamp>,
    /// The subject's roles; nowhere is everywhere.
    pub(crate) grants: Vec<(Option<Namespace>, Role)>,
    /// What a session came from, the oldest first.
    pub(crate) origins: Vec<SecretHash>,
    /// What the token is limited to; none is no limit.
    pub(crate) scopes: Vec<(Option<Namespace>, Role)>,
}

/// One request of somebody.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who.
    pub principal: Arc<Principal>,
    /// The request, for the audit and the log.
    pub request_id: Option<Arc<str>>,
    /// From where.
    pub from: Option<IpAddr>,
    /// Nothing is believed that was read before this: they may have changed it, at the server that passed the request on.
    pub reads_since: Option<Instant>,
}

impl Principal {
    /// The role in a namespace, or with none the role everywhere.
    pub fn role_in(&self, namespace: Option<&Namespace>) -> Option<Role> {
        let granted = highest(&self.grants, namespace)?;
        if self.scopes.is_empty() {
            return Some(granted);
        }
        highest(&self.scopes, namespace).map(|limit| limit.min(granted))
    }

    /// Whether the operation is allowed on something in `namespace`; with none, on all namespaces at once.
    pub fn may(&self, operation: Operation, namespace: Option<&Namespace>) -> bool {
        match operation.place() {
            Place::Namespace => self.role_in(namespace) >= Some(operation.role()),
            Place::Cluster => self.role_in(None) >= Some(operation.role()),
            Place::SignedIn | Place::Anyone => true,
        }
    }

    /// The outermost namespaces in which the operation is allowed. None is everywhere.
    pub fn places(&self, operation: Operation) -> Vec<Option<Namespace>> {
        let mut places: Vec<Option<Namespace>> = Vec::new();
        for (namespace, _) in self.grants.iter().chain(&self.scopes) {
            let covered = |place: &Option<Namespace>| is_within(namespace.as_ref(), place.as_ref());
            if self.may(operation, namespace.as_ref()) && !places.iter().any(covered) {
                places.retain(|place| !is_within(place.as_ref(), namespace.as_ref()));
                places.push(namespace.clone());
            }
        }
        places.sort();
        places
    }

    /// The roles with the limits of the token applied, by place.
    pub(crate) fn effective_grants(&self) -> Vec<Grant> {
        let mut grants: Vec<Grant> = Vec::new();
        for (namespace, _) in self.grants.iter().chain(&self.scopes) {
            if let Some(role) = self.role_in(namespace.as_ref())
                && !grants.iter().any(|grant| grant.namespace == *namespace)
            {
                grants.push(Grant { namespace: namespace.clone(), role });
            }
        }
        grants.sort_by(|one, other| one.namespace.cmp(&other.namespace));
        grants
    }
}

impl Caller {
    /// A caller about whose request nothing is known.
    pub fn new(principal: Arc<Principal>) -> Self {
        Self { principal, request_id: None, from: None, reads_since: None }
    }

    /// The subject's name.
    pub fn subject(&self) -> &str {
        &self.principal.subject
    }

    /// An entry of the audit about this call.
    pub(crate) fn entry(&self, now: Timestamp, operation: Operation, namespace: Option<&Namespace>) -> Entry {
        Entry {
            at: now,
            actor: self.principal.subject.clone(),
            token: Some(self.principal.token.clone()),
            operation,
            namespace: namespace.cloned(),
            target: None,
            outcome: Outcome::Allowed,
            detail: None,
            request_id: self.request_id.clone(),
            from: self.from,
        }
    }
}

/// The highest role that holds in the namespace.
fn highest(roles: &[(Option<Namespace>, Role)], namespace: Option<&Namespace>) -> Option<Role> {
    roles.iter().filter(|(place, _)| is_within(namespace, place.as_ref())).map(|(_, role)| *role).max()
}

fn is_within(inner: Option<&Namespace>, outer: Option<&Namespace>) -> bool {
    match (inner, outer) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(inner), Some(outer)) => inner.is_within(outer),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    type Roles<'a> = &'a [(&'a str, Role)];

    fn namespace(path: &str) -> Option<Namespace> {
        (path != "*").then(|| path.parse().unwrap())
    }

    pub(crate) fn principal(grants: Roles<'_>, scopes: Roles<'_>) -> Principal {
        let roles = |roles: Roles<'_>| roles.iter().map(|(path, role)| (namespace(path), *role)).collect();
        Principal {
            subject: "ann".into(),
            token: "tok_1".into(),
            hash: SecretHash::of("x"),
            expires_at: None,
            grants: roles(grants),
            origins: Vec::new(),
            scopes: roles(scopes),
        }
    }

    fn check(grants: Roles<'_>, scopes: Roles<'_>, place: &str, expected: Option<Role>) {
        let found = principal(grants, scopes).role_in(namespace(place).as_ref());
        assert_eq!(found, expected, "{grants:?} limited to {scopes:?} in {place}");
    }

    use Role::{Admin, Editor, Operator, Viewer};

    #[test]
    fn roles_hold_downwards_only() {
        check(&[], &[], "acme", None);
        check(&[("acme", Editor)], &[], "acme", Some(Editor));
        check(&[("acme", Editor)], &[], "acme/data/etl", Some(Editor));
        check(&[("acme/data", Editor)], &[], "acme", None);
        check(&[("acme", Editor)], &[], "acme-two", None);
        check(&[("acme", Editor)], &[], "*", None);
        check(&[("*", Viewer), ("acme", Admin)], &[], "acme/x", Some(Admin));
        check(&[("*", Admin), ("acme", Viewer)], &[], "acme/x", Some(Admin));
        check(&[("*", Viewer)], &[], "*", Some(Viewer));
    }

    #[test]
    fn scopes_only_take_away() {
        check(&[("*", Admin)], &[("acme", Operator)], "acme/x", Some(Operator));
        check(&[("*", Admin)], &[("acme", Operator)], "other", None);
        check(&[("*", Admin)], &[("acme", Operator)], "*", None);
        check(&[("acme", Viewer)], &[("*", Admin)], "acme", Some(Viewer));
        check(&[("acme", Viewer)], &[("*", Admin)], "other", None);
    }

    #[test]
    fn places_are_the_outermost() {
        let places = |grants, scopes| principal(grants, scopes).places(Operation::RunList);
        assert_eq!(
            places(&[("a/b", Viewer), ("a", Viewer), ("c", Admin)], &[]),
            [namespace("a"), namespace("c")]
        );
        assert_eq!(places(&[("*", Viewer), ("a", Viewer)], &[]), [None]);
        assert_eq!(places(&[("*", Admin)], &[("a", Viewer)]), [namespace("a")]);
        assert_eq!(places(&[], &[]), []);
    }
}
