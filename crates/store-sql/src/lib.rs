//! SQLite, PostgreSQL and MySQL (or MariaDB) behind the store contract.
//!
//! - `verbs`: one body for each verb, over the small interface in `session`.
//! - `rows`: what becomes of each thing in columns and opaque detail, and back.
//! - `dialect`, `batch`, `batch_text`: statements as data; one text for all servers where they agree.
//! - `sqlite`, `postgres`, `mysql`: the drivers, each behind `session`.
//! - `migrate` and `migrations/`: the schema.
//!
//! What is absent: rules. Statements compare and set; `model` and the caller decide. No statement asks the
//! server for the time but [`mainspring_store::Store::clock`].

mod away;
mod backoff;
mod batch;
mod batch_text;
mod dialect;
mod known_jobs;
mod migrate;
mod mysql;
mod postgres;
mod rows;
mod session;
mod sqlite;
mod store;
mod tls;
mod transact;
mod url;
mod value;
mod verbs;

use std::sync::Arc;

use mainspring_store::{Registry, Store};

/// Lets `registry` open `sqlite:path`, `postgres://…`, `postgresql://…`, `mysql://…` and `mariadb://…`.
///
/// Options follow a `?`, as `name=value` joined by `&`:
/// - `sqlite:` `synchronous` (`full`, which is the default, or `normal`), `readers` (connections, 4),
///   `busy_timeout_ms` (10000).
/// - `postgres:` `pool_size` (16), `sslmode` (`disable` or `require`), `sslrootcert` (a PEM file), and what
///   libpq's URLs have.
/// - `mysql:` `pool_size` (16), `sslmode`, `sslrootcert`.
///
/// `sslmode` is `disable` for a server on this machine and `require` for any other, unless given. `require`
/// always checks the server's certificate and name.
pub fn register(registry: &mut Registry) {
    registry.register("sqlite", opener(sqlite::open));
    registry.register("postgres", opener(postgres::open));
    registry.register("postgresql", opener(postgres::open));
    registry.register("mysql", opener(mysql::open));
    registry.register("mariadb", opener(mysql::open));
}

fn opener<F>(open: fn(String) -> F) -> mainspring_store::Opener
where
    F: Future<Output = mainspring_store::Result<Arc<dyn Store>>> + Send + 'static,
{
    Box::new(move |url| Box::pin(open(url)))
}

/// Statements of ours that must not scan history, each with its name, as `SQLite`, `PostgreSQL` or `MySQL` gets them:
/// for tests that look at the server's plans.
#[doc(hidden)]
pub fn plan_probes(server: &str) -> Vec<(&'static str, String)> {
    let dialect = match server {
        "SQLite" => dialect::Dialect::Sqlite,
        "PostgreSQL" => dialect::Dialect::Postgres,
        _ => dialect::Dialect::Mysql,
    };
    let job = mainspring_model::JobId::MIN;
    let mut probes = verbs::runs::probes(dialect);
    probes.extend(verbs::newest::probes(dialect, job, &mainspring_model::Namespace::default()));
    probes.extend(verbs::records::probes(dialect));
    probes.extend(verbs::lookup::probes(dialect));
    probes.extend(verbs::jobs::probes(dialect, job));
    probes.extend(verbs::ends::probes(dialect, job));
    probes
}
