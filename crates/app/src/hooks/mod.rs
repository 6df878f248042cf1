//! Webhooks: the token of a trigger, and calls with it.
//!
//! - `token` makes and revokes; `seal` keeps what callers sign with.
//! - `signature` tells whether a body is signed; `payload` reads it; `call` is the whole of a call.
//!
//! Nobody signs in for a call: the token is the credential. Invariant: whoever has not shown a right token, and a right
//! signature where the trigger asks for one, learns nothing, and is written down as a stranger is.

mod call;
mod payload;
mod seal;
mod signature;
mod token;

pub use call::HookRequest;
