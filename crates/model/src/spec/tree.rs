//! Text to a tree of values: YAML, JSON and TOML end in the same tree, so the rest reads only that.
//!
//! Everything hostile stops here: size, depth, the number of values after aliases are expanded, keys that
//! stand twice, numbers that are not finite. YAML booleans are `true` and `false` only, so `no` is a word.

use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::Problem;
use crate::limits::{SPEC_BYTES_MAX, SPEC_DEPTH_MAX, SPEC_NODES_MAX};

/// The languages a job file may be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// YAML 1.2.
    Yaml,
    /// JSON.
    Json,
    /// TOML.
    Toml,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Yaml, Self::Json, Self::Toml];

    /// The format of a file by the end of its name.
    pub fn of_file(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Yaml => "YAML",
            Self::Json => "JSON",
            Self::Toml => "TOML",
        }
    }
}

/// A tree as any deserializer gives it, with the limits of a file that holds so many jobs.
pub(super) struct Tree<const JOBS: usize = 1>(pub(super) Value);

/// Reads text in one of the formats.
pub(super) fn read<const JOBS: usize>(text: &str, format: Format) -> Result<Value, Problem> {
    check_size(text, JOBS)?;
    let tree: Result<Tree<JOBS>, String> = match format {
        Format::Yaml => read_yaml(text),
        Format::Json => serde_json::from_str(text).map_err(|error| error.to_string()),
        Format::Toml => toml::from_str(text).map_err(|error| toml_message(text, &error)),
    };
    tree.map(|tree| tree.0)
        .map_err(|message| Problem::new("", format!("not valid {}: {message}", format.title())))
}

/// Refuses text that is too long for so many jobs.
pub(super) fn check_size(text: &str, jobs: usize) -> Result<(), Problem> {
    let most = SPEC_BYTES_MAX * jobs;
    if text.len() > most {
        return Err(Problem::new("", format!("the file has more than {most} bytes")));
    }
    Ok(())
}

/// How YAML is read: within these limits.
pub(super) fn yaml_options(depth_max: usize, jobs: usize) -> serde_saphyr::Options {
    serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        reject_unsupported_tags: true,
        emit_comments: false,
        budget: serde_saphyr::budget! {
            max_depth: depth_max + 1,
            max_nodes: SPEC_NODES_MAX * jobs,
            max_events: 4 * SPEC_NODES_MAX * jobs,
            max_aliases: 1_000,
            max_anchors: 1_000,
        },
    }
}

fn read_yaml<const JOBS: usize>(text: &str) -> Result<Tree<JOBS>, String> {
    let options = yaml_options(depth_max(JOBS), JOBS);
    serde_saphyr::from_str_with_options(text, options).map_err(|error| match error.without_snippet() {
        serde_saphyr::Error::MultipleDocuments { .. } => {
            "one file holds one job, but `---` begins another".to_owned()
        }
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), location, .. } => {
            format!("the key `{key}` stands twice at line {}, column {}", location.line(), location.column())
        }
        other => other.render_with_formatter(&serde_saphyr::UserMessageFormatter),
    })
}

/// A list of jobs stands two levels above each of them.
pub(super) const fn depth_max(jobs: usize) -> usize {
    if jobs > 1 { SPEC_DEPTH_MAX + 2 } else { SPEC_DEPTH_MAX }
}

fn toml_message(text: &str, error: &toml::de::Error) -> String {
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return error.message().to_owned();
    };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{} at line {line}, column {column}", error.message())
}

impl<'de, const JOBS: usize> Deserialize<'de> for Tree<JOBS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let nodes_left = Cell::new(SPEC_NODES_MAX * JOBS);
        Branch { depth_left: depth_max(JOBS), nodes_left: &nodes_left }.deserialize(deserializer).map(Self)
    }
}

/// Reads one value of the tree.
#[derive(Clone, Copy)]
struct Branch<'c> {
    depth_left: usize,
    nodes_left: &'c Cell<usize>,
}

impl Branch<'_> {
    fn count<E: Error>(&self) -> Result<(), E> {
        let left = self.nodes_left.get().checked_sub(1);
        self.nodes_left.set(left.ok_or_else(|| E::custom(format!("more than {SPEC_NODES_MAX} values")))?);
        Ok(())
    }

    fn deeper<E: Error>(&self) -> Result<Self, E> {
        let depth_left = self.depth_left.checked_sub(1);
        let depth_left =
            depth_left.ok_or_else(|| E::custom(format!("more than {SPEC_DEPTH_MAX} levels of nesting")))?;
        Ok(Self { depth_left, ..*self })
    }
}

impl<'de> DeserializeSeed<'de> for Branch<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Branch<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key == TOML_DATETIME {
                return Err(A::Error::custom("dates and times are written as text, in quotes"));
            }
            let value = entries.next_value_seed(inner)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// The key by which the TOML reader hands over its own date type.
const TOML_DATETIME: &str = "$__toml_private_datetime";
