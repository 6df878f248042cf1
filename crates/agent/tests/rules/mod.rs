//! The rules of a node as scenarios over the state machine.
