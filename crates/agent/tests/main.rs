//! The rules of a node as scenarios, and real agents with real sidecars against a scheduler that the tests play.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod live;
mod rules;
