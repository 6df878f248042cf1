//! A small disk that can be full: a file system in memory, in a mount namespace of its own. A process that waits for the
//! test keeps the namespace; with it everything is gone, so nothing stays mounted however a test ends.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub(super) struct Disk {
    holder: Child,
    mounted_at: PathBuf,
}

impl Disk {
    /// Mounts `size` bytes (`4m`) at a path.
    pub(super) fn mount(path: &Path, size: &str) -> Self {
        fs::create_dir_all(path).unwrap();
        let mut command = Command::new("unshare");
        if !is_root() {
            command.arg("--map-root-user");
        }
        let script = r#"mount -t tmpfs -o "size=$0,mode=755" tmpfs "$1" && echo mounted && exec cat"#;
        command.args(["--mount", "sh", "-c", script, size]).arg(path);
        let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut word = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut word).unwrap();
        assert_eq!(word, "mounted\n", "this test mounts a small file system in a namespace of its own");
        Self { holder, mounted_at: path.to_owned() }
    }

    /// The command, begun where the disk is mounted.
    pub(super) fn enter(&self, command: &Command) -> Command {
        let mut inside = Command::new("nsenter");
        inside.arg(format!("--mount=/proc/{}/ns/mnt", self.holder.id()));
        if !is_root() {
            inside.arg(format!("--user=/proc/{}/ns/user", self.holder.id())).arg("--preserve-credentials");
        }
        inside.arg("--").arg(command.get_program()).args(command.get_args());
        inside.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        inside
    }

    /// A file on the disk, as it is seen from here.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        let mounted_at = self.mounted_at.strip_prefix("/").unwrap();
        Path::new("/proc").join(self.holder.id().to_string()).join("root").join(mounted_at).join(name)
    }

    /// Leaves no room on it.
    pub(super) fn fill(&self) {
        let mut file = File::options().create(true).append(true).open(self.path("filler")).unwrap();
        let error = loop {
            if let Err(error) = file.write_all(&[1; 4096]) {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }

    /// Gives the room back.
    pub(super) fn free(&self) {
        fs::remove_file(self.path("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
