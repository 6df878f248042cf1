//! Resources: what a run asks of a node and what a node has.
//!
//! CPU is counted in thousandths of a core, memory in bytes, and anything else that can be counted
//! (`gpu`, licences, slots) by name in thousandths. Arithmetic is checked: a reservation never wraps and
//! never goes below zero (I18). The text of quantities is read in [`crate::quantity`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::spec::schema;

/// An amount of each resource; what is not mentioned is zero.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Thousandths of a core.
    #[schema(value_type = schema::Milli)]
    #[serde(rename = "cpu", with = "milli_text", default, skip_serializing_if = "is_zero")]
    pub cpu_milli: u64,
    /// Bytes of memory.
    #[schema(value_type = schema::Bytes)]
    #[serde(rename = "memory", with = "bytes_text", default, skip_serializing_if = "is_zero")]
    pub memory_bytes: u64,
    /// Thousandths of anything else, by name. A name with zero is never kept.
    #[schema(value_type = BTreeMap<String, schema::Milli>)]
    #[serde(with = "named_text", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named: BTreeMap<Box<str>, u64>,
}

impl Resources {
    /// Nothing.
    pub const ZERO: Self = Self { cpu_milli: 0, memory_bytes: 0, named: BTreeMap::new() };

    /// Whether every amount is zero.
    pub fn is_zero(&self) -> bool {
        self.cpu_milli == 0 && self.memory_bytes == 0 && self.named.values().all(|milli| *milli == 0)
    }

    /// The amount of a named countable, in thousandths.
    pub fn named_milli(&self, name: &str) -> u64 {
        self.named.get(name).copied().unwrap_or(0)
    }

    /// Whether `self` can be taken from `room`.
    pub fn fits(&self, room: &Self) -> bool {
        self.lacking(room).is_none()
    }

    /// The first dimension of which `room` has too little: `cpu`, `memory` or a name.
    pub fn lacking(&self, room: &Self) -> Option<&str> {
        if self.cpu_milli > room.cpu_milli {
            return Some("cpu");
        }
        if self.memory_bytes > room.memory_bytes {
            return Some("memory");
        }
        self.named.iter().find(|(name, milli)| **milli > room.named_milli(name)).map(|(name, _)| &**name)
    }

    /// The sum, unless an amount overflows.
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        let mut sum = Self {
            cpu_milli: self.cpu_milli.checked_add(other.cpu_milli)?,
            memory_bytes: self.memory_bytes.checked_add(other.memory_bytes)?,
            named: self.named.clone(),
        };
        for (name, milli) in other.named.iter().filter(|(_, milli)| **milli > 0) {
            let entry = sum.named.entry(name.clone()).or_insert(0);
            *entry = entry.checked_add(*milli)?;
        }
        Some(sum)
    }

    /// What is left of `self` without `other`, unless there is too little.
    pub fn checked_sub(&self, other: &Self) -> Option<Self> {
        let mut rest = Self {
            cpu_milli: self.cpu_milli.checked_sub(other.cpu_milli)?,
            memory_bytes: self.memory_bytes.checked_sub(other.memory_bytes)?,
            named: self.named.clone(),
        };
        for (name, milli) in other.named.iter().filter(|(_, milli)| **milli > 0) {
            let left = rest.named_milli(name).checked_sub(*milli)?;
            if left == 0 {
                rest.named.remove(name);
            } else {
                rest.named.insert(name.clone(), left);
            }
        }
        Some(rest)
    }
}

fn is_zero(amount: &u64) -> bool {
    *amount == 0
}

/// Serde adaptors: quantities as text, or as plain numbers where the format has them.
macro_rules! quantity_text {
    ($module:ident, $parse:path, $format:path) => {
        mod $module {
            use serde::{Deserialize, Deserializer, Serializer};

            pub(super) fn serialize<S: Serializer>(amount: &u64, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&$format(*amount))
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
                super::Amount::deserialize(deserializer)
                    .and_then(|amount| $parse(&amount.0).map_err(serde::de::Error::custom))
            }
        }
    };
}

quantity_text!(milli_text, crate::quantity::parse_milli, crate::quantity::format_milli);
quantity_text!(bytes_text, crate::quantity::parse_bytes, crate::quantity::format_bytes);

mod named_text {
    use super::{Amount, BTreeMap};
    use crate::quantity::{format_milli, parse_milli};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(map: &BTreeMap<Box<str>, u64>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(map.iter().map(|(name, milli)| (name, format_milli(*milli))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<Box<str>, u64>, D::Error> {
        BTreeMap::<Box<str>, Amount>::deserialize(from)?
            .into_iter()
            .map(|(name, amount)| Ok((name, parse_milli(&amount.0).map_err(serde::de::Error::custom)?)))
            .filter(|entry| !matches!(entry, Ok((_, 0))))
            .collect()
    }
}

/// A quantity as it was written: text, or a number by its shortest decimal form.
struct Amount(String);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            serde_json::Value::Number(number) => Ok(Self(number.to_string())),
            _ => Err(serde::de::Error::custom("expected a quantity such as `2`, `500m` or `256Mi`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(json: serde_json::Value) -> Resources {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn text_and_numbers_mean_the_same() {
        let written = serde_json::json!({"cpu": 0.5, "memory": "1.5Gi", "named": {"gpu": 1, "none": 0}});
        let amount = resources(written);
        assert_eq!((amount.cpu_milli, amount.memory_bytes, amount.named_milli("gpu")), (500, 3 << 29, 1000));
        assert!(!amount.named.contains_key("none"));
        let printed = serde_json::to_value(&amount).unwrap();
        assert_eq!(printed, serde_json::json!({"cpu": "500m", "memory": "1536Mi", "named": {"gpu": "1"}}));
        assert_eq!(resources(printed), amount);
    }

    fn check(need: serde_json::Value, room: serde_json::Value, lacking: Option<&str>) {
        let (need, room) = (resources(need), resources(room));
        assert_eq!(need.lacking(&room), lacking);
        assert_eq!(need.fits(&room), lacking.is_none());
        match room.checked_sub(&need) {
            Some(rest) => {
                assert_eq!(lacking, None);
                assert_eq!(rest.checked_add(&need).unwrap(), room);
            }
            None => assert!(lacking.is_some()),
        }
    }

    #[test]
    fn what_fits_can_be_taken_and_given_back() {
        use serde_json::json;
        check(json!({}), json!({}), None);
        check(json!({"cpu": 1}), json!({"cpu": 1}), None);
        check(json!({"cpu": 1}), json!({"cpu": "999m"}), Some("cpu"));
        check(json!({"memory": "1Gi"}), json!({"cpu": 8, "memory": "1023Mi"}), Some("memory"));
        check(json!({"named": {"gpu": 1}}), json!({"cpu": 8}), Some("gpu"));
        check(json!({"named": {"gpu": "500m"}}), json!({"named": {"gpu": 1, "slots": 4}}), None);
    }

    #[test]
    fn sums_never_wrap() {
        let most = Resources { cpu_milli: u64::MAX, ..Resources::ZERO };
        assert_eq!(most.checked_add(&resources(serde_json::json!({"cpu": 1}))), None);
        let named = Resources { named: BTreeMap::from([("x".into(), u64::MAX)]), ..Resources::ZERO };
        assert_eq!(named.checked_add(&named), None);
    }
}
