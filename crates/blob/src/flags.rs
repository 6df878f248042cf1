//! Open flags for `custom_flags`, by name: their numbers differ between architectures.

use rustix::fs::OFlags;

/// Flags as the standard library takes them.
pub(crate) fn custom(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}
