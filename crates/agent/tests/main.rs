//! The rules of a node as scenarios, and real agents with real sidecars against a scheduler that the tests play.

mod live;
mod rules;
