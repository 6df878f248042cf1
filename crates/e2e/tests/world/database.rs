//! The stores that a test runs on. `cargo xtask test` gives the server of PostgreSQL.

use std::path::Path;

use tokio_postgres::NoTls;

/// Which store.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Store {
    Sqlite,
    Postgres,
}

impl Store {
    /// An empty one.
    pub(crate) fn url(self, folder: &Path) -> String {
        match self {
            Self::Sqlite => format!("sqlite:{}", folder.join("server").join("mainspring.db").display()),
            Self::Postgres => {
                let server = std::env::var("MAINSPRING_TEST_POSTGRES")
                    .expect("MAINSPRING_TEST_POSTGRES names a server; run this within `cargo xtask db --`");
                let name = format!(
                    "e2e_{}",
                    folder.file_name().unwrap().to_string_lossy().replace('.', "").to_lowercase()
                );
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(create(&server, &name));
                let (base, _) = server.rsplit_once('/').unwrap();
                format!("{base}/{name}")
            }
        }
    }
}

async fn create(server: &str, name: &str) {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("CREATE DATABASE \"{name}\"")).await.unwrap();
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
