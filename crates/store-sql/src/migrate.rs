//! Bringing the schema to this program's version: numbered steps, forward only, embedded in the program.
//!
//! Safe to call again, from many processes at once, and after a crash in the middle: a lock of the database
//! lets one at a time, each step can be repeated, and a step is noted with its checksum when it is done. No time limit
//! applies, neither ours nor the server's: a step may build an index on a large table, and others wait for it. Each
//! step also notes the oldest program that can still work after it, so that versions N and N−1 run together
//! (I31) and an older one is told so.

use std::sync::Arc;

use mainspring_model::hash;
use mainspring_store::{Error, Migration};

use crate::dialect::{Dialect, Sql};
use crate::session::{Backend, Fault, Result, Session, Work};
use crate::value::{Damage, Row, Value};

/// A step.
struct Step {
    number: u32,
    name: &'static str,
    /// The newest step that a program must know to work after this one.
    oldest: u32,
    text: Sql,
}

macro_rules! step {
    ($number:literal, $name:literal, works_with: $oldest:literal, $file:literal) => {
        Step {
            number: $number,
            name: $name,
            oldest: $oldest,
            text: Sql::each(
                include_str!(concat!("../migrations/sqlite/", $file)),
                include_str!(concat!("../migrations/postgres/", $file)),
                include_str!(concat!("../migrations/mysql/", $file)),
            ),
        }
    };
}

static STEPS: [Step; 2] = [
    step!(1, "core", works_with: 1, "0001_core.sql"),
    step!(2, "records", works_with: 1, "0002_records.sql"),
];

/// Lifts the server's limits on statements and locks: for the transaction in PostgreSQL, for the connection in MySQL and
/// MariaDB, which have different names for one of them.
static UNLIMITED: [Sql; 2] = [
    Sql::each(
        "SELECT 1",
        "SET LOCAL statement_timeout = 0",
        "SET SESSION lock_wait_timeout = 31536000, innodb_lock_wait_timeout = 31536000 \
         /*M!, max_statement_time = 0 */ /*!50708 , max_execution_time = 0 */",
    ),
    Sql::each("SELECT 1", "SET LOCAL lock_timeout = 0", "SELECT 1"),
];
/// Puts the limits back (see `SETUP` of MySQL). A connection whose migration failed is closed.
static LIMITED: Sql = Sql::each(
    "SELECT 1",
    "SELECT 1",
    "SET SESSION lock_wait_timeout = 60, innodb_lock_wait_timeout = 5 \
     /*M!, max_statement_time = DEFAULT */ /*!50708 , max_execution_time = DEFAULT */",
);
/// One at a time: for the transaction in PostgreSQL, for the connection in MySQL, which ends transactions at
/// every change of the schema; SQLite has one writer anyway.
static LOCK: Sql = Sql::each(
    "SELECT 1",
    "SELECT 1 FROM pg_advisory_xact_lock(hashtextextended('mainspring ' || coalesce(current_schema(), ''), 0))",
    "SELECT GET_LOCK(CONCAT('mainspring ', MD5(DATABASE())), 60)",
);
static UNLOCK: Sql =
    Sql::each("SELECT 1", "SELECT 1", "SELECT RELEASE_LOCK(CONCAT('mainspring ', MD5(DATABASE())))");
static TABLE: Sql = Sql::each(
    "CREATE TABLE IF NOT EXISTS migrations (number INTEGER NOT NULL PRIMARY KEY, name BLOB NOT NULL, \
     checksum INTEGER NOT NULL, oldest INTEGER NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS migrations (number BIGINT NOT NULL PRIMARY KEY, name BYTEA NOT NULL, \
     checksum BIGINT NOT NULL, oldest BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS migrations (number BIGINT NOT NULL PRIMARY KEY, name VARBINARY(128) NOT NULL, \
     checksum BIGINT NOT NULL, oldest BIGINT NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=binary",
);
const APPLIED: &str = "SELECT number, checksum, oldest FROM migrations ORDER BY number";
const NOTE: &str = "INSERT INTO migrations (number, name, checksum, oldest) VALUES (?, ?, ?, ?)";

/// Takes the steps that were not taken yet; tells which.
pub(crate) async fn migrate<B: Backend>(backend: &B) -> Result<Vec<Migration>> {
    Ok(backend.migration(Arc::new(Migrate)).await?)
}

struct Migrate;

impl Work for Migrate {
    type Answer = Vec<Migration>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Migration>, Fault> {
        for limit in &UNLIMITED {
            session.query(limit.text(S::DIALECT), &[], |row| row.int_opt(0)).await?;
        }
        // MySQL answers 0 after a minute in which another process held the lock.
        while !is_locked(&session.query(LOCK.text(S::DIALECT), &[], |row| row.int_opt(0)).await?)? {
            tracing::info!("another process is migrating the database; waiting for it");
        }
        session.execute(TABLE.text(S::DIALECT), &[]).await?;
        let applied = session.query(APPLIED, &[], Noted::decode).await?;
        check(&applied, S::DIALECT).map_err(Fault::Refused)?;
        let mut taken = Vec::new();
        for step in STEPS.iter().filter(|step| applied.iter().all(|noted| noted.number != step.number)) {
            take(session, step).await?;
            taken.push(Migration { number: step.number, name: step.name.into() });
        }
        session.query(UNLOCK.text(S::DIALECT), &[], |row| row.int_opt(0)).await?;
        session.query(LIMITED.text(S::DIALECT), &[], |row| row.int_opt(0)).await?;
        Ok(taken)
    }
}

/// What the database answers to a request for the lock.
fn is_locked(answer: &[Option<i64>]) -> Result<bool, Fault> {
    match answer {
        [Some(1)] => Ok(true),
        [Some(0)] => Ok(false),
        _ => Err(Fault::failed("the database cannot lock its migrations")),
    }
}

async fn take<S: Session>(session: &mut S, step: &Step) -> Result<(), Fault> {
    let text = step.text.text(S::DIALECT);
    for statement in statements(text) {
        session.execute(&statement, &[]).await?;
    }
    let note = [
        Value::Int(i64::from(step.number)),
        Value::Bytes(step.name.as_bytes()),
        Value::Int(checksum(text)),
        Value::Int(i64::from(step.oldest)),
    ];
    session.execute(NOTE, &note).await?;
    Ok(())
}

/// A step that was taken.
struct Noted {
    number: u32,
    checksum: i64,
    oldest: u32,
}

impl Noted {
    fn decode(row: &dyn Row) -> Result<Self, Damage> {
        Ok(Self { number: row.number(0)?, checksum: row.int(1)?, oldest: row.number(2)? })
    }
}

fn check(applied: &[Noted], dialect: Dialect) -> Result<()> {
    let known = STEPS.iter().map(|step| step.number).max().unwrap_or(0);
    for noted in applied {
        match STEPS.iter().find(|step| step.number == noted.number) {
            Some(step) if checksum(step.text.text(dialect)) != noted.checksum => {
                return Err(Error::Open(format!(
                    "migration {} ({}) was changed after this database took it; restore the program that took it, \
                     or the database from a backup",
                    step.number, step.name
                )));
            }
            None if noted.oldest > known => {
                return Err(Error::Open(format!(
                    "the database's schema is at {} and needs a program that knows {}; this one knows {known}: \
                     upgrade the program",
                    noted.number, noted.oldest
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

fn checksum(text: &str) -> i64 {
    hash::bytes(text.as_bytes()) as i64
}

/// The statements of a file, without comments. No statement of ours has a semicolon or two dashes within.
fn statements(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(';').filter_map(|statement| {
        let lines: Vec<&str> =
            statement.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
        let statement = lines.join("\n").trim().to_owned();
        (!statement.is_empty()).then_some(statement)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_become_statements() {
        let text =
            "-- why; not\nCREATE TABLE a (\n    -- a comment\n    b INT\n);\n\nCREATE INDEX c ON a (b);\n";
        let text = text.replace("why; not", "why not");
        let found: Vec<String> = statements(&text).collect();
        assert_eq!(found, ["CREATE TABLE a (\n    b INT\n)", "CREATE INDEX c ON a (b)"]);
    }

    #[test]
    fn no_comment_of_a_step_has_a_semicolon() {
        for step in &STEPS {
            for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
                for line in step.text.text(dialect).lines().filter(|line| line.trim_start().starts_with("--"))
                {
                    assert!(!line.contains(';'), "{line}");
                }
            }
        }
    }

    #[test]
    fn a_lock_is_had_waited_for_or_impossible() {
        assert!(is_locked(&[Some(1)]).unwrap());
        assert!(!is_locked(&[Some(0)]).unwrap());
        assert!(is_locked(&[None]).is_err());
        assert!(is_locked(&[]).is_err());
    }

    #[test]
    fn what_the_database_has_is_checked() {
        let sum = checksum(STEPS[0].text.text(Dialect::Sqlite));
        let noted = |number, checksum, oldest| Noted { number, checksum, oldest };
        let check = |applied: &[Noted]| check(applied, Dialect::Sqlite).map_err(|error| error.to_string());
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[noted(1, sum, 1)]), Ok(()));
        assert!(check(&[noted(1, sum + 1, 1)]).unwrap_err().contains("was changed"));
        assert_eq!(check(&[noted(1, sum, 1), noted(9, 5, 2)]), Ok(()), "ahead of us, and it says we may");
        assert!(check(&[noted(1, sum, 1), noted(9, 5, 9)]).unwrap_err().contains("upgrade the program"));
    }
}
