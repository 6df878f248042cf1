//! Our values in PostgreSQL's binary form, and back.
//!
//! A column of a batch is written into the message as an array straight from the rows, without a copy of its own.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::batch::Kind;
use crate::value::{Damage, Row, Rows, Value};

type Refusal = Box<dyn Error + Sync + Send>;

/// A scalar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scalar<'a>(pub(super) Value<'a>);

impl ToSql for Scalar<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Refusal> {
        match self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::Bytes(bytes) => out.put_slice(bytes),
            Value::Int(int) => match *ty {
                Type::INT2 => out.put_i16(i16::try_from(int)?),
                Type::INT4 => out.put_i32(i32::try_from(int)?),
                _ => out.put_i64(int),
            },
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A column of some rows of a batch, as an array.
pub(super) struct ColumnArray<'a> {
    pub(super) rows: &'a dyn Rows,
    pub(super) range: Range<usize>,
    pub(super) column: usize,
    pub(super) kind: Kind,
}

impl fmt::Debug for ColumnArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {} of {} rows", self.column, self.range.len())
    }
}

impl ToSql for ColumnArray<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Refusal> {
        let (element, width) = match self.kind {
            Kind::Id => (Type::UUID, 16),
            Kind::Bytes => (Type::BYTEA, 20),
            Kind::Small => (Type::INT2, 2),
            Kind::Int => (Type::INT4, 4),
            Kind::Big => (Type::INT8, 8),
        };
        out.reserve(20 + self.range.len() * (4 + width));
        // One dimension, nulls may occur, the element's type, how many, counted from 1.
        out.put_i32(1);
        out.put_i32(1);
        out.put_u32(element.oid());
        out.put_i32(i32::try_from(self.range.len())?);
        out.put_i32(1);
        for row in self.range.clone() {
            match self.rows.value(row, self.column) {
                Value::Null => out.put_i32(-1),
                Value::Bytes(bytes) => {
                    out.put_i32(i32::try_from(bytes.len())?);
                    out.put_slice(bytes);
                }
                Value::Int(int) => {
                    out.put_i32(width as i32);
                    match self.kind {
                        Kind::Small => out.put_i16(i16::try_from(int)?),
                        Kind::Int => out.put_i32(i32::try_from(int)?),
                        Kind::Big | Kind::Id | Kind::Bytes => out.put_i64(int),
                    }
                }
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A parameter of a statement with batches.
#[derive(Debug)]
pub(super) enum BatchParam<'a> {
    /// A column.
    Column(ColumnArray<'a>),
    /// A scalar.
    Scalar(Scalar<'a>),
}

impl ToSql for BatchParam<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Refusal> {
        match self {
            Self::Column(column) => column.to_sql(ty, out),
            Self::Scalar(scalar) => scalar.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row that came back.
pub(super) struct PostgresRow(pub(super) tokio_postgres::Row);

impl Row for PostgresRow {
    fn value(&self, column: usize) -> Result<Value<'_>, Damage> {
        match self.0.try_get::<_, Option<Cell<'_>>>(column) {
            Ok(cell) => Ok(cell.map_or(Value::Null, |cell| cell.0)),
            Err(error) => Err(Damage::new(error.to_string())),
        }
    }
}

struct Cell<'a>(Value<'a>);

impl<'a> FromSql<'a> for Cell<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Refusal> {
        Ok(Self(match *ty {
            Type::INT2 => Value::Int(i64::from(i16::from_be_bytes(raw.try_into()?))),
            Type::INT4 => Value::Int(i64::from(i32::from_be_bytes(raw.try_into()?))),
            Type::INT8 => Value::Int(i64::from_be_bytes(raw.try_into()?)),
            _ => Value::Bytes(raw),
        }))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
