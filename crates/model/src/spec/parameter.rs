//! Parameters: the typed inputs of a job.
//!
//! A parameter is required, optional or has a default, never two of these. Checking the values that a run
//! was given is in `parameter/resolve.rs`; the check of one value against one type is in `read/parameter.rs`.

mod resolve;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;
use utoipa::ToSchema;

/// The parameters of a job, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(transparent)]
pub struct Parameters(pub BTreeMap<Box<str>, Parameter>);

/// One parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// What values it takes.
    pub kind: ParameterType,
    /// Whether a run must give it.
    pub presence: Presence,
    /// What it is for, shown where it is asked for.
    pub description: Option<Box<str>>,
}

/// Whether a run must give a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Presence {
    /// A run without a value is refused.
    Required,
    /// A run may leave it out; then there is no value.
    Optional,
    /// A run may leave it out; then this is the value.
    Default(Value),
}

/// What values a parameter takes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ParameterType {
    /// Text.
    String {
        /// The fewest characters or items.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_length: Option<u32>,
        /// The most characters or items.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_length: Option<u32>,
    },
    /// A whole number of 64 bits.
    Integer {
        /// The smallest value.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<i64>,
        /// The largest value.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<i64>,
    },
    /// Any number.
    Number {
        /// The smallest value.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// The largest value.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    /// `true` or `false`.
    Boolean,
    /// One of a few words.
    Enum {
        /// The words.
        values: Vec<Box<str>>,
    },
    /// A list.
    List {
        /// The type of every item; without one, anything.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(no_recursion)]
        items: Option<Box<ParameterType>>,
        /// The fewest characters or items.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_length: Option<u32>,
        /// The most characters or items.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_length: Option<u32>,
    },
    /// A map with any keys.
    Object,
    /// Any value at all.
    Json,
}

impl Parameters {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A value that a run may or must be given.
#[derive(Serialize, ToSchema)]
#[schema(as = Parameter)]
pub(super) struct Written<'a> {
    #[serde(flatten)]
    #[schema(value_type = ParameterType)]
    kind: &'a ParameterType,
    /// The value of a run that gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    default: Option<&'a Value>,
    /// Whether a run must give a value. Without it, a parameter without a default is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    required: Option<bool>,
    /// What it is for, shown where it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    description: Option<&'a str>,
}

impl Serialize for Parameter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (default, required) = match &self.presence {
            Presence::Required => (None, None),
            Presence::Optional => (None, Some(false)),
            Presence::Default(value) => (Some(value), None),
        };
        Written { kind: &self.kind, default, required, description: self.description.as_deref() }
            .serialize(serializer)
    }
}
