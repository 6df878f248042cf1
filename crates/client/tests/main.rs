//! The client against real sockets: a small HTTP server that answers as the API does, and a small owner of nodes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod api;
mod calls;
mod owner;
mod streams;
mod worker;
