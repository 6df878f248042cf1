//! PostgreSQL: a pool of connections, arrays unfolded into batches, and most transactions in one statement.
//!
//! Every transaction comes to its end even when the caller stops waiting.

mod fault;
mod fused;
mod param;
mod session;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use mainspring_store::{Error, Store};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use self::param::{PostgresRow, Scalar};
use self::session::PostgresSession;
use crate::dialect::{Dialect, numbered};
use crate::session::{Backend, Fault, ReadRows, Result, Work, chain, to_its_end, without_limit};
use crate::store::SqlStore;
use crate::tls::{self, Tls};
use crate::transact::transact;
use crate::url::Options;
use crate::value::{Decode, Param};

/// How long a caller waits for a connection, and a connection for the server.
const POOL_WAIT: Duration = Duration::from_secs(10);

/// What each connection is told at its start: no statement, lock or forgotten transaction lasts for ever, a change of
/// a server-wide default does not change what we rely on, and plans are made once and always by an index, because
/// a plan made while a table was empty would stay when it is not.
const GUARDS: &str = "-c statement_timeout=60000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=60000 \
     -c default_transaction_isolation=read\\ committed -c default_transaction_read_only=off \
     -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off \
     -c enable_bitmapscan=off -c jit=off -c client_min_messages=warning";

/// A PostgreSQL database.
pub(crate) struct Postgres(Arc<Shared>);

struct Shared {
    pool: Pool,
    texts: session::PostgresTexts,
}

/// Opens `postgres://user:password@host/database?options`.
pub(crate) async fn open(url: String) -> Result<Arc<dyn Store>> {
    let pool = pool_of(&url)?;
    // Fails here and now when the server cannot be reached or refuses us.
    drop(pool.get().await.map_err(|error| match fault::is_away(&error) {
        true => Error::unavailable(error),
        false => Error::Open(format!("cannot connect to PostgreSQL: {}", chain(&error))),
    })?);
    let shared = Shared { pool, texts: session::PostgresTexts::default() };
    Ok(Arc::new(SqlStore::new(Postgres(Arc::new(shared)))))
}

fn pool_of(url: &str) -> Result<Pool> {
    let mut options = Options::of(url);
    let pool_size = options.take_number("pool_size", 16)?.clamp(1, 1000) as usize;
    let tls = Tls::take(&mut options)?;
    // The error of the driver may repeat the URL with its password, so only its kind is told.
    let mut config: Config =
        options.rest().parse().map_err(|_| Error::Open("the PostgreSQL URL cannot be read".into()))?;
    let guards = match config.get_options() {
        Some(own) => format!("{GUARDS} {own}"),
        None => GUARDS.to_owned(),
    };
    config.options(guards);
    if config.get_application_name().is_none() {
        config.application_name("mainspring");
    }
    config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(Duration::from_secs(30));
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(POOL_WAIT);
    }
    let local = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => tls::is_local(name),
        Host::Unix(_) => true,
    });
    let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = match tls.client_config(local)? {
        None => Manager::from_config(config.ssl_mode(SslMode::Disable).clone(), NoTls, manager_config),
        Some(tls) => {
            let connect = MakeRustlsConnect::new(tls);
            Manager::from_config(config.ssl_mode(SslMode::Require).clone(), connect, manager_config)
        }
    };
    Pool::builder(manager)
        .max_size(pool_size)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(POOL_WAIT))
        .create_timeout(Some(POOL_WAIT))
        .recycle_timeout(Some(POOL_WAIT))
        .build()
        .map_err(|error| Error::Open(error.to_string()))
}

impl Shared {
    async fn client(&self) -> Result<Client, Fault> {
        self.pool.get().await.map_err(Fault::failed)
    }

    async fn transact<W: Work>(&self, work: &W) -> Result<W::Answer, Fault> {
        let open =
            |careful| async move { Ok(PostgresSession::new(self.client().await?, &self.texts, careful)) };
        transact(work, open).await
    }

    async fn read<T>(&self, text: &str, params: &[Param], decode: Decode<T>) -> Result<ReadRows<T>, Fault> {
        let client = self.client().await?;
        let statement = client.prepare_cached(text).await.map_err(fault::of_read)?;
        let params = params.iter().map(|param| Scalar(param.value()));
        let rows = session::read(&client, &statement, params).await;
        let rows = rows.map_err(|error| {
            if fault::is_stale_statement(&error) {
                client.statement_cache.clear();
            }
            fault::of_read(error)
        })?;
        Ok(rows.into_iter().map(|row| decode(&PostgresRow(row))).collect())
    }
}

impl Backend for Postgres {
    const DIALECT: Dialect = Dialect::Postgres;

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
        let text = numbered(&text, 1);
        // A restarted server has closed every connection of the pool behind our back, and a migration makes
        // prepared statements stale: a read may simply be asked again.
        for _ in 0..self.0.pool.status().max_size {
            match self.0.read(&text, &params, decode).await {
                Err(Fault::Again(_)) => {}
                answer => return Ok(answer?),
            }
        }
        Ok(self.0.read(&text, &params, decode).await?)
    }
}
