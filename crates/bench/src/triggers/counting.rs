//! How many runs there are, asked of the database itself: reading them all again and again would be a load of its own.

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags};
use tokio_postgres::{Client, NoTls};

use crate::store::databases::{Databases, Kind};

const COUNT: &str = "SELECT count(*) FROM runs";

pub(super) enum Counting {
    Sqlite(Connection),
    Postgres(Client),
}

impl Counting {
    pub(super) async fn open(kind: Kind, databases: &Databases) -> Result<Self> {
        match kind {
            Kind::Sqlite => {
                let file = databases.ours.strip_prefix("sqlite:").context("a URL of SQLite")?;
                Ok(Self::Sqlite(Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?))
            }
            Kind::Postgres | Kind::Mysql => {
                let (client, connection) = tokio_postgres::connect(&databases.ours, NoTls).await?;
                tokio::spawn(connection);
                Ok(Self::Postgres(client))
            }
        }
    }

    pub(super) async fn runs(&self) -> Result<usize> {
        let count: i64 = match self {
            Self::Sqlite(connection) => connection.query_one(COUNT, [], |row| row.get(0))?,
            Self::Postgres(client) => client.query_one(COUNT, &[]).await?.try_get(0)?,
        };
        Ok(usize::try_from(count)?)
    }
}
