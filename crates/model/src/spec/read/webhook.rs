//! Reading webhooks. What their templates name is checked here: a call brings `payload`, `headers` and the moment it came.

use serde_json::Value;

use super::Reader;
use super::scalar::{choice, text};
use crate::limits::{LINE_BYTES_MAX, WORD_BYTES_MAX};
use crate::spec::{Encoding, Signature, Template, Webhook};

/// Bytes of a header's name.
const HEADER_BYTES_MAX: usize = 64;

/// What the templates of a call know.
pub(super) const OF_CALLS: [&str; 3] = ["payload", "headers", "logical_time"];

pub(super) fn webhook(reader: &mut Reader, value: &Value) -> Option<Webhook> {
    let mut fields = reader.fields("webhook", value)?;
    let (is_signed, is_keyed) = (fields.has("signature"), fields.has("dedupe"));
    let signature = fields.optional("signature", signature);
    let dedupe = fields.optional("dedupe", dedupe);
    fields.finish();
    let whole = is_signed == signature.is_some() && is_keyed == dedupe.is_some();
    whole.then_some(Webhook { signature, dedupe })
}

fn signature(reader: &mut Reader, value: &Value) -> Option<Signature> {
    let mut fields = reader.fields("signature", value)?;
    let header = fields.required("header", header);
    let prefix =
        fields.optional("prefix", |reader, value| text(reader, value, WORD_BYTES_MAX).map(Box::from));
    let encodings = [("hex", Encoding::Hex), ("base64", Encoding::Base64)];
    let encoding = fields.or_default("encoding", choice("signature", &encodings));
    fields.finish();
    Some(Signature { header: header?, prefix: prefix.unwrap_or_default(), encoding })
}

/// The name of a header; case does not matter.
fn header(reader: &mut Reader, value: &Value) -> Option<Box<str>> {
    let name = text(reader, value, HEADER_BYTES_MAX)?;
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
        return Some(name.into());
    }
    reader.problem_with_hint("is not the name of a header", "write one such as `X-Hub-Signature-256`");
    None
}

/// What makes two calls the same delivery.
fn dedupe(reader: &mut Reader, value: &Value) -> Option<Template> {
    let text = text(reader, value, LINE_BYTES_MAX)?;
    let template = Template::from(text);
    let hint = "write `{{ payload.id }}` or `{{ headers[\"x-github-delivery\"] }}`";
    match template.names() {
        // What is the same for all calls, or for none, tells no deliveries apart.
        Ok(names) if !names.iter().any(|name| matches!(root(name), "payload" | "headers")) => {
            reader.problem_with_hint("names nothing of the call, so all calls would be one delivery", hint);
            None
        }
        Ok(names) => {
            let strangers: Vec<&String> =
                names.iter().filter(|name| !matches!(root(name), "payload" | "headers")).collect();
            for name in &strangers {
                let message = format!("`{name}` is not known here");
                reader.problem_with_hint(
                    message,
                    "what is the same for a delivery is in its `payload` or its `headers`",
                );
            }
            strangers.is_empty().then_some(template)
        }
        Err(wrong) => {
            reader.problem_with_hint(format!("it cannot be rendered: {wrong}"), hint);
            None
        }
    }
}

/// The first part of a name: `payload` of `payload.id`.
pub(super) fn root(name: &str) -> &str {
    name.split(['.', '[']).next().unwrap_or(name)
}
