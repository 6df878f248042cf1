//! Our values in PostgreSQL's binary form, and back.
//!
//! Rows and columns of a batch are written into the message as arrays, without a copy of their own.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::Kind::Array as ArrayOf;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::batch::{Batch, Column, Kind};
use crate::batch_text;
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

/// The parameters of some rows of a batch: an array of rows, or an array for each column.
pub(super) fn batch_params<'a>(
    batch: &'static Batch,
    rows: &'a dyn Rows,
    range: Range<usize>,
) -> impl ExactSizeIterator<Item = BatchParam<'a>> {
    (0..batch_text::postgres_params(batch)).map(move |column| {
        let range = range.clone();
        match batch.row_type {
            Some(_) => BatchParam::Rows(RowArray { rows, range, columns: batch.columns }),
            None => BatchParam::Column(ColumnArray { rows, range, column, kind: batch.columns[column].kind }),
        }
    })
}

/// A column of some rows of a batch, as an array.
pub(super) struct ColumnArray<'a> {
    rows: &'a dyn Rows,
    range: Range<usize>,
    column: usize,
    kind: Kind,
}

/// Some rows of a batch, as an array of their type.
pub(super) struct RowArray<'a> {
    rows: &'a dyn Rows,
    range: Range<usize>,
    columns: &'static [Column],
}

impl ColumnArray<'_> {
    fn write(&self, out: &mut BytesMut) -> Result<IsNull, Refusal> {
        let (element, width) = form(self.kind);
        out.reserve(20 + self.range.len() * (4 + width));
        array_head(element, self.range.len(), out)?;
        for row in self.range.clone() {
            write_cell(self.rows.value(row, self.column), self.kind, out)?;
        }
        Ok(IsNull::No)
    }
}

impl RowArray<'_> {
    fn write(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Refusal> {
        let ArrayOf(row) = ty.kind() else { return Err(format!("{ty} is not an array").into()) };
        out.reserve(20 + self.range.len() * (8 + self.columns.len() * 24));
        array_head(row.oid(), self.range.len(), out)?;
        for row in self.range.clone() {
            let begin = out.len();
            out.put_i32(0);
            out.put_i32(self.columns.len() as i32);
            for (at, column) in self.columns.iter().enumerate() {
                out.put_u32(form(column.kind).0);
                write_cell(self.rows.value(row, at), column.kind, out)?;
            }
            let length = i32::try_from(out.len() - begin - 4)?;
            out[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
        }
        Ok(IsNull::No)
    }
}

/// The id of a kind's type, and about how many bytes a value has.
const fn form(kind: Kind) -> (u32, usize) {
    match kind {
        Kind::Id => (2950, 16),
        Kind::Bytes => (17, 20),
        Kind::Small => (21, 2),
        Kind::Int => (23, 4),
        Kind::Big => (20, 8),
    }
}

/// One dimension, nulls may occur, the element's type, how many, counted from 1.
fn array_head(element: u32, length: usize, out: &mut BytesMut) -> Result<(), Refusal> {
    out.put_i32(1);
    out.put_i32(1);
    out.put_u32(element);
    out.put_i32(i32::try_from(length)?);
    out.put_i32(1);
    Ok(())
}

fn write_cell(value: Value<'_>, kind: Kind, out: &mut BytesMut) -> Result<(), Refusal> {
    match (value, kind) {
        (Value::Null, _) => out.put_i32(-1),
        (Value::Bytes(bytes), _) => {
            out.put_i32(i32::try_from(bytes.len())?);
            out.put_slice(bytes);
        }
        (Value::Int(int), Kind::Small) => {
            out.put_i32(2);
            out.put_i16(i16::try_from(int)?);
        }
        (Value::Int(int), Kind::Int) => {
            out.put_i32(4);
            out.put_i32(i32::try_from(int)?);
        }
        (Value::Int(int), Kind::Big | Kind::Id | Kind::Bytes) => {
            out.put_i32(8);
            out.put_i64(int);
        }
    }
    Ok(())
}

/// A parameter of a statement with batches.
pub(super) enum BatchParam<'a> {
    /// A column.
    Column(ColumnArray<'a>),
    /// Whole rows.
    Rows(RowArray<'a>),
    /// A scalar.
    Scalar(Scalar<'a>),
}

impl fmt::Debug for BatchParam<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => write!(f, "column {} of {} rows", column.column, column.range.len()),
            Self::Rows(rows) => write!(f, "{} rows", rows.range.len()),
            Self::Scalar(scalar) => fmt::Debug::fmt(scalar, f),
        }
    }
}

impl ToSql for BatchParam<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Refusal> {
        match self {
            Self::Column(column) => column.write(out),
            Self::Rows(rows) => rows.write(ty, out),
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
