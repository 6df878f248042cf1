//! A repository in a directory and in a bucket, and copies to and from what strangers name.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod bucket;
mod repository;
mod transfers;
