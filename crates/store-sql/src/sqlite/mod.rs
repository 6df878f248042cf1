//! SQLite: one writer thread that owns its connection and gathers what waits into one transaction, readers on
//! threads of their own, WAL, and `synchronous=FULL` unless told otherwise, so that acknowledged means durable.
//!
//! Other processes may use the file at the same time: SQLite's locks let one write at a time, every
//! transaction takes the write lock at its beginning, and nothing is remembered between transactions.

mod fault;
mod reader;
mod session;
mod writer;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mainspring_store::{Error, Store};
use rusqlite::Connection;

use crate::dialect::Dialect;
use crate::session::{Backend, Fault, ReadRows, Result, Work};
use crate::store::SqlStore;
use crate::url::Options;
use crate::value::{Decode, Param};

/// Prepared statements that a connection keeps.
const STATEMENTS_KEPT: usize = 128;

/// A SQLite file.
pub(crate) struct Sqlite {
    writer: writer::Writer,
    readers: reader::Readers,
}

/// Opens `sqlite:path?options`.
pub(crate) async fn open(url: String) -> Result<Arc<dyn Store>> {
    let settings = Settings::of(&url)?;
    let readers = settings.readers;
    // The writer comes first, because it makes the file and turns its journal into a WAL.
    let writer = writer::Writer::start(settings.clone()).await?;
    let readers = reader::Readers::start(settings, readers).await?;
    Ok(Arc::new(SqlStore::new(Sqlite { writer, readers })))
}

/// What the URL says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Settings {
    path: PathBuf,
    synchronous: &'static str,
    busy_timeout: Duration,
    readers: usize,
}

impl Settings {
    fn of(url: &str) -> Result<Self> {
        let mut options = Options::of(url);
        let path = options.base.strip_prefix("sqlite:").unwrap_or(&options.base);
        let path = PathBuf::from(path.strip_prefix("//").unwrap_or(path));
        if path.as_os_str().is_empty() || path == Path::new(":memory:") {
            return Err(Error::Open(
                "`sqlite:` needs the path of a file, as in `sqlite:mainspring.db`".into(),
            ));
        }
        let words = ["full", "normal"];
        let synchronous = words[options.take_word("synchronous", &words, 0)?];
        let busy_timeout = options.take_millis("busy_timeout_ms", Duration::from_secs(10))?;
        let readers = options.take_number("readers", 4)?.clamp(1, 64) as usize;
        options.finish("synchronous, busy_timeout_ms, readers")?;
        Ok(Self { path, synchronous, busy_timeout, readers })
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.path)?;
        connection.busy_timeout(self.busy_timeout)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        Ok(connection)
    }

    fn connect_writer(&self) -> rusqlite::Result<Connection> {
        let connection = self.connect()?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", self.synchronous)?;
        // Fewer, larger checkpoints: a page that changes often is copied once. The file is cut back after.
        connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
        connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
        // Not more: a commit in which pages changed places looks through the whole cache.
        connection.pragma_update(None, "cache_size", -8_000)?;
        Ok(connection)
    }

    fn connect_reader(&self) -> rusqlite::Result<Connection> {
        let connection = self.connect()?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    fn cannot_open(&self, error: &rusqlite::Error) -> Error {
        Error::Open(format!("cannot open the SQLite file {}: {error}", self.path.display()))
    }
}

impl Backend for Sqlite {
    const DIALECT: Dialect = Dialect::Sqlite;

    async fn transaction<W: Work>(&self, work: Arc<W>) -> Result<W::Answer, Fault> {
        self.writer.run(work).await
    }

    async fn migration<W: Work>(&self, work: Arc<W>) -> Result<W::Answer, Fault> {
        self.writer.run(work).await
    }

    async fn read<T: Send + 'static>(
        &self,
        text: Cow<'static, str>,
        params: Vec<Param>,
        decode: Decode<T>,
    ) -> Result<ReadRows<T>> {
        self.readers.read(text, params, decode).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_file_and_options() {
        let settings = Settings::of("sqlite:a/b.db?synchronous=normal&readers=2").unwrap();
        assert_eq!(settings.path, Path::new("a/b.db"));
        assert_eq!((settings.synchronous, settings.readers), ("normal", 2));
        assert_eq!(Settings::of("sqlite:///x/y.db").unwrap().path, Path::new("/x/y.db"));
        for bad in ["sqlite:", "sqlite::memory:", "sqlite:a?synchronous=off", "sqlite:a?sync=full"] {
            assert!(Settings::of(bad).is_err(), "{bad}");
        }
    }
}
