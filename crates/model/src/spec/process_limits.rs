//! What a task may use at most, by the system's own limits, and the mode mask of the files that it makes.
//!
//! What a run reserves on a node is in [`crate::Resources`], how long it may take in [`super::Timeouts`].

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::duration_text;
use crate::quantity::format_bytes;
use crate::spec::schema;

/// Limits of each process of a task, but for `processes`, which is one of all of them; what is not given is the agent's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessLimits {
    /// Processor time, in whole seconds. The process gets the signal XCPU then, and is killed five seconds later.
    #[schema(value_type = Option<schema::DurationText>)]
    #[serde(with = "duration_text::option", skip_serializing_if = "Option::is_none")]
    pub cpu_time: Option<Duration>,
    /// Files and sockets that are open at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u32>,
    /// Processes and threads of the whole task, where the system has cgroups for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// The size of a file that it writes.
    #[schema(value_type = Option<schema::Bytes>)]
    #[serde(serialize_with = "bytes", skip_serializing_if = "Option::is_none")]
    pub file_size: Option<u64>,
    /// The size of a core dump; `0` for none.
    #[schema(value_type = Option<schema::Bytes>)]
    #[serde(serialize_with = "bytes", skip_serializing_if = "Option::is_none")]
    pub core: Option<u64>,
    /// The stack of its first thread.
    #[schema(value_type = Option<schema::Bytes>)]
    #[serde(serialize_with = "bytes", skip_serializing_if = "Option::is_none")]
    pub stack: Option<u64>,
    /// The address space, used or not.
    #[schema(value_type = Option<schema::Bytes>)]
    #[serde(serialize_with = "bytes", skip_serializing_if = "Option::is_none")]
    pub address_space: Option<u64>,
    /// Memory that is never swapped out.
    #[schema(value_type = Option<schema::Bytes>)]
    #[serde(serialize_with = "bytes", skip_serializing_if = "Option::is_none")]
    pub locked_memory: Option<u64>,
}

impl ProcessLimits {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::ref_option, reason = "the shape that serde asks for")]
fn bytes<S: Serializer>(size: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    size.map(format_bytes).serialize(serializer)
}

/// The mode mask of new files: three octal digits such as `027`, which others cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Umask(u16);

impl Umask {
    /// The pattern of its text form, for the JSON Schema.
    pub(super) const PATTERN: &'static str = "^0?[0-7]{3}$";

    /// The bits that are taken away.
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }
}

impl FromStr for Umask {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix('0').filter(|rest| rest.len() == 3).unwrap_or(text);
        if digits.len() != 3 || !digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit)) {
            return Err("a mask is three octal digits in quotes, such as \"027\"");
        }
        u16::from_str_radix(digits, 8).map(Self).map_err(|_| "not an octal number")
    }
}

impl fmt::Display for Umask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03o}", self.0)
    }
}

impl Serialize for Umask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_three_octal_digits() {
        for (text, bits) in [("022", Some(0o022)), ("0027", Some(0o027)), ("777", Some(0o777))] {
            assert_eq!(text.parse::<Umask>().ok().map(Umask::bits), bits, "{text}");
        }
        for text in ["", "22", "28", "088", "1777", "00022", "0x1", "-22"] {
            assert!(text.parse::<Umask>().is_err(), "{text}");
        }
        assert_eq!("0007".parse::<Umask>().map(|mask| mask.to_string()), Ok("007".to_owned()));
    }
}
