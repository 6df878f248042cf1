//! The server: the shell around the engine, the edge that nodes dial, and the HTTP API.
//!
//! What is absent: decisions about runs (`engine`), about who may do what (`app`), SQL (`store-sql`). Here are sockets,
//! tasks, the clock and the leases.
//!
//! - [`Options`] say what to run, [`Server::build`] opens everything, [`Server::run`] serves until it is told to stop.

mod cells;
mod clock;
mod logs;
mod news;
mod nodes;
mod seat;
