//! Runs `mainspring` with an environment of its own.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A home directory of nobody.
pub(crate) struct Home {
    pub(crate) directory: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // The tasks of `up` pass it to their own folders; under root they are another user's.
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o711)).unwrap();
        Self { directory }
    }

    /// The binary, ready to be given arguments.
    pub(crate) fn command(&self) -> Command {
        self.of(env!("CARGO_BIN_EXE_mainspring"))
    }

    /// Another program, in the same place.
    pub(crate) fn of(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.directory.path()).env("PATH", std::env::var_os("PATH").unwrap());
        command.current_dir(self.directory.path());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command().args(arguments).output().unwrap())
    }
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The code is this and the words are there.
    pub(crate) fn check(self, code: i32, stdout: &[&str], stderr: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for words in stdout {
            assert!(self.stdout.contains(words), "`{words}` is missing in {self:#?}");
        }
        for words in stderr {
            assert!(self.stderr.contains(words), "`{words}` is missing in {self:#?}");
        }
        self
    }
}
