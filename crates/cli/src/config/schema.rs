//! The JSON Schema of the settings file, made from the table of settings.

use serde_json::{Map, Value, json};

use super::setting::{Kind, SECTIONS, SETTINGS};

/// The schema, for editors and for checks.
pub(crate) fn schema() -> Value {
    let sections = SECTIONS.iter().map(|(section, help)| {
        let settings = SETTINGS.iter().filter(|setting| setting.section == *section);
        let properties: Map<String, Value> = settings
            .map(|setting| {
                let mut property = shape(setting.kind);
                let mut words = setting.help.to_owned();
                if !setting.default.is_empty() {
                    words.push_str(&format!(" Default: {}.", setting.default));
                }
                words.push_str(&format!(" Variable: {}", setting.variable()));
                if let Some(short) = setting.short_variable {
                    words.push_str(&format!(" or {short}"));
                }
                words.push('.');
                property.insert("description".into(), words.into());
                (setting.name.to_owned(), Value::Object(property))
            })
            .collect();
        let table = json!({
            "type": "object", "description": help, "additionalProperties": false, "properties": properties,
        });
        ((*section).to_owned(), table)
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Mainspring settings",
        "description": "The file mainspring.toml; flags and variables go before it.",
        "type": "object",
        "additionalProperties": false,
        "properties": sections.collect::<Map<String, Value>>(),
    })
}

fn shape(kind: Kind) -> Map<String, Value> {
    let shape = match kind {
        Kind::Text | Kind::Path => json!({ "type": "string" }),
        Kind::Number => json!({ "type": "integer", "minimum": 0 }),
        Kind::Duration => {
            json!({ "type": "string", "minLength": 1, "pattern": mainspring_model::duration_text::PATTERN })
        }
        Kind::List => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Pairs => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
    };
    match shape {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
