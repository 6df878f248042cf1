//! Which server commands talk to when nobody says: the one that was last started here (`up`) or signed in to (`login`).
//!
//! `targets.toml` in the person's config directory holds them by name, readable by its owner only. A target has a token, or
//! names the file that holds it: `up` keeps its token in its data directory, and here is only the pointer to it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::config_directory;

/// The name that `up` uses.
pub(crate) const LOCAL: &str = "local";

/// Every known target, and which one is used.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Targets {
    /// The name of the one that is used.
    #[serde(default)]
    pub(crate) current: Option<String>,
    /// All of them.
    #[serde(default)]
    pub(crate) target: BTreeMap<String, Target>,
}

/// A server and the right to talk to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    /// Where its API is.
    pub(crate) url: String,
    /// The token itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
    /// The file that holds the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token_file: Option<PathBuf>,
    /// Certificates to trust, in PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ca_file: Option<PathBuf>,
}

impl Targets {
    /// Reads them; none when there is no file.
    pub(crate) fn read() -> Result<Self, Failure> {
        let Some(path) = file() else { return Ok(Self::default()) };
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| {
                Failure::usage(format!("{} is damaged: {}", path.display(), error.message()))
                    .hint("remove the file, then `mainspring login` or `mainspring up` makes it anew")
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Failure::failed(format!("cannot read {}: {error}", path.display()))),
        }
    }

    /// The one that is used.
    pub(crate) fn current(&self) -> Option<&Target> {
        self.current.as_ref().and_then(|name| self.target.get(name))
    }

    /// Remembers a target and uses it from now on.
    pub(crate) fn remember(name: &str, target: Target) -> Result<(), Failure> {
        let mut targets = Self::read().unwrap_or_default();
        targets.target.insert(name.to_owned(), target);
        targets.current = Some(name.to_owned());
        targets.write()
    }

    /// Uses another one from now on.
    pub(crate) fn switch(name: &str) -> Result<(), Failure> {
        let mut targets = Self::read()?;
        if !targets.target.contains_key(name) {
            let known: Vec<&str> = targets.target.keys().map(String::as_str).collect();
            return Err(Failure::new(Exit::NotFound, format!("there is no target `{name}`"))
                .hint(format!("known targets: {}; `mainspring login URL` adds one", known.join(", "))));
        }
        targets.current = Some(name.to_owned());
        targets.write()
    }

    fn write(&self) -> Result<(), Failure> {
        let path = file().ok_or_else(|| {
            Failure::usage("there is no home directory to keep the target in")
                .hint("set HOME or XDG_CONFIG_HOME, or use MAINSPRING_URL and MAINSPRING_TOKEN")
        })?;
        let text = toml::to_string(self).map_err(|error| Failure::failed(error.to_string()))?;
        write_secret(&path, &text)
    }
}

impl Target {
    /// The token, read from its file when it is in one.
    pub(crate) fn token(&self) -> Result<Option<String>, Failure> {
        match (&self.token, &self.token_file) {
            (Some(token), _) => Ok(Some(token.clone())),
            (None, Some(file)) => read_token(file).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// Reads certificates to trust.
pub(crate) fn read_ca(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| {
        Failure::usage(format!("cannot read the certificates in {}: {error}", path.display()))
            .hint("look at the setting client.ca_file or MAINSPRING_CA_FILE")
    })
}

/// Reads a token file.
pub(crate) fn read_token(path: &Path) -> Result<String, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        let failure =
            Failure::new(Exit::Denied, format!("cannot read the token in {}: {error}", path.display()));
        failure.hint("start the server with `mainspring up`, or sign in with `mainspring login URL`")
    })?;
    Ok(text.trim().to_owned())
}

/// Writes a file that only its owner may read, whole or not at all.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<(), Failure> {
    let wrong = |error: std::io::Error| Failure::failed(format!("cannot write {}: {error}", path.display()));
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(wrong)?;
    }
    let beside = path.with_extension(format!("new{}", std::process::id()));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&beside)
        .map_err(wrong)?;
    file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(wrong)?;
    file.write_all(text.as_bytes()).map_err(wrong)?;
    fs::rename(&beside, path).map_err(wrong)
}

fn file() -> Option<PathBuf> {
    config_directory().map(|directory| directory.join("targets.toml"))
}
