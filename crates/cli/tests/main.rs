//! The real binary, as a person runs it: its words, its exit codes, what goes to which stream.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod api;
mod binary;
mod following;
mod hints;
mod import;
mod live;
mod offline;
mod online;
mod simulate;
mod trigger;
mod watching;
