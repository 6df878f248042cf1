//! Our values as the driver's, and back.

use mysql_async::{Params, Value as Native};

use crate::value::{Damage, Row, Value};

/// Positional parameters.
pub(super) fn params<'a>(values: impl Iterator<Item = Value<'a>>) -> Params {
    let values: Vec<Native> = values.map(native).collect();
    if values.is_empty() { Params::Empty } else { Params::Positional(values) }
}

fn native(value: Value<'_>) -> Native {
    match value {
        Value::Null => Native::NULL,
        Value::Int(int) => Native::Int(int),
        Value::Bytes(bytes) => Native::Bytes(bytes.to_vec()),
    }
}

/// A row that came back.
pub(super) struct MysqlRow(pub(super) mysql_async::Row);

impl Row for MysqlRow {
    fn value(&self, column: usize) -> Result<Value<'_>, Damage> {
        match self.0.as_ref(column) {
            Some(Native::NULL) => Ok(Value::Null),
            Some(Native::Int(int)) => Ok(Value::Int(*int)),
            Some(Native::UInt(int)) => Ok(Value::Int(*int as i64)),
            Some(Native::Bytes(bytes)) => Ok(Value::Bytes(bytes)),
            _ => Err(Damage::new(format!("column {column} has an unexpected type"))),
        }
    }
}

/// A key in a form that compares like the server compares it.
pub(super) fn sortable(value: Value<'_>) -> Vec<u8> {
    match value {
        Value::Null => Vec::new(),
        Value::Int(int) => int.to_be_bytes().to_vec(),
        Value::Bytes(bytes) => bytes.to_vec(),
    }
}
