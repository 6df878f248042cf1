//! Typed ids.
//!
//! Every id is a 16-byte UUIDv7, so ids sort by the time they were made and history can be cut by id
//! range. People see a prefix and 26 lower-case Crockford characters (`run_01jb…`), which also sort.
//! Nothing here reads a clock or a random source: the caller passes both.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::time::Timestamp;

/// Text that is not an id of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind} id: expected `{prefix}_` and 26 characters 0-9 a-z without i, l, o, u")]
pub struct ParseIdError {
    text: String,
    kind: &'static str,
    prefix: &'static str,
}

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TEXT_LEN: usize = 26;

fn encode(bytes: [u8; 16]) -> [u8; TEXT_LEN] {
    let mut value = u128::from_be_bytes(bytes);
    let mut text = [b'0'; TEXT_LEN];
    for slot in text.iter_mut().rev() {
        *slot = ALPHABET[(value & 31) as usize];
        value >>= 5;
    }
    text
}

fn decode(text: &[u8]) -> Option<[u8; 16]> {
    // 26 characters hold 130 bits: the first may only be 0..=7.
    if text.len() != TEXT_LEN || text[0] > b'7' {
        return None;
    }
    let mut value: u128 = 0;
    for byte in text {
        let digit = ALPHABET.iter().position(|a| a == byte)?;
        value = (value << 5) | digit as u128;
    }
    Some(value.to_be_bytes())
}

/// The 16 bytes of a UUIDv7 made at `at` from 74 bits of `random`.
const fn v7(at: Timestamp, random: u128) -> [u8; 16] {
    let millis = (at.as_micros() / 1000) as u128;
    let value = (millis << 80)
        | (0x7 << 76)
        | (((random >> 62) & 0xfff) << 64)
        | (0b10 << 62)
        | (random & 0x3fff_ffff_ffff_ffff);
    value.to_be_bytes()
}

macro_rules! typed_id {
    ($name:ident, $prefix:literal, $kind:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name([u8; 16]);

        impl Ord for $name {
            /// As the bytes are ordered, and without a call for each comparison: queues are full of these.
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                u128::from_be_bytes(self.0).cmp(&u128::from_be_bytes(other.0))
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl $name {
            /// The prefix of the text form.
            pub const PREFIX: &'static str = $prefix;
            /// The smallest id, a bound for ranges; never given to a thing.
            pub const MIN: Self = Self([0; 16]);
            /// The largest id, a bound for ranges; never given to a thing.
            pub const MAX: Self = Self([0xff; 16]);

            /// A new id at `at`; `random` supplies the bits that tell ids of one millisecond apart.
            pub const fn new(at: Timestamp, random: u128) -> Self {
                Self(v7(at, random))
            }
            /// The id with these bytes, as a store keeps it.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }
            /// The bytes a store keeps.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
            /// A well-mixed number from the id: the source of every "random" choice about this thing.
            pub fn hash64(&self) -> u64 {
                let value = u128::from_be_bytes(self.0);
                crate::hash::mix((value >> 64) as u64 ^ crate::hash::mix(value as u64))
            }
            /// When the id was made, to the millisecond.
            pub fn made_at(&self) -> Timestamp {
                let millis = u128::from_be_bytes(self.0) >> 80;
                Timestamp::from_micros(millis as i64 * 1000)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text = encode(self.0);
                f.write_str(concat!($prefix, "_"))?;
                f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                text.strip_prefix(concat!($prefix, "_"))
                    .and_then(|rest| decode(rest.as_bytes()))
                    .map(Self)
                    .ok_or_else(|| ParseIdError { text: text.into(), kind: $kind, prefix: $prefix })
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid.into_bytes())
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::String)
                    .description(Some($doc))
                    .pattern(Some(concat!("^", $prefix, "_[0-7][0-9a-hjkmnp-tv-z]{25}$")))
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {}

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

typed_id!(JobId, "job", "job", "A job: a named, versioned specification.");
typed_id!(RunId, "run", "run", "A run: one execution of a job version.");
typed_id!(AttemptId, "att", "attempt", "An attempt: one try of a run on one node.");
typed_id!(NodeId, "node", "node", "A node: a machine or process that can execute.");
typed_id!(BackfillId, "bf", "backfill", "A backfill: planned moments of the past that are made up for.");
typed_id!(BulkId, "blk", "bulk operation", "A bulk operation: one action on many runs.");
typed_id!(MemberId, "mem", "member", "A member: one scheduler process of the cluster.");

impl AttemptId {
    /// The id of attempt `number` of `run`: derived, so it costs no column and no random bits.
    pub fn of(run: RunId, number: u32) -> Self {
        let value = u128::from_be_bytes(*run.as_bytes());
        let tail = crate::hash::mix(value as u64 ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let random = ((value >> 64) & 0xfff) << 62 | u128::from(tail & 0x3fff_ffff_ffff_ffff);
        Self::new(run.made_at(), random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(at: i64, random: u128) -> RunId {
        RunId::new(Timestamp::from_micros(at), random)
    }

    #[test]
    fn text_round_trips_and_sorts_like_bytes() {
        let mut ids: Vec<RunId> =
            (0..200u128).map(|n| run(n as i64 * 7_000, n.wrapping_mul(0x1234_5678_9abc_def1))).collect();
        ids.push(RunId::MIN);
        ids.push(RunId::MAX);
        for id in &ids {
            assert_eq!(id.to_string().parse::<RunId>().unwrap(), *id);
        }
        let mut by_text = ids.clone();
        by_text.sort_by_key(ToString::to_string);
        ids.sort();
        assert_eq!(ids, by_text);
    }

    #[test]
    fn is_a_uuid_v7_that_remembers_its_time() {
        let id = run(1_700_000_000_123_456, u128::MAX);
        let uuid = Uuid::from_bytes(*id.as_bytes());
        assert_eq!(uuid.get_version_num(), 7);
        assert_eq!(id.made_at(), Timestamp::from_micros(1_700_000_000_123_000));
    }

    #[test]
    fn refuses_what_is_not_an_id_of_its_kind() {
        let good = run(5, 5).to_string();
        for bad in [
            "",
            "run_",
            "job_00000000000000000000000000",
            "run_8zzzzzzzzzzzzzzzzzzzzzzzzz",
            "run_0000000000000000000000000l",
            &good[..good.len() - 1],
            &format!("{good}0"),
        ] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
        let said = "run_x".parse::<RunId>().unwrap_err().to_string();
        assert!(said.contains("run_x") && said.contains("26 characters"), "{said}");
    }

    #[test]
    fn attempt_ids_are_stable_and_distinct() {
        let run = run(1_700_000_000_000_000, 42);
        assert_eq!(AttemptId::of(run, 1), AttemptId::of(run, 1));
        assert_ne!(AttemptId::of(run, 1), AttemptId::of(run, 2));
        assert_eq!(AttemptId::of(run, 3).made_at(), run.made_at());
    }
}
