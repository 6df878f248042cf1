//! Moments as the API writes them: RFC 3339 in UTC with microseconds. Any offset is read.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use mainspring_model::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// A moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub Timestamp);

/// Text that is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time such as `2026-01-31T08:00:00Z`")]
pub struct TimeError(String);

impl From<Timestamp> for Time {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let at: jiff::Timestamp = text.parse().map_err(|_| TimeError(text.chars().take(64).collect()))?;
        Ok(Self(Timestamp::from_micros(at.as_microsecond())))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("A moment, RFC 3339."))
            .into()
    }
}

impl ToSchema for Time {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_and_print() {
        for (text, micros) in [
            ("2023-11-14T22:13:20.123456Z", 1_700_000_000_123_456),
            ("2023-11-15T00:13:20.123456+02:00", 1_700_000_000_123_456),
            ("1970-01-01T00:00:00Z", 0),
        ] {
            let time: Time = text.parse().unwrap();
            assert_eq!(time.0.as_micros(), micros);
            assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
        }
        assert!("yesterday".parse::<Time>().is_err());
    }
}
