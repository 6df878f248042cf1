//! The statements that the store sends, written by hand: what the raw side issues.

use super::sample::Column;

/// The compare-and-set of the fence; the parameters are seq, cell, epoch and the seq before.
pub(super) const ADVANCE: &str =
    "UPDATE leases SET seq = ? WHERE cell = ? AND epoch = ? AND seq = ? AND holder IS NOT NULL";

/// How many columns the key of the counters has, and that of an update with its expected version.
const COUNTER_KEY: usize = 3;
const COMPARED: usize = 2;

/// SQLite: one row.
pub(super) mod sqlite {
    use super::*;

    pub(in crate::store) fn insert(columns: &[Column]) -> String {
        format!(
            "INSERT INTO runs ({}) VALUES ({}) ON CONFLICT DO NOTHING",
            names(columns),
            questions(columns)
        )
    }

    pub(in crate::store) fn update(columns: &[Column]) -> String {
        let set = each(&columns[COMPARED..], |at, name| format!("{name} = ?{}", at + COMPARED + 1));
        format!("UPDATE runs SET {set} WHERE id = ?1 AND version = ?2")
    }

    pub(in crate::store) fn add(columns: &[Column]) -> String {
        let sums = each(&columns[COUNTER_KEY..], |_, name| format!("{name} = {name} + excluded.{name}"));
        format!(
            "INSERT INTO counters ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {sums}",
            names(columns),
            questions(columns),
            names(&columns[..COUNTER_KEY]),
        )
    }
}

/// PostgreSQL: a transaction is one statement, and runs are one array of rows.
pub(super) mod postgres {
    use super::*;

    const FENCE: &str = "WITH p0 AS (UPDATE leases SET seq = $1 WHERE cell = $2 AND epoch = $3 AND seq = $4 \
         AND holder IS NOT NULL RETURNING 1)";
    const FENCE_CHECK: &str = "1 / (SELECT count(*) FROM p0)";
    const UPDATE_CHECK: &str = "1 / (SELECT CASE WHEN count(*) = $6::int8 THEN 1 ELSE 0 END FROM p1)";

    /// The fifth parameter is the array of runs; its type has these columns.
    pub(in crate::store) fn insert(columns: &[Column]) -> String {
        let write =
            format!("INSERT INTO runs AS t ({}) SELECT * FROM unnest($5::run_insert[])", names(columns));
        format!("{FENCE}, p1 AS ({write}) SELECT {FENCE_CHECK} AS checked, NULL::uuid AS key")
    }

    /// The fifth parameter is the array of statuses, whose type has these columns; the sixth is their number, and
    /// arrays of the counters' columns follow.
    pub(in crate::store) fn update(columns: &[Column], counters: Option<&[Column]>) -> String {
        let set = each(&columns[COMPARED..], |at, name| format!("{name} = v.c{}", at + COMPARED));
        let aliases = each(columns, |at, _| format!("c{at}"));
        let write = format!(
            "UPDATE runs t SET {set} FROM unnest($5::run_update[]) AS v({aliases}) \
             WHERE t.id = v.c0 AND t.version = v.c1 RETURNING 1"
        );
        let add = counters.map_or(String::new(), |columns| format!(", p2 AS ({})", add(columns, 7)));
        format!(
            "{FENCE}, p1 AS ({write}){add} SELECT {FENCE_CHECK} * {UPDATE_CHECK} AS checked, NULL::uuid AS key"
        )
    }

    fn add(columns: &[Column], first: usize) -> String {
        let sums = each(&columns[COUNTER_KEY..], |_, name| format!("{name} = t.{name} + excluded.{name}"));
        let array = |(at, column): (usize, &Column)| format!("${}::{}[]", at + first, column.element);
        let arrays: Vec<String> = columns.iter().enumerate().map(array).collect();
        format!(
            "INSERT INTO counters AS t ({}) SELECT * FROM unnest({}) ON CONFLICT ({}) DO UPDATE SET {sums}",
            names(columns),
            arrays.join(", "),
            names(&columns[..COUNTER_KEY]),
        )
    }
}

/// MySQL: so many rows.
pub(super) mod mysql {
    use super::*;

    pub(in crate::store) fn insert(columns: &[Column], rows: usize) -> String {
        let row = format!("({})", questions(columns));
        format!("INSERT INTO runs ({}) VALUES {}", names(columns), vec![row; rows].join(", "))
    }

    pub(in crate::store) fn update(columns: &[Column], rows: usize) -> String {
        let first = each(columns, |at, _| format!("? AS c{at}"));
        let other = format!(" UNION ALL SELECT {}", questions(columns)).repeat(rows - 1);
        let set = each(&columns[COMPARED..], |at, name| format!("t.{name} = v.c{}", at + COMPARED));
        format!(
            "UPDATE (SELECT {first}{other}) v STRAIGHT_JOIN runs t ON t.id = v.c0 SET {set} WHERE t.version = v.c1"
        )
    }

    pub(in crate::store) fn add(columns: &[Column], rows: usize) -> String {
        let row = format!("({})", questions(columns));
        let sums = each(&columns[COUNTER_KEY..], |_, name| format!("{name} = {name} + VALUES({name})"));
        format!(
            "INSERT INTO counters ({}) VALUES {} ON DUPLICATE KEY UPDATE {sums}",
            names(columns),
            vec![row; rows].join(", "),
        )
    }
}

fn names(columns: &[Column]) -> String {
    each(columns, |_, name| name.to_owned())
}

fn questions(columns: &[Column]) -> String {
    each(columns, |_, _| "?".to_owned())
}

fn each(columns: &[Column], text: impl Fn(usize, &str) -> String) -> String {
    let texts: Vec<String> = columns.iter().enumerate().map(|(at, column)| text(at, &column.name)).collect();
    texts.join(", ")
}
