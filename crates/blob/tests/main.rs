//! A repository in a directory and in a bucket, and copies to and from what strangers name.

mod bucket;
mod repository;
mod transfers;
