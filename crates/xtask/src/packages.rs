//! Packages of the system that a command needs: installed when we are root on a Debian-like system, else named for the
//! reader.
//!
//! Installing must not start a service on a default port. Debian's packages ask `/usr/sbin/policy-rc.d` first, so it
//! says no while we install; one that is there already is an administrator's decision and stays as it is.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::database::{program, we_are_root};
use crate::process;

const POLICY: &str = "/usr/sbin/policy-rc.d";
/// Wait for another package manager rather than fail; no progress bars.
const APT_OPTIONS: &[&str] = &["-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0"];
/// In a folder where only root can write.
const LOCK: &str = "/run/mainspring-xtask-install.lock";
/// By the convention of `invoke-rc.d`, 101 means that the action is forbidden.
const POLICY_TEXT: &str = "#!/bin/sh\nexit 101\n";

/// Makes sure that nothing is missing; `missing` names the Debian packages of what cannot be found, `need` says what they
/// are for.
pub(crate) fn ensure(need: &str, missing: impl Fn() -> Vec<&'static str>) -> Result<()> {
    let packages = missing();
    if packages.is_empty() {
        return Ok(());
    }
    if !we_are_root() || program("apt-get").is_none() {
        bail!(
            "{need}: install the packages {} (on Debian: `apt-get install {}`)",
            packages.join(" and "),
            packages.join(" ")
        );
    }
    // Two runs at once must not disturb each other's package manager; the lock ends with this function.
    let lock = File::create(LOCK).with_context(|| format!("cannot open {LOCK}"))?;
    lock.lock().context("cannot wait for another installation")?;
    // Somebody else may have installed them while we waited.
    let packages = missing();
    if packages.is_empty() {
        return Ok(());
    }
    install(&packages)?;
    let left = missing();
    if !left.is_empty() {
        bail!("the packages are installed, yet {} cannot be found", left.join(" and "));
    }
    Ok(())
}

fn install(packages: &[&str]) -> Result<()> {
    println!("    installing {} (no system service is started)", packages.join(" and "));
    let _no_services = PolicyGuard::set(Path::new(POLICY))?;
    let apt = |arguments: &[&str]| {
        let mut command = process::command("apt-get");
        // In run level 1 no service is started either, should a policy that we left in place allow it.
        command
            .args(APT_OPTIONS)
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("RUNLEVEL", "1");
        process::run_unbroken(&mut command)
    };
    apt(&["update"])?;
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments)
}

/// Forbids starting services until dropped.
struct PolicyGuard<'a> {
    ours: Option<&'a Path>,
}

impl<'a> PolicyGuard<'a> {
    fn set(path: &'a Path) -> Result<Self> {
        let created = fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(path);
        match created {
            Ok(mut file) => {
                let guard = Self { ours: Some(path) };
                file.write_all(POLICY_TEXT.as_bytes()).context("cannot write the service policy")?;
                Ok(guard)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Self { ours: None }),
            Err(error) => Err(error).with_context(|| format!("cannot write {}", path.display())),
        }
    }
}

impl Drop for PolicyGuard<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.ours
            && let Err(error) = fs::remove_file(path)
        {
            eprintln!("    cannot remove {}: {error}; please remove it by hand", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_is_removed_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy-rc.d");
        let guard = PolicyGuard::set(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), POLICY_TEXT);
        drop(guard);
        assert!(!path.exists());
    }

    #[test]
    fn an_administrators_policy_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy-rc.d");
        fs::write(&path, "theirs").unwrap();
        drop(PolicyGuard::set(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }
}
