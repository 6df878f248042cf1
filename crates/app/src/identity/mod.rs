//! Who somebody is: tokens, roles, sessions, and nodes at the door.
//!
//! Secrets are known by their hashes. What a token may do is read with the roles of its subject and believed for a few
//! seconds; whatever this process changes is forgotten at once.

mod access;
mod admins;
mod authenticate;
mod bootstrap;
mod documents;
mod grants;
mod members;
mod node;
mod sessions;
mod subject;
mod token_uses;
mod tokens;

pub(crate) use authenticate::Principals;
pub use bootstrap::Bootstrap;
pub use node::{NodeIdentity, has_credential};
pub use sessions::{Opened, Origin};
pub(crate) use token_uses::TokenUses;
pub(crate) use tokens::ttl_of;
