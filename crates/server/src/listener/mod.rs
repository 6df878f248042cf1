//! The listener: accepts connections, with or without TLS, and serves HTTP/1.1, HTTP/2 and gRPC on them within limits.
//!
//! What it bounds: the time for a handshake, a header, a part of a body and an idle connection; connections in total, and
//! those of one address that have not authenticated; requests on one connection. What it does not know: routes and
//! credentials. Whoever checks a credential says so to the request's [`Peer`].

mod address;
mod admission;
mod bodies;
mod certificate;
mod connection;
mod limits;
mod peer;
mod serve;
mod watched;
mod wrong_credentials;

pub use certificate::TlsFiles;
pub use limits::ListenLimits;
pub(crate) use peer::Peer;
pub(crate) use serve::Listener;
pub use wrong_credentials::WrongCredentials;
