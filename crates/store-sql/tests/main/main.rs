//! The store contract on real SQLite, PostgreSQL and MySQL (or MariaDB), and what only a database can get wrong.
//!
//! Run through `cargo xtask test`, or `cargo xtask db -- cargo nextest run -p mainspring-store-sql`: both start the
//! servers and name them in the environment. Without them these tests fail.

#![allow(clippy::unwrap_used, reason = "tests")]

mod conformance;
mod crash;
mod cut;
mod damage;
mod deadlock;
mod differential;
mod migrations;
mod plans;
mod proxy;
mod rows;
mod servers;
