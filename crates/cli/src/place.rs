//! Where the program keeps things of the person who runs it.

use std::path::PathBuf;

/// `$XDG_CONFIG_HOME/mainspring`, or `~/.config/mainspring`.
pub(crate) fn config_directory() -> Option<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    given("XDG_CONFIG_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| given("HOME").map(|home| home.join(".config")))
        .map(|base| base.join("mainspring"))
}
