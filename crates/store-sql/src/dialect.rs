//! The three ways of speaking SQL, as data: a statement has one text for all, or one for each.
//!
//! Parameters are written `?` everywhere and used in order, never twice; PostgreSQL's text is renumbered on
//! its way out. The text of batches is made in `batch_text`.

use std::borrow::Cow;
use std::fmt::Write;

/// Whose SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB, as far as they agree.
    Mysql,
}

/// A statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sql {
    sqlite: &'static str,
    postgres: &'static str,
    mysql: &'static str,
}

impl Sql {
    /// A statement that all servers read alike.
    pub(crate) const fn same(text: &'static str) -> Self {
        Self { sqlite: text, postgres: text, mysql: text }
    }
    /// A statement that they do not.
    pub(crate) const fn each(sqlite: &'static str, postgres: &'static str, mysql: &'static str) -> Self {
        Self { sqlite, postgres, mysql }
    }
    /// A read whose rows stay locked until the end of the transaction. SQLite has one writer and no such words.
    pub(crate) const fn locking(plain: &'static str, locked: &'static str) -> Self {
        Self { sqlite: plain, postgres: locked, mysql: locked }
    }
    /// Its text.
    pub(crate) const fn text(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
            Dialect::Mysql => self.mysql,
        }
    }
}

impl Dialect {
    /// Whether the index of jobs has active runs too, or ended ones only.
    pub(crate) const fn job_index_has_active(self) -> bool {
        match self {
            Self::Sqlite | Self::Mysql => true,
            Self::Postgres => false,
        }
    }
}

/// The text with `$first` and those that follow for each `?`. None of our statements has a `?` in a literal.
pub(crate) fn numbered(text: &str, first: usize) -> Cow<'_, str> {
    if !text.contains('?') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 32);
    let mut parts = text.split('?');
    out.push_str(parts.next().unwrap_or_default());
    for (index, part) in parts.enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(out, "${}", index + first);
        out.push_str(part);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_in_order() {
        assert_eq!(numbered("SELECT 1", 1), "SELECT 1");
        assert_eq!(numbered("a = ? AND b IN (?, ?)", 3), "a = $3 AND b IN ($4, $5)");
    }
}
