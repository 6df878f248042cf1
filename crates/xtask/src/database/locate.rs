//! Where the programs of the database servers are on this machine. Finding only: see `install` for what happens
//! when they are not there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Where Debian keeps each major version of PostgreSQL, apart from the search path.
const POSTGRES_VERSIONS: &str = "/usr/lib/postgresql";
/// Where servers may be although the search path of an ordinary user leaves it out.
const SYSTEM_FOLDERS: &[&str] = &["/usr/sbin", "/usr/libexec", "/usr/local/sbin"];

/// The programs of one PostgreSQL installation.
#[derive(Debug)]
pub(super) struct PostgresPrograms {
    pub(super) initdb: PathBuf,
    pub(super) postgres: PathBuf,
    pub(super) psql: PathBuf,
}

/// How a MariaDB or MySQL server makes its first files.
#[derive(Debug)]
pub(super) enum MysqlInitializer {
    /// `mariadb-install-db`, a program of its own.
    MariadbInstallDb(PathBuf),
    /// The server itself, started with `--initialize`.
    Mysqld,
}

/// The programs of one MariaDB or MySQL installation.
#[derive(Debug)]
pub(super) struct MysqlPrograms {
    pub(super) initializer: MysqlInitializer,
    pub(super) server: PathBuf,
    pub(super) client: PathBuf,
}

impl PostgresPrograms {
    /// The newest installation that has all three programs.
    pub(super) fn find() -> Result<Self> {
        let mut folders = version_folders(Path::new(POSTGRES_VERSIONS));
        folders.extend(search_path());
        folders
            .iter()
            .find_map(|folder| Self::inside(folder))
            .context("PostgreSQL (initdb, postgres, psql) is not installed")
    }

    fn inside(folder: &Path) -> Option<Self> {
        let program = |name| Some(folder.join(name)).filter(|path| path.is_file());
        Some(Self { initdb: program("initdb")?, postgres: program("postgres")?, psql: program("psql")? })
    }
}

impl MysqlPrograms {
    /// MariaDB, or MySQL when there is no MariaDB.
    pub(super) fn find() -> Result<Self> {
        Self::mariadb().or_else(Self::mysql).context(
            "neither MariaDB (mariadbd, mariadb-install-db, mariadb) nor MySQL (mysqld, mysql) is installed",
        )
    }

    fn mariadb() -> Option<Self> {
        Some(Self {
            initializer: MysqlInitializer::MariadbInstallDb(program("mariadb-install-db")?),
            server: program("mariadbd")?,
            client: program("mariadb")?,
        })
    }

    fn mysql() -> Option<Self> {
        Some(Self {
            initializer: MysqlInitializer::Mysqld,
            server: program("mysqld")?,
            client: program("mysql")?,
        })
    }
}

/// A program on the search path or in a folder for system programs.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let folders = search_path().into_iter().chain(SYSTEM_FOLDERS.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// The `bin` folders below a folder of versions, newest first.
fn version_folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort_by(|a, b| b.cmp(a));
    versions.into_iter().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_version_comes_first_by_number_not_by_text() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["9", "17", "15", "not-a-version"] {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        let expected: Vec<PathBuf> =
            ["17", "15", "9"].iter().map(|v| parent.path().join(v).join("bin")).collect();
        assert_eq!(version_folders(parent.path()), expected);
    }

    #[test]
    fn a_folder_with_only_a_client_is_no_installation() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("psql"), "").unwrap();
        assert!(PostgresPrograms::inside(folder.path()).is_none());
        fs::write(folder.path().join("initdb"), "").unwrap();
        fs::write(folder.path().join("postgres"), "").unwrap();
        assert!(PostgresPrograms::inside(folder.path()).is_some());
    }
}
