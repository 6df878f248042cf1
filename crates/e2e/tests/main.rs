//! The whole product as its users have it: real processes, real databases, killed without warning.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod clusters;
mod crashes;
mod demo;
mod disks;
mod encrypted;
mod handlers;
mod hooks;
mod hostile;
mod laptop;
mod late_store;
mod listener;
mod mariadb;
mod ordinary;
mod outage;
mod poison;
mod puts;
mod stops;
mod submits;
mod triggers;
mod world;
