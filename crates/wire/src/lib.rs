//! What travels between processes: the agent's protocol ([`agent`]) and the JSON of the HTTP API ([`api`]).
//!
//! What is absent: sockets, routes, decisions. Types here are read from strangers, so every conversion into the model
//! is checked and names the field that is wrong.

pub mod agent;
pub mod api;
pub mod sse;
