//! The server: the shell around the engine, the edge that nodes dial, and the HTTP API.
//!
//! What is absent: decisions about runs (`engine`), about who may do what (`app`), SQL (`store-sql`). Here are sockets,
//! tasks, the clock and the leases.
//!
//! - [`Options`] say what to run, [`Server::build`] opens everything, [`Server::run`] serves until it is told to stop.

mod artifacts;
mod bulk;
mod cells;
mod clock;
mod error;
mod gone_nodes;
mod health;
pub mod http;
mod identity;
mod janitor;
mod listener;
mod logs;
mod membership;
mod news;
mod nodes;
mod options;
mod others;
mod retention;
mod seat;
mod server;
mod settings;
mod settle;
mod storage;
mod timely;
mod unowned;
mod waiting;

pub use error::Error;
pub use identity::IdentityError;
pub use listener::{ListenLimits, TlsFiles, WrongCredentials};
pub use options::{Options, Roles};
pub use retention::Keeping;
pub use server::Server;
pub use storage::Storage;
