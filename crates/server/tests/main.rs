//! The server over real sockets.

mod http;
