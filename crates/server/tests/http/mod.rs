//! The HTTP API, over a socket, on SQLite; of several servers, on memory.

mod access;
mod artifacts;
mod audit;
mod backfills;
mod calendars;
mod cells;
mod cluster;
mod console;
mod hanging;
mod health;
mod hooks;
mod jobs;
mod kinds;
mod ledgers;
mod load;
mod load_of_nodes;
mod log_search;
mod me;
mod namespaces;
mod node;
mod nodes;
mod permissions;
mod runs;
mod series;
mod shape;
mod sign_in;
mod sources;
mod triggers;
mod watch;
mod why;
mod wire;
mod world;

pub(crate) use wire::Reply;
pub(crate) use world::World;
