//! Files by content and by URL.
//!
//! - [`Blobs`] is a repository in a directory or in an S3 bucket: content by its digest, read by ranges.
//! - [`Transfers`] copies between a path and a URL (`file:`, `http:`, `https:`, `s3:`), with limits and digests.
//! - [`Networks`] says which addresses a URL that a stranger chose may reach, [`Places`] which paths, [`Buckets`] which
//!   buckets.
//!
//! Absent: who may read what, what is still referenced, and retention; those are decided above. The storage library is
//! nowhere visible: it changes often.

mod blobs;
mod buckets;
mod digest;
mod error;
mod flags;
mod incoming;
mod key;
mod location;
mod networks;
mod places;
mod transfer;

pub use blobs::{Blobs, Listed};
pub use buckets::Buckets;
pub use digest::{Content, Digester};
pub use error::Error;
pub use incoming::Incoming;
pub use key::{content_key, inside};
pub use location::Credentials;
pub use networks::Networks;
pub use places::Places;
pub use transfer::{Limits, Transfers, save};
