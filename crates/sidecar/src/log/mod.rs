//! The captured log of an attempt: a stream of [`Frame`]s, each with its time and its stream, in order of arrival.
//!
//! The stream has offsets as if nothing were ever dropped. On disk stand its head and, when the output is longer
//! than the caps, a mark with the size of what is missing, and its tail. Between the two output streams the order is
//! that of arrival at the sidecar; within one it is exact.

mod capture;
mod stored;

pub(crate) use capture::CONTENT_AT;
pub(crate) use capture::Capture;
pub use mainspring_model::log::{Frame, FrameKind, frames};
pub(crate) use stored::Extent;
