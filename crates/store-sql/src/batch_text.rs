//! The text of a batch in each dialect.
//!
//! SQLite runs one row's statement in a loop, PostgreSQL unfolds arrays, MySQL has as many rows in the text as
//! in the batch. All three insert what is absent, compare and set, or add.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use crate::batch::{Action, Batch, Column, Kind};

/// The texts of batches, each made once for each number of rows that it names.
pub(crate) struct Texts {
    make: fn(&Batch, usize) -> String,
    made: Mutex<Vec<(&'static Batch, usize, Arc<str>)>>,
}

impl Texts {
    /// Texts of one dialect.
    pub(crate) const fn new(make: fn(&Batch, usize) -> String) -> Self {
        Self { make, made: Mutex::new(Vec::new()) }
    }

    /// The text of a batch.
    pub(crate) fn of(&self, batch: &'static Batch, rows: usize) -> Arc<str> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // There are ten kinds of batches: looking through them costs less than a hash.
        let same = |(known, size, _): &&(&Batch, usize, _)| std::ptr::eq(*known, batch) && *size == rows;
        if let Some((_, _, text)) = made.iter().find(same) {
            return Arc::clone(text);
        }
        let text: Arc<str> = (self.make)(batch, rows).into();
        made.push((batch, rows, Arc::clone(&text)));
        text
    }
}

/// SQLite: the statement of one row, however many there are.
pub(crate) fn sqlite(batch: &Batch, _rows: usize) -> String {
    let Batch { table, columns, key, action, .. } = batch;
    match action {
        Action::InsertAbsent { .. } | Action::Ensure => format!(
            "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
            names(columns, ""),
            numbers(columns.len())
        ),
        Action::CompareAndSet => {
            let set = list(batch.changed_columns(), |out, at, column| {
                let _ = write!(out, "{} = ?{}", column.name, at + key + 2);
            });
            format!("UPDATE {table} SET {set} WHERE {}", equal(&columns[..=*key], numbered))
        }
        Action::CompareAndRemove => {
            format!("DELETE FROM {table} WHERE {}", equal(&columns[..=*key], numbered))
        }
        Action::Add => format!(
            "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}",
            names(columns, ""),
            numbers(columns.len()),
            names(batch.key_columns(), ""),
            sums(batch, "excluded.", ""),
        ),
    }
}

/// PostgreSQL: write what can be, however many rows there are, and answer with the keys of what was.
pub(crate) fn postgres(batch: &Batch, _rows: usize) -> String {
    match batch.action {
        Action::Add | Action::Ensure => postgres_write(batch, 1),
        Action::InsertAbsent { .. } | Action::CompareAndSet | Action::CompareAndRemove => {
            postgres_answering(batch, 1)
        }
    }
}

/// PostgreSQL: leave out rows that meet another, and answer with the keys of the others.
pub(crate) fn postgres_answering(batch: &Batch, first: usize) -> String {
    let write = postgres_write(batch, first);
    let skip =
        if matches!(batch.action, Action::InsertAbsent { .. }) { " ON CONFLICT DO NOTHING" } else { "" };
    format!("{write}{skip} RETURNING {}", names(batch.key_columns(), "t."))
}

/// PostgreSQL: write all rows. The parameters, numbered from `first`, are an array of rows, or one for each column.
pub(crate) fn postgres_write(batch: &Batch, first: usize) -> String {
    let Batch { table, columns, key, action, .. } = batch;
    let arrays = unnest(batch, first);
    let insert = || format!("INSERT INTO {table} AS t ({}) SELECT * FROM {arrays}", names(columns, ""));
    let values = || {
        let aliases = list(columns, |out, at, _| {
            let _ = write!(out, "c{at}");
        });
        format!("{arrays} AS v({aliases})")
    };
    match action {
        Action::InsertAbsent { .. } => insert(),
        Action::Ensure => format!("{} ON CONFLICT DO NOTHING", insert()),
        Action::Add => format!(
            "{} ON CONFLICT ({}) DO UPDATE SET {}",
            insert(),
            names(batch.key_columns(), ""),
            sums(batch, "excluded.", "t."),
        ),
        Action::CompareAndSet => {
            let set = list(batch.changed_columns(), |out, at, column| {
                let _ = write!(out, "{} = v.c{}", column.name, at + key + 1);
            });
            format!(
                "UPDATE {table} t SET {set} FROM {} WHERE {}",
                values(),
                equal(&columns[..=*key], aliased)
            )
        }
        Action::CompareAndRemove => {
            format!("DELETE FROM {table} t USING {} WHERE {}", values(), equal(&columns[..=*key], aliased))
        }
    }
}

/// How many parameters PostgreSQL's text has.
pub(crate) fn postgres_params(batch: &Batch) -> usize {
    if batch.row_type.is_some() { 1 } else { batch.columns.len() }
}

fn unnest(batch: &Batch, first: usize) -> String {
    if let Some(row_type) = batch.row_type {
        return format!("unnest(${first}::{row_type}[])");
    }
    let arrays = list(batch.columns, |out, at, column| {
        let element = match column.kind {
            Kind::Id => "uuid",
            Kind::Bytes => "bytea",
            Kind::Small => "int2",
            Kind::Int => "int4",
            Kind::Big => "int8",
        };
        let _ = write!(out, "${}::{element}[]", at + first);
    });
    format!("unnest({arrays})")
}

/// MySQL: `rows` rows.
pub(crate) fn mysql(batch: &Batch, rows: usize) -> String {
    let Batch { table, columns, key, action, .. } = batch;
    match action {
        Action::InsertAbsent { .. } | Action::Ensure | Action::Add => {
            let mut text = format!("INSERT INTO {table} ({}) VALUES ", names(columns, ""));
            let row = format!("({})", questions(columns.len()));
            for at in 0..rows {
                text.push_str(if at == 0 { "" } else { ", " });
                text.push_str(&row);
            }
            match action {
                Action::Add => {
                    let sums = list(batch.changed_columns(), |out, _, column| {
                        let _ = write!(out, "{0} = {0} + VALUES({0})", column.name);
                    });
                    let _ = write!(text, " ON DUPLICATE KEY UPDATE {sums}");
                }
                Action::Ensure => {
                    let _ = write!(text, " ON DUPLICATE KEY UPDATE {0} = VALUES({0})", columns[0].name);
                }
                Action::InsertAbsent { .. } | Action::CompareAndSet | Action::CompareAndRemove => {}
            }
            text
        }
        Action::CompareAndSet => {
            let set = list(batch.changed_columns(), |out, at, column| {
                let _ = write!(out, "t.{} = v.c{}", column.name, at + key + 1);
            });
            let found = mysql_found(batch, rows);
            format!("UPDATE {found} SET {set} WHERE t.{} = v.c{key}", columns[*key].name)
        }
        Action::CompareAndRemove => {
            format!("DELETE t FROM {} WHERE t.{} = v.c{key}", mysql_found(batch, rows), columns[*key].name)
        }
    }
}

/// MySQL: `rows` rows as `v`, and those of the table with their keys as `t`.
fn mysql_found(batch: &Batch, rows: usize) -> String {
    let first = list(batch.columns, |out, at, _| {
        let _ = write!(out, "? AS c{at}");
    });
    let other = questions(batch.columns.len());
    let mut text = format!("(SELECT {first}");
    for _ in 1..rows {
        let _ = write!(text, " UNION ALL SELECT {other}");
    }
    format!("{text}) v STRAIGHT_JOIN {} t ON {}", batch.table, equal(batch.key_columns(), aliased))
}

/// That the first so many columns are equal to the values that `equal` names.
fn equal(columns: &[Column], equal: impl Fn(&str, usize) -> String) -> String {
    let each = columns.iter().enumerate().map(|(at, column)| equal(column.name, at));
    each.collect::<Vec<_>>().join(" AND ")
}

/// SQLite's parameters.
fn numbered(name: &str, at: usize) -> String {
    format!("{name} = ?{}", at + 1)
}

/// Columns of table `t` and values `v`.
fn aliased(name: &str, at: usize) -> String {
    format!("t.{name} = v.c{at}")
}

fn names(columns: &[Column], prefix: &str) -> String {
    list(columns, |out, _, column| {
        let _ = write!(out, "{prefix}{}", column.name);
    })
}

fn sums(batch: &Batch, new: &str, old: &str) -> String {
    list(batch.changed_columns(), |out, _, column| {
        let _ = write!(out, "{0} = {old}{0} + {new}{0}", column.name);
    })
}

fn numbers(count: usize) -> String {
    (1..=count).map(|at| format!("?{at}")).collect::<Vec<_>>().join(", ")
}

/// So many `?`.
pub(crate) fn questions(count: usize) -> String {
    vec!["?"; count].join(", ")
}

fn list(columns: &[Column], mut item: impl FnMut(&mut String, usize, &Column)) -> String {
    let mut out = String::with_capacity(columns.len() * 16);
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        item(&mut out, at, column);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::column;

    const COLUMNS: &[Column] =
        &[column("id", Kind::Id), column("version", Kind::Big), column("state", Kind::Small)];
    const fn batch(action: Action) -> Batch {
        Batch { table: "runs", columns: COLUMNS, key: 1, action, row_type: None }
    }

    #[test]
    fn inserts_what_is_absent() {
        let insert = batch(Action::InsertAbsent { unique: &[] });
        assert_eq!(
            sqlite(&insert, 1),
            "INSERT INTO runs (id, version, state) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING"
        );
        assert_eq!(
            postgres(&insert, 2),
            "INSERT INTO runs AS t (id, version, state) SELECT * FROM unnest($1::uuid[], $2::int8[], $3::int2[]) \
             ON CONFLICT DO NOTHING RETURNING t.id"
        );
        let by_row = Batch { row_type: Some("run_insert"), ..insert };
        assert_eq!(
            postgres_write(&by_row, 5),
            "INSERT INTO runs AS t (id, version, state) SELECT * FROM unnest($5::run_insert[])"
        );
        assert_eq!(mysql(&insert, 2), "INSERT INTO runs (id, version, state) VALUES (?, ?, ?), (?, ?, ?)");
    }

    #[test]
    fn compares_and_sets() {
        let update = batch(Action::CompareAndSet);
        assert_eq!(sqlite(&update, 1), "UPDATE runs SET state = ?3 WHERE id = ?1 AND version = ?2");
        assert_eq!(
            postgres(&update, 2),
            "UPDATE runs t SET state = v.c2 FROM unnest($1::uuid[], $2::int8[], $3::int2[]) AS v(c0, c1, c2) \
             WHERE t.id = v.c0 AND t.version = v.c1 RETURNING t.id"
        );
        assert_eq!(
            mysql(&update, 2),
            "UPDATE (SELECT ? AS c0, ? AS c1, ? AS c2 UNION ALL SELECT ?, ?, ?) v STRAIGHT_JOIN runs t \
             ON t.id = v.c0 SET t.state = v.c2 WHERE t.version = v.c1"
        );
    }

    #[test]
    fn compares_and_removes() {
        let remove = Batch { columns: &COLUMNS[..2], ..batch(Action::CompareAndRemove) };
        assert_eq!(sqlite(&remove, 1), "DELETE FROM runs WHERE id = ?1 AND version = ?2");
        assert_eq!(
            postgres(&remove, 2),
            "DELETE FROM runs t USING unnest($1::uuid[], $2::int8[]) AS v(c0, c1) \
             WHERE t.id = v.c0 AND t.version = v.c1 RETURNING t.id"
        );
        assert_eq!(
            mysql(&remove, 2),
            "DELETE t FROM (SELECT ? AS c0, ? AS c1 UNION ALL SELECT ?, ?) v STRAIGHT_JOIN runs t \
             ON t.id = v.c0 WHERE t.version = v.c1"
        );
    }

    #[test]
    fn adds() {
        let add = batch(Action::Add);
        assert!(sqlite(&add, 1).ends_with(
            "ON CONFLICT (id) DO UPDATE SET version = version + excluded.version, state = state + excluded.state"
        ));
        assert!(postgres(&add, 2).ends_with(
            "ON CONFLICT (id) DO UPDATE SET version = t.version + excluded.version, state = t.state + excluded.state"
        ));
        assert!(mysql(&add, 1).ends_with(
            "ON DUPLICATE KEY UPDATE version = version + VALUES(version), state = state + VALUES(state)"
        ));
    }
}
