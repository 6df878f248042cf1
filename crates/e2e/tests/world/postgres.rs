//! A PostgreSQL of a test's own, which is stopped and started again. The servers of `cargo xtask test` are shared by all tests.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::process;

/// A running or stopped server; it is gone with its data when this is dropped.
pub(crate) struct Postgres {
    keeper: Child,
    /// What it does next.
    orders: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
    url: String,
}

impl Postgres {
    /// A new server with an empty database in it.
    pub(crate) fn start() -> Self {
        let mut command = Command::new(process::binary().with_file_name("xtask"));
        command.arg("postgres").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = command.spawn().expect("`cargo xtask` builds itself");
        let mut answers = BufReader::new(keeper.stdout.take().unwrap()).lines();
        let is_url = |line: &String| line.starts_with("postgres://");
        let url = answers.by_ref().map(Result::unwrap).find(is_url).expect("it starts");
        Self { orders: keeper.stdin.take(), keeper, answers, url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// As in a crash: it recovers at its next start.
    pub(crate) fn stop(&mut self) {
        self.order("stop");
    }

    /// Returns when it was started; it answers a little later.
    pub(crate) fn start_again(&mut self) {
        self.order("start");
    }

    fn order(&mut self, order: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        assert_eq!(self.answers.next().unwrap().unwrap(), "done");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.orders.take());
        let _ = self.keeper.wait();
    }
}
