//! A whole transaction as one statement: the fence and every batch as parts of one `WITH`, which PostgreSQL commits
//! by itself. One message goes out and one comes back, where a transaction of its own would take four each.
//!
//! Batches hope that no row is in the way. A fence that does not match, or a compare-and-set that misses a row,
//! divides by zero; a duplicate raises the server's own error; either undoes everything, and the transaction is run
//! again step by step (`session`). The fence is asked for first in the last `SELECT`, so it is also locked first.
//! Runs with idempotency keys do not hope: they answer with the ids of those that were inserted.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use super::param::{BatchParam, Scalar, batch_params};
use super::session::{BYTES_MAX, ROWS_MAX};
use crate::batch::{self, Action, Batch};
use crate::batch_text;
use crate::dialect::{Dialect, Sql, numbered};
use crate::session::Op;
use crate::value::{Rows, Value};

/// Operations that fit into one statement.
pub(super) struct Fused<'a> {
    parts: Vec<Part>,
    /// The values of all parts, in order.
    pub(super) params: Vec<BatchParam<'a>>,
    /// The position of the operation that answers with keys, and its batch and rows.
    pub(super) answering: Option<(usize, &'static Batch, &'a dyn Rows)>,
}

/// A part of the statement.
#[derive(Clone, Copy)]
enum Part {
    Guard(&'static Sql),
    Hopeful(&'static Batch),
    Answering(&'static Batch),
}

impl<'a> Fused<'a> {
    /// The operations as one statement, if they can be: a guard first, then batches of different kinds, each small
    /// enough for one message, of which at most one looks for rows in the way.
    pub(super) fn of(ops: &[Op<'a>]) -> Option<Self> {
        let mut fused = Self { parts: Vec::with_capacity(ops.len()), params: Vec::new(), answering: None };
        for (at, op) in ops.iter().enumerate() {
            match *op {
                Op::Guard(sql, values) if at == 0 => {
                    fused.params.extend(values.iter().map(|value| BatchParam::Scalar(Scalar(*value))));
                    fused.parts.push(Part::Guard(sql));
                }
                Op::Guard(..) | Op::Execute(..) => return None,
                Op::Batch { batch, rows, contested } => fused.push(at, batch, rows, contested)?,
            }
        }
        (!fused.parts.is_empty()).then_some(fused)
    }

    fn push(&mut self, at: usize, batch: &'static Batch, rows: &'a dyn Rows, contested: bool) -> Option<()> {
        let is_known = self.parts.iter().any(|part| part.is_of(batch));
        let ranges = batch::cut(rows, ROWS_MAX, BYTES_MAX);
        let (false, [range]) = (is_known, ranges.as_slice()) else { return None };
        let answers = contested && matches!(batch.action, Action::InsertAbsent { .. });
        if answers && (self.answering.is_some() || batch.key != 1) {
            return None;
        }
        self.params.extend(batch_params(batch, rows, range.clone()));
        if answers {
            self.answering = Some((at, batch, rows));
            self.parts.push(Part::Answering(batch));
        } else {
            if batch.action.compares() {
                self.params.push(BatchParam::Scalar(Scalar(Value::Int(rows.len() as i64))));
            }
            self.parts.push(Part::Hopeful(batch));
        }
        Some(())
    }
}

impl Part {
    fn is_of(&self, other: &'static Batch) -> bool {
        matches!(self, Self::Hopeful(batch) | Self::Answering(batch) if std::ptr::eq(*batch, other))
    }

    /// What tells it from other parts.
    fn key(&self) -> (u8, usize) {
        match self {
            Self::Guard(sql) => (0, std::ptr::from_ref::<Sql>(sql).addr()),
            Self::Hopeful(batch) => (1, std::ptr::from_ref::<Batch>(batch).addr()),
            Self::Answering(batch) => (2, std::ptr::from_ref::<Batch>(batch).addr()),
        }
    }
}

/// The kinds and sizes of a batch's parts, and the text that was made for them.
type FusedText = (Vec<(u8, usize)>, Arc<str>);

/// The texts of fused statements, each made once. There are as many as combinations of batches occur: a few.
#[derive(Default)]
pub(super) struct FusedTexts(Mutex<Vec<FusedText>>);

impl FusedTexts {
    pub(super) fn of(&self, fused: &Fused<'_>) -> Arc<str> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |keys: &[(u8, usize)]| keys.iter().copied().eq(fused.parts.iter().map(Part::key));
        if let Some((_, text)) = made.iter().find(|(keys, _)| same(keys)) {
            return Arc::clone(text);
        }
        let text: Arc<str> = text(&fused.parts).into();
        made.push((fused.parts.iter().map(Part::key).collect(), Arc::clone(&text)));
        text
    }
}

fn text(parts: &[Part]) -> String {
    let mut with = String::from("WITH ");
    let mut checks = Vec::new();
    let mut answer = String::new();
    let mut first = 1;
    for (at, part) in parts.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        match part {
            Part::Guard(sql) => {
                let text = numbered(sql.text(Dialect::Postgres), first);
                first += text.matches('$').count();
                let _ = write!(with, "{comma}p{at} AS ({text} RETURNING 1)");
                checks.push(format!("1 / (SELECT count(*) FROM p{at})"));
            }
            Part::Hopeful(batch) => {
                let _ = write!(with, "{comma}p{at} AS ({}", batch_text::postgres_write(batch, first));
                first += batch_text::postgres_params(batch);
                if batch.action.compares() {
                    with.push_str(" RETURNING 1");
                    let count = format!("CASE WHEN count(*) = ${first}::int8 THEN 1 ELSE 0 END");
                    checks.push(format!("1 / (SELECT {count} FROM p{at})"));
                    first += 1;
                }
                with.push(')');
            }
            Part::Answering(batch) => {
                let _ = write!(with, "{comma}p{at} AS ({})", batch_text::postgres_answering(batch, first));
                first += batch_text::postgres_params(batch);
                let _ = write!(answer, " UNION ALL SELECT 1, {} FROM p{at}", batch.columns[0].name);
            }
        }
    }
    // One row for the checks, whatever else is answered.
    let checks = if checks.is_empty() { "1".to_owned() } else { checks.join(" * ") };
    format!("{with} SELECT {checks} AS checked, NULL::uuid AS key{answer}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Column, Kind, column};

    const COLUMNS: &[Column] =
        &[column("id", Kind::Id), column("version", Kind::Big), column("state", Kind::Small)];
    static GUARD: Sql = Sql::same("UPDATE leases SET seq = ? WHERE cell = ?");
    static INSERT: Batch = Batch {
        table: "runs",
        columns: COLUMNS,
        key: 1,
        action: Action::InsertAbsent { unique: &[] },
        row_type: None,
    };
    static UPDATE: Batch =
        Batch { table: "runs", columns: COLUMNS, key: 1, action: Action::CompareAndSet, row_type: None };

    #[test]
    fn parts_become_one_statement() {
        assert_eq!(
            text(&[Part::Guard(&GUARD), Part::Answering(&INSERT), Part::Hopeful(&UPDATE)]),
            "WITH p0 AS (UPDATE leases SET seq = $1 WHERE cell = $2 RETURNING 1), \
             p1 AS (INSERT INTO runs AS t (id, version, state) SELECT * FROM unnest($3::uuid[], $4::int8[], $5::int2[]) \
             ON CONFLICT DO NOTHING RETURNING t.id), \
             p2 AS (UPDATE runs t SET state = v.c2 FROM unnest($6::uuid[], $7::int8[], $8::int2[]) AS v(c0, c1, c2) \
             WHERE t.id = v.c0 AND t.version = v.c1 RETURNING 1) \
             SELECT 1 / (SELECT count(*) FROM p0) * 1 / (SELECT CASE WHEN count(*) = $9::int8 THEN 1 ELSE 0 END FROM p2) \
             AS checked, NULL::uuid AS key UNION ALL SELECT 1, id FROM p1"
        );
        assert_eq!(
            text(&[Part::Hopeful(&INSERT)]),
            "WITH p0 AS (INSERT INTO runs AS t (id, version, state) SELECT * FROM \
             unnest($1::uuid[], $2::int8[], $3::int2[])) SELECT 1 AS checked, NULL::uuid AS key"
        );
    }
}
