//! A small file system of a test, unmounted with it.

use std::path::Path;
use std::process::Command;

/// One mebibyte.
pub(crate) struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    pub(crate) fn mount() -> Self {
        assert!(rustix::process::getuid().is_root(), "this test needs root to mount a small file system");
        let directory = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(directory.path());
        assert!(mount.status().unwrap().success());
        Self(directory)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}
