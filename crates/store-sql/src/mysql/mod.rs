//! MySQL 8 and MariaDB 10.11, in what both understand: no `RETURNING`, no `VALUES ROW`, no JSON.
//!
//! Connections count found rows, not changed ones, so that a compare-and-set that writes the same value counts; they
//! compare bytes; they read what is committed. Every transaction and read comes to its end even when the caller stops
//! waiting, so that no request is left half read on a connection.

mod batch;
mod fault;
mod lent;
mod param;
mod session;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use mainspring_store::{Error, Store};
use mysql_async::prelude::Queryable;
use mysql_async::{Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, SslOpts};

use self::lent::Lent;
use self::param::{MysqlRow, params};
use self::session::MysqlSession;
use crate::batch_text::{self, Texts};
use crate::dialect::Dialect;
use crate::session::{Backend, Fault, ReadRows, Result, Work, chain, to_its_end, without_limit};
use crate::store::SqlStore;
use crate::tls::{self, Tls};
use crate::transact::transact;
use crate::url::Options;
use crate::value::{Decode, Param};

/// How long a caller waits for a connection.
const POOL_WAIT: Duration = Duration::from_secs(10);
/// Prepared statements that a connection keeps: batches in a few sizes, and reads.
const STATEMENTS_KEPT: usize = 256;

/// What each connection is told at its start: values are bytes, nothing is cut silently, what is committed is read,
/// no lock is waited for without end, and the clock is UTC.
const SETUP: [&str; 6] = [
    "SET NAMES binary",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION innodb_lock_wait_timeout = 5",
    "SET SESSION lock_wait_timeout = 60",
    "SET SESSION time_zone = '+00:00'",
];

/// A MySQL or MariaDB database.
pub(crate) struct Mysql(Arc<Shared>);

struct Shared {
    pool: Pool,
    texts: Arc<Texts>,
}

/// Opens `mysql://user:password@host/database?options`.
pub(crate) async fn open(url: String) -> Result<Arc<dyn Store>> {
    let pool = Pool::new(options_of(&url)?);
    let shared = Shared { pool, texts: Arc::new(Texts::new(batch_text::mysql)) };
    // Fails here and now when the server cannot be reached or refuses us.
    match tokio::time::timeout(POOL_WAIT, shared.pool.get_conn()).await {
        Ok(Ok(conn)) => Lent::new(conn).give_back(),
        Ok(Err(error)) if fault::is_away(&error) => return Err(Error::unavailable(error)),
        Ok(Err(error)) => return Err(Error::Open(format!("cannot connect to MySQL: {}", chain(&error)))),
        Err(late) => return Err(Error::unavailable(late)),
    }
    Ok(Arc::new(SqlStore::new(Mysql(Arc::new(shared)))))
}

fn options_of(url: &str) -> Result<Opts> {
    let mut options = Options::of(url);
    let pool_size = options.take_number("pool_size", 16)?.clamp(1, 1000) as usize;
    let tls = Tls::take(&mut options)?;
    let base = options.rest();
    let base = base.strip_prefix("mariadb:").map_or(base.clone(), |rest| format!("mysql:{rest}"));
    // The error of the driver may repeat the URL with its password, so only its kind is told.
    let opts = Opts::from_url(&base).map_err(|_| Error::Open("the MySQL URL cannot be read".into()))?;
    let constraints = PoolConstraints::new(1, pool_size).unwrap_or_default();
    let pool = PoolOpts::new()
        .with_constraints(constraints)
        // A reset would forget the prepared statements. Only connections whose transaction ended go back.
        .with_reset_connection(false)
        .with_inactive_connection_ttl(Duration::from_secs(300));
    let encrypt = tls.is_required(tls::is_local(opts.ip_or_hostname()));
    let ssl = encrypt.then(|| match &tls.root_cert {
        None => SslOpts::default(),
        Some(path) => {
            SslOpts::default().with_root_certs(vec![path.clone().into()]).with_disable_built_in_roots(true)
        }
    });
    Ok(OptsBuilder::from_opts(opts)
        .pool_opts(pool)
        .ssl_opts(ssl)
        .prefer_socket(false)
        .client_found_rows(true)
        .stmt_cache_size(STATEMENTS_KEPT)
        .tcp_keepalive(Some(Duration::from_secs(30)))
        .setup(SETUP.to_vec())
        .into())
}

impl Shared {
    async fn lend(&self) -> Result<Lent, Fault> {
        match tokio::time::timeout(POOL_WAIT, self.pool.get_conn()).await {
            Ok(conn) => conn.map(Lent::new).map_err(Fault::failed),
            Err(_) => Err(Fault::failed("no connection to MySQL became free in time")),
        }
    }

    async fn transact<W: Work>(&self, work: &W) -> Result<W::Answer, Fault> {
        let open = |careful| async move {
            Ok(MysqlSession::new(self.lend().await?, Arc::clone(&self.texts), careful))
        };
        transact(work, open).await
    }

    async fn read<T>(&self, text: &str, values: &[Param], decode: Decode<T>) -> Result<ReadRows<T>, Fault> {
        let mut lent = self.lend().await?;
        let params = params(values.iter().map(Param::value));
        let rows: Vec<mysql_async::Row> =
            async { lent.conn()?.exec(text, params).await }.await.map_err(fault::of_statement)?;
        lent.give_back();
        Ok(rows.into_iter().map(|row| decode(&MysqlRow(row))).collect())
    }
}

impl Backend for Mysql {
    const DIALECT: Dialect = Dialect::Mysql;

    async fn transaction<W: Work>(&self, work: Arc<W>) -> Result<W::Answer, Fault> {
        let shared = Arc::clone(&self.0);
        to_its_end(async move { shared.transact(&*work).await }).await
    }

    async fn migration<W: Work>(&self, work: Arc<W>) -> Result<W::Answer, Fault> {
        let shared = Arc::clone(&self.0);
        without_limit(async move { shared.transact(&*work).await }).await
    }

    async fn read<T: Send + 'static>(
        &self,
        text: Cow<'static, str>,
        params: Vec<Param>,
        decode: Decode<T>,
    ) -> Result<ReadRows<T>> {
        let shared = Arc::clone(&self.0);
        let read = to_its_end(async move {
            match shared.read(&text, &params, decode).await {
                // A connection that the server closed behind our back: a read may simply be asked again.
                Err(_) => shared.read(&text, &params, decode).await,
                answer => answer,
            }
        });
        match read.await {
            Ok(rows) => Ok(rows),
            Err(Fault::Unknown(source)) => Err(Error::Unavailable(source)),
            Err(fault) => Err(fault.into()),
        }
    }
}
