//! The browser of the tests: the system's Chromium, with a font for Chinese.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::database::program;
use crate::packages;

/// Where Debian puts the font.
const FONT: &str = "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc";

/// The program. Installs what is missing, or names it.
pub(super) fn ensure() -> Result<PathBuf> {
    packages::ensure("The console's tests run in Chromium", missing)?;
    program("chromium").context("Chromium cannot be found")
}

fn missing() -> Vec<&'static str> {
    let mut packages = Vec::new();
    if program("chromium").is_none() {
        packages.push("chromium");
    }
    if !Path::new(FONT).exists() {
        packages.push("fonts-wqy-microhei");
    }
    packages
}
