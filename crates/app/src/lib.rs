//! The use cases: every verb that a person or a program may ask for, with its authorisation and its audit entry.
//!
//! What is absent: HTTP, sockets, SQL, the scheduler's own decisions. Edges call this crate; it asks the store and, through
//! [`ports`], the owners of cells.

pub mod ports;
