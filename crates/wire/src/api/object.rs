//! A thing that must be written as a JSON object. What serde derives also takes a list of the fields' values in their
//! order, which the schema does not know and nobody means.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A thing that is an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Only(PhantomData)).map(Self)
    }
}

/// A list of such things, for a field of a request.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let items = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(items.into_iter().map(|Object(item)| item).collect())
}

struct Only<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Only<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{BatchSubmit, CreateToken, PauseCell};

    fn check<T: for<'de> Deserialize<'de>>(text: &str, error: Option<&str>) {
        let found = serde_json::from_str::<Object<T>>(text).err().map(|error| error.to_string());
        assert_eq!(found.is_some(), error.is_some(), "{text}: {found:?}");
        let words = error.unwrap_or_default();
        assert!(found.unwrap_or_default().contains(words), "{text}: {words}");
    }

    #[test]
    fn a_list_is_no_object() {
        check::<PauseCell>(r#"{"note":"n"}"#, None);
        check::<PauseCell>(r#"["n"]"#, Some("expected an object"));
        check::<PauseCell>(r#"{"nope":"n"}"#, Some("unknown field"));
        check::<BatchSubmit>(r#"{"runs":[{"job":"a"}]}"#, None);
        check::<BatchSubmit>(r#"{"runs":[[null,"a"]]}"#, Some("expected an object"));
        check::<CreateToken>(r#"{"scopes":[[null,"viewer"]]}"#, Some("expected an object"));
    }
}
