//! Bodies: JSON with a limit, whose errors name the field; and text in one of several languages.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use mainspring_model::ErrorCode;
use mainspring_model::spec::Format;
use mainspring_wire::api::Object;
use serde::de::DeserializeOwned;

use super::edge::Edge;
use super::failure::Failure;
use super::under_way;

/// Bytes of an ordinary body: a specification and its parameters fit.
pub(crate) const BODY_BYTES_MAX: usize = 2 << 20;
/// Bytes of a batch.
pub(crate) const BATCH_BYTES_MAX: usize = 64 << 20;

/// A JSON body of at most `MAX` bytes.
pub(crate) struct Json<T, const MAX: usize = BODY_BYTES_MAX>(pub(crate) T);

/// A JSON body, or none at all.
pub(crate) struct OptionalJson<T>(pub(crate) T);

/// A specification as text.
pub(crate) struct SpecText {
    pub(crate) text: String,
    pub(crate) format: Format,
}

impl<T: DeserializeOwned + Send, const MAX: usize> FromRequest<Arc<Edge>> for Json<T, MAX> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &Arc<Edge>) -> Result<Self, Failure> {
        check_json(request.headers())?;
        parse(&read(request, MAX).await?).map(Self)
    }
}

impl<T: DeserializeOwned + Default + Send> FromRequest<Arc<Edge>> for OptionalJson<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &Arc<Edge>) -> Result<Self, Failure> {
        let headers = request.headers().clone();
        let bytes = read(request, BODY_BYTES_MAX).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        check_json(&headers)?;
        parse(&bytes).map(Self)
    }
}

impl FromRequest<Arc<Edge>> for SpecText {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &Arc<Edge>) -> Result<Self, Failure> {
        let format = match media_type(request.headers()).as_deref() {
            Some("application/json") => Format::Json,
            Some("application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml") => Format::Yaml,
            Some("application/toml" | "text/toml") => Format::Toml,
            _ => {
                let message = "send `application/json`, `application/yaml` or `application/toml`";
                return Err(Failure::new(ErrorCode::UnsupportedMediaType, message));
            }
        };
        let bytes = read(request, BODY_BYTES_MAX).await?;
        let text = String::from_utf8(bytes.into())
            .map_err(|_| Failure::new(ErrorCode::InvalidRequest, "the body is not UTF-8"))?;
        Ok(Self { text, format })
    }
}

/// The body as it comes, at most so many bytes of it.
pub(crate) async fn read(request: Request, max: usize) -> Result<Bytes, Failure> {
    let too_large = || Failure::new(ErrorCode::TooLarge, format!("the body has more than {max} bytes"));
    let told = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if told.and_then(|told| told.parse::<usize>().ok()).is_some_and(|told| told > max) {
        return Err(too_large());
    }
    let body = axum::body::to_bytes(request.into_body(), max).await.map_err(|error| {
        let source = std::error::Error::source(&error);
        match source.is_some_and(|source| source.to_string().contains("length limit")) {
            true => too_large(),
            false => Failure::new(ErrorCode::InvalidRequest, "the body was cut off"),
        }
    })?;
    under_way::keep_body(&body);
    Ok(body)
}

/// Reads a JSON object; only what is wrong is read again, slowly, to tell where.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice::<Object<T>>(bytes).map(|Object(value)| value).map_err(|_| {
        let deserializer = &mut serde_json::Deserializer::from_slice(bytes);
        match serde_path_to_error::deserialize::<_, Object<T>>(deserializer) {
            Ok(_) => Failure::new(ErrorCode::InvalidRequest, "the body has more than one value"),
            Err(error) => {
                let path = error.path().to_string();
                let cause = error.into_inner();
                match cause.classify() {
                    serde_json::error::Category::Data => {
                        let message = plain(&cause.to_string());
                        let path = if path == "." { String::new() } else { path };
                        Failure::field(path, message)
                    }
                    _ => Failure::new(ErrorCode::InvalidRequest, format!("not valid JSON: {cause}")),
                }
            }
        }
    })
}

/// Without the place in the text: the path is enough.
fn plain(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(words, _)| words).to_owned()
}

fn check_json(headers: &HeaderMap) -> Result<(), Failure> {
    match media_type(headers).as_deref() {
        Some(kind) if kind == "application/json" || kind.ends_with("+json") => Ok(()),
        _ => Err(Failure::new(ErrorCode::UnsupportedMediaType, "send `Content-Type: application/json`")),
    }
}

/// What the body says that it is, without parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use mainspring_wire::api::{BatchSubmit, PutMember};

    use super::*;

    fn check<T: DeserializeOwned>(body: &str, path: Option<&str>, words: &str) {
        let Err(Failure(error)) = parse::<T>(body.as_bytes()) else { panic!("{body} is read") };
        assert_eq!(error.fields.first().map(|field| field.path.as_str()), path, "{error:?}");
        assert!(error.message.contains(words), "{error:?}");
    }

    #[test]
    fn errors_name_the_field() {
        check::<PutMember>("{", None, "not valid JSON");
        check::<PutMember>("{}", Some(""), "missing field `role`");
        check::<PutMember>(r#"{"role":"king"}"#, Some("role"), "unknown variant `king`");
        check::<PutMember>(r#"{"role":"admin","x":1}"#, Some("x"), "unknown field `x`");
        check::<PutMember>(r#"{"role":"admin"} 1"#, None, "more than one value");
        check::<BatchSubmit>(r#"{"runs":[{},{"job":5}]}"#, Some("runs[1].job"), "expected a string");
    }
}
