//! The rules of a node as scenarios over the state machine. Each ends with "nothing else was said or done".

mod connection;
mod ground;
mod lease;
mod orders;
mod sidecar;
