//! The evaluator against croner, and what holds for every expression.

#![allow(clippy::unwrap_used, reason = "tests")]

mod croner;
mod expressions;
mod properties;
