//! Real database servers for tests and benches: PostgreSQL and MariaDB (or MySQL), each fresh, private and gone when
//! the command ends.
//!
//! Every server has its own temporary folder, a free port on 127.0.0.1 and a random password, so that two runs at
//! once never meet. Durability settings are the servers' defaults: what we measure is what users get.

mod account;
mod breakable;
mod databases;
mod home;
mod install;
mod locate;
mod mysql;
mod password;
mod postgres;
mod server;

pub(crate) use account::we_are_root;
pub(crate) use breakable::BreakablePostgres;
pub(crate) use databases::Databases;
pub(crate) use home::Home;
pub(crate) use locate::program;
pub(crate) use server::{Kind, Server, ServerProcess};
