//! The evaluator against croner, and what holds for every expression.

#![allow(clippy::unwrap_used, reason = "tests")]

mod any_text;
mod croner;
mod differences;
mod expressions;
mod hashed;
mod hashes;
mod properties;
mod turns;
