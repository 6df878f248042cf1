//! The HTTP API: sockets' side of `app`. Routes with their permissions and schemas are in `routes/`, one file for each noun.
//!
//! What is absent: decisions. A handler reads the request, calls one use case and writes the answer. Status codes live in
//! `failure.rs` and nowhere else. Invariant: a route cannot be made without naming its operation ([`route::Route`]).

mod answer;
mod body;
mod caller;
mod console;
mod docs;
mod edge;
mod elsewhere;
mod events;
mod failure;
mod follow;
pub(crate) mod forward;
mod frame;
mod front;
mod merge;
mod openapi;
mod origin;
mod params;
mod peers;
mod position;
mod route;
mod routes;
mod tag;
pub(crate) mod under_way;

pub use edge::{Edge, Readiness, router};
pub(crate) use failure::problem;
pub use openapi::document as openapi;
pub use peers::Peers;
pub use routes::{Described, described};
