//! The client against real sockets: a small HTTP server that answers as the API does, and a small owner of nodes.

mod api;
mod calls;
mod owner;
mod streams;
mod worker;
