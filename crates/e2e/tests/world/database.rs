//! The stores that a test runs on. `cargo xtask test` gives the servers of PostgreSQL and MariaDB.

use std::path::Path;

use mysql_async::prelude::Queryable;
use tokio_postgres::NoTls;

/// Which store.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Store {
    Sqlite,
    Postgres,
    Mysql,
}

impl Store {
    /// An empty one.
    pub(crate) fn url(self, folder: &Path) -> String {
        match self {
            Self::Sqlite => format!("sqlite:{}", folder.join("server").join("mainspring.db").display()),
            Self::Postgres => self.database("MAINSPRING_TEST_POSTGRES", folder),
            Self::Mysql => self.database("MAINSPRING_TEST_MYSQL", folder),
        }
    }

    /// A new database at a server.
    fn database(self, variable: &str, folder: &Path) -> String {
        let server = std::env::var(variable)
            .unwrap_or_else(|_| panic!("{variable} names a server; run this within `cargo xtask db --`"));
        let unique = folder.file_name().unwrap().to_string_lossy().replace('.', "");
        // Names of folders may differ by their case alone, names of databases may not.
        let name: String = unique.bytes().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("e2e_{name}");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(self.create(&server, &name));
        let (base, _) = server.rsplit_once('/').unwrap();
        format!("{base}/{name}")
    }

    async fn create(self, server: &str, name: &str) {
        let statement = format!("CREATE DATABASE {name}");
        match self {
            Self::Sqlite => {}
            Self::Postgres => {
                let (client, connection) = tokio_postgres::connect(server, NoTls).await.unwrap();
                tokio::spawn(connection);
                client.batch_execute(&statement).await.unwrap();
            }
            Self::Mysql => {
                let options = mysql_async::Opts::from_url(server).unwrap();
                let mut connection = mysql_async::Conn::new(options).await.unwrap();
                connection.query_drop(&statement).await.unwrap();
                connection.disconnect().await.unwrap();
            }
        }
    }
}

/// Makes a test for each store out of a function that takes one.
macro_rules! on_every_store {
    ($($name:ident)*) => {
        mod sqlite {
            $(#[test] fn $name() { super::$name($crate::world::Store::Sqlite); })*
        }
        mod postgres {
            $(#[test] fn $name() { super::$name($crate::world::Store::Postgres); })*
        }
    };
}
pub(crate) use on_every_store;
