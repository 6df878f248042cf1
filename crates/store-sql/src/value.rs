//! What travels between a verb and a driver: scalars, batches of rows read column by column, and rows
//! that come back. Three kinds of value are enough: nothing, an integer, bytes. Ids are 16 bytes, times and
//! states are integers, names are bytes.
//!
//! What is absent: the drivers' own types, which live in `sqlite`, `postgres` and `mysql`.

use mainspring_model::Timestamp;

/// One value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// Nothing.
    Null,
    /// A number of any width.
    Int(i64),
    /// An id, a name, a payload.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Nothing, or these bytes.
    pub(crate) fn bytes_or_null(bytes: Option<&'a [u8]>) -> Self {
        bytes.map_or(Self::Null, Value::Bytes)
    }
    /// Nothing when there are no bytes: an ordinary row has no detail and pays nothing for it.
    pub(crate) fn filled_or_null(bytes: &'a [u8]) -> Self {
        if bytes.is_empty() { Self::Null } else { Self::Bytes(bytes) }
    }
    /// Nothing, or this number.
    pub(crate) fn int_or_null(int: Option<i64>) -> Self {
        int.map_or(Self::Null, Value::Int)
    }
    /// How many bytes it takes in a message, roughly.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Null => 4,
            Self::Int(_) => 12,
            Self::Bytes(bytes) => bytes.len() + 4,
        }
    }
}

/// A batch of rows to write, in the order of their primary keys. Drivers ask for one cell at a time, so no
/// column is copied on its way into a message.
pub(crate) trait Rows: Send + Sync {
    /// How many rows.
    fn len(&self) -> usize;
    /// The value of `column` in `row`; columns are those of the batch's [`crate::batch::Batch`].
    fn value(&self, row: usize, column: usize) -> Value<'_>;
    /// The bytes of a row that are beyond the ordinary, so that messages stay within their limits.
    fn heavy_bytes(&self, _row: usize) -> usize {
        0
    }
}

/// A value that outlives the call: for reads that happen on another thread, and for rows that are too rare to
/// be worth more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Param {
    /// Nothing.
    Null,
    /// A number.
    Int(i64),
    /// Bytes.
    Bytes(Box<[u8]>),
}

impl Param {
    /// The same, borrowed.
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(int) => Value::Int(*int),
            Self::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
    /// Nothing, or this moment.
    pub(crate) fn time(at: Option<Timestamp>) -> Self {
        at.map_or(Self::Null, |at| Self::Int(at.as_micros()))
    }
}

impl From<i64> for Param {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<Timestamp> for Param {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.as_micros())
    }
}

impl From<Vec<u8>> for Param {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<&[u8]> for Param {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<&str> for Param {
    fn from(text: &str) -> Self {
        Self::Bytes(text.as_bytes().into())
    }
}

impl From<&[u8; 16]> for Param {
    fn from(id: &[u8; 16]) -> Self {
        Self::Bytes(id.as_slice().into())
    }
}

impl Rows for Vec<Vec<Param>> {
    fn len(&self) -> usize {
        Vec::len(self)
    }
    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self[row][column].value()
    }
    fn heavy_bytes(&self, row: usize) -> usize {
        self[row].iter().map(|param| param.value().size()).sum()
    }
}

/// A row that came back.
pub(crate) trait Row {
    /// The value in `column`, counted from 0.
    fn value(&self, column: usize) -> Result<Value<'_>, Damage>;
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Which row, as far as it could be read.
    pub(crate) row: String,
    /// What is wrong.
    pub(crate) what: String,
}

impl Damage {
    /// Damage in a row whose name is not known yet.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { row: String::new(), what: what.into() }
    }
    /// Names the row.
    pub(crate) fn named(mut self, row: impl std::fmt::Display) -> Self {
        if self.row.is_empty() {
            self.row = row.to_string();
        }
        self
    }
}

impl From<Damage> for mainspring_store::Error {
    fn from(damage: Damage) -> Self {
        let row = if damage.row.is_empty() { "(unnamed)".to_owned() } else { damage.row };
        Self::Damaged { row, what: damage.what }
    }
}

/// Turns a row into something. A function without captures, because SQLite's rows are read on another thread.
pub(crate) type Decode<T> = fn(&dyn Row) -> Result<T, Damage>;

impl dyn Row + '_ {
    /// A number that must be there.
    pub(crate) fn int(&self, column: usize) -> Result<i64, Damage> {
        self.int_opt(column)?.ok_or_else(|| Damage::new(format!("column {column} is null")))
    }
    /// A number.
    pub(crate) fn int_opt(&self, column: usize) -> Result<Option<i64>, Damage> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Int(int) => Ok(Some(int)),
            Value::Bytes(_) => Err(Damage::new(format!("column {column} is not a number"))),
        }
    }
    /// A number that must be there and fit.
    pub(crate) fn number<T: TryFrom<i64>>(&self, column: usize) -> Result<T, Damage> {
        let int = self.int(column)?;
        T::try_from(int).map_err(|_| Damage::new(format!("column {column} holds {int}")))
    }
    /// Bytes that must be there.
    pub(crate) fn bytes(&self, column: usize) -> Result<&[u8], Damage> {
        self.bytes_opt(column)?.ok_or_else(|| Damage::new(format!("column {column} is null")))
    }
    /// Bytes.
    pub(crate) fn bytes_opt(&self, column: usize) -> Result<Option<&[u8]>, Damage> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Bytes(bytes) => Ok(Some(bytes)),
            Value::Int(_) => Err(Damage::new(format!("column {column} is not bytes"))),
        }
    }
    /// Text that must be there.
    pub(crate) fn text(&self, column: usize) -> Result<&str, Damage> {
        std::str::from_utf8(self.bytes(column)?)
            .map_err(|_| Damage::new(format!("column {column} is not UTF-8")))
    }
    /// The 16 bytes of an id that must be there.
    pub(crate) fn id(&self, column: usize) -> Result<[u8; 16], Damage> {
        self.bytes(column)?.try_into().map_err(|_| Damage::new(format!("column {column} is not an id")))
    }
    /// The 16 bytes of an id.
    pub(crate) fn id_opt(&self, column: usize) -> Result<Option<[u8; 16]>, Damage> {
        match self.bytes_opt(column)? {
            None => Ok(None),
            Some(bytes) => {
                bytes.try_into().map(Some).map_err(|_| Damage::new(format!("column {column} is not an id")))
            }
        }
    }
}
