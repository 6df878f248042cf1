//! Batched writes as data: which table, which columns, what makes a row unique, and what to do with it.
//! Each dialect makes its own statement text from the same description, so the three cannot drift apart.
//!
//! Invariant: the first `key` columns are the primary key, and rows come sorted by it, so that every
//! transaction locks in one order.

/// What a column holds, as far as a dialect must name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 16 bytes.
    Id,
    /// Names, payloads.
    Bytes,
    /// Small numbers: states, shelves, causes.
    Small,
    /// Middling numbers: cells, priorities.
    Int,
    /// Times, versions and every other number.
    Big,
}

/// A column of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) kind: Kind,
}

/// A column by name and kind.
pub(crate) const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

/// What a batch does with each of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Insert it unless a row with its primary key, or with its value in the unique columns, exists.
    InsertAbsent {
        /// Positions of the columns of the second unique key, if the table has one.
        unique: &'static [usize],
    },
    /// Set all columns after the compared one where the primary key matches and the compared column, which
    /// follows the key, has the row's value.
    CompareAndSet,
    /// Remove the row where the primary key matches and the compared column, which follows the key, has the row's value.
    CompareAndRemove,
    /// Insert it unless it exists, which is as good.
    Ensure,
    /// Insert it, or add the columns after the key to those of the row that exists.
    Add,
}

impl Action {
    /// Whether it finds each of its rows only as the caller expects it.
    pub(crate) const fn compares(self) -> bool {
        matches!(self, Self::CompareAndSet | Self::CompareAndRemove)
    }
}

/// A kind of batched write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// The table.
    pub(crate) table: &'static str,
    /// The columns, the primary key first.
    pub(crate) columns: &'static [Column],
    /// How many columns the primary key has.
    pub(crate) key: usize,
    /// What to do.
    pub(crate) action: Action,
    /// The type of a whole row in PostgreSQL, for batches that must be fast: one array of rows is unfolded there with
    /// less work than an array for each column.
    pub(crate) row_type: Option<&'static str>,
}

impl Batch {
    /// The columns of the primary key.
    pub(crate) fn key_columns(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }
    /// The columns that [`Action::CompareAndSet`] sets or [`Action::Add`] adds to.
    pub(crate) fn changed_columns(&self) -> &'static [Column] {
        match self.action {
            Action::InsertAbsent { .. } | Action::Ensure | Action::CompareAndRemove => &[],
            Action::CompareAndSet => &self.columns[self.key + 1..],
            Action::Add => &self.columns[self.key..],
        }
    }
}

/// Cuts `rows` rows into ranges of at most `rows_max` rows and about `bytes_max` heavy bytes.
pub(crate) fn cut(
    rows: &dyn crate::value::Rows,
    rows_max: usize,
    bytes_max: usize,
) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::with_capacity(1);
    let (mut begin, mut bytes) = (0, 0);
    for row in 0..rows.len() {
        let heavy = rows.heavy_bytes(row);
        if row > begin && (row - begin >= rows_max || bytes + heavy > bytes_max) {
            ranges.push(begin..row);
            (begin, bytes) = (row, 0);
        }
        bytes += heavy;
    }
    if begin < rows.len() {
        ranges.push(begin..rows.len());
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Rows, Value};

    struct Weights(Vec<usize>);
    impl Rows for Weights {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn value(&self, _: usize, _: usize) -> Value<'_> {
            Value::Null
        }
        fn heavy_bytes(&self, row: usize) -> usize {
            self.0[row]
        }
    }

    #[test]
    #[allow(clippy::single_range_in_vec_init, reason = "one chunk is one range")]
    fn cuts_by_rows_and_by_bytes_and_never_leaves_one_out() {
        for (weights, ranges) in [
            (vec![], vec![]),
            (vec![1, 1], vec![0..2]),
            (vec![1, 1, 1, 1, 1], vec![0..3, 3..5]),
            (vec![9, 9, 1], vec![0..1, 1..3]),
            (vec![99, 99], vec![0..1, 1..2]),
        ] {
            assert_eq!(cut(&Weights(weights.clone()), 3, 10), ranges, "{weights:?}");
        }
    }
}
