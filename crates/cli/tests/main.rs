//! The real binary, as a person runs it: its words, its exit codes, what goes to which stream.

mod api;
mod binary;
mod offline;
mod online;
