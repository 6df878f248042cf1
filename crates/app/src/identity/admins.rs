//! Admins whom somebody can ask for a role: those of everywhere, and those of the namespaces around the caller's own.
//!
//! Who is admin elsewhere is not told. Bounded: so many roles are read, so many admins named, and the answer says when
//! there may be more.

use mainspring_model::Namespace;
use mainspring_store::{RecordQuery, Store};
use mainspring_wire::api::{Admins, Grant, RoleGiver};

use super::grants;
use crate::error::Result;
use crate::limits::{ADMIN_ROLES_READ_MAX, ADMINS_NAMED_MAX};
use crate::record;

/// The admins who can give a role to somebody with these grants, the nearest place first.
pub(super) async fn around(store: &dyn Store, own: &[Grant]) -> Result<Admins> {
    let page = store.records(RecordQuery::all(record::GRANT, ADMIN_ROLES_READ_MAX)).await?;
    let mut items = Vec::new();
    for row in &page.rows {
        let Some(member) = grants::member(row)? else { continue };
        if member.role == mainspring_wire::api::Role::Admin && is_near(member.namespace.as_ref(), own) {
            items.push(RoleGiver { subject: member.subject, namespace: member.namespace });
        }
    }
    // An admin of the very namespace knows more about it than one of everywhere.
    items.sort_by(|one, other| {
        other.namespace.cmp(&one.namespace).then_with(|| one.subject.cmp(&other.subject))
    });
    let partial = page.more || items.len() > ADMINS_NAMED_MAX;
    items.truncate(ADMINS_NAMED_MAX);
    Ok(Admins { items, partial })
}

/// Everywhere, above a place where the caller has a role, or below it.
fn is_near(place: Option<&Namespace>, own: &[Grant]) -> bool {
    let Some(place) = place else { return true };
    own.iter().any(|grant| match &grant.namespace {
        None => true,
        Some(namespace) => namespace.is_within(place) || place.is_within(namespace),
    })
}

#[cfg(test)]
mod tests {
    use mainspring_wire::api::Role;

    use super::*;

    fn check(place: Option<&str>, own: &[Option<&str>], near: bool) {
        let grant = |namespace: &Option<&str>| Grant {
            namespace: namespace.map(|path| path.parse().unwrap()),
            role: Role::Viewer,
        };
        let grants: Vec<Grant> = own.iter().map(grant).collect();
        let place: Option<Namespace> = place.map(|path| path.parse().unwrap());
        assert_eq!(is_near(place.as_ref(), &grants), near, "{place:?} for {own:?}");
    }

    #[test]
    fn admins_of_other_namespaces_are_not_told() {
        check(None, &[], true);
        check(Some("acme"), &[], false);
        check(Some("acme"), &[None], true);
        check(Some("acme"), &[Some("acme/data")], true);
        check(Some("acme/data"), &[Some("acme")], true);
        check(Some("acme"), &[Some("acme-two")], false);
        check(Some("rival"), &[Some("acme"), Some("beta")], false);
    }
}
