//! One running server, and the promise that its process and its folder are gone when this is dropped,
//! however the command ends.
//!
//! The process leads a group of its own, so that Ctrl-C at the terminal does not reach it before we stop it in order;
//! it is signalled by the process id that we started and nothing else.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Signal, kill_process, kill_process_group};

use super::home::Home;
use crate::{interrupt, process};

/// A guard against a server that hangs; a start takes about a second.
const READY_LIMIT: Duration = Duration::from_secs(600);
const STOP_LIMIT: Duration = Duration::from_secs(20);
const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// Between choosing a free port and the server's use of it somebody else may take it; then another is tried.
const PORT_ATTEMPTS: usize = 5;

/// What makes one kind of server different from another.
pub(crate) trait Kind {
    /// The signal that makes it stop without waiting for its clients.
    const STOP: Signal;

    /// For messages.
    fn name(&self) -> &'static str;

    /// The server as a command that stays in the foreground and listens on this port of 127.0.0.1.
    fn command(&self, home: &Home, port: u16) -> Command;

    /// Whether a client who knows our password gets an answer on this port: then it is ours, and ready.
    fn answers(&self, port: u16) -> Result<bool>;

    /// Where tests find it.
    fn url(&self, port: u16) -> String;
}

/// A running server. The fields are dropped in order: the process is gone before its folder.
pub(crate) struct Server {
    name: &'static str,
    process: ServerProcess,
    home: Home,
    port: u16,
    url: String,
}

impl Server {
    /// Starts a server in its prepared home and waits until it answers.
    pub(crate) fn start<K: Kind>(kind: &K, home: Home) -> Result<Self> {
        for _ in 0..PORT_ATTEMPTS {
            let port = free_port()?;
            let mut process = ServerProcess::spawn(kind.command(&home, port), &home, K::STOP)
                .with_context(|| format!("cannot start {}", kind.name()))?;
            if process.becomes_ready(kind, &home, port)? {
                return Ok(Self { name: kind.name(), process, home, port, url: kind.url(port) });
            }
        }
        bail!("{}: {PORT_ATTEMPTS} free ports in a row were taken by others", kind.name())
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Ends the process by this signal; false when it has ended before. Its data stays.
    pub(crate) fn stop(&mut self, signal: Signal) -> Result<bool> {
        let child = &mut self.process.child;
        if child.try_wait().context("cannot look at the server")?.is_some() {
            return Ok(false);
        }
        let pid = process::pid(child)?;
        kill_process(pid, signal).context("cannot stop the server")?;
        if process::wait_at_most(child, STOP_LIMIT)?.is_none() {
            kill_process_group(pid, Signal::KILL).context("cannot kill the server")?;
            child.wait().context("cannot wait for the server")?;
        }
        Ok(true)
    }

    /// Starts it again on its data and its port if it has ended; does not wait until it answers.
    pub(crate) fn start_again<K: Kind>(&mut self, kind: &K) -> Result<()> {
        if self.process.child.try_wait().context("cannot look at the server")?.is_some() {
            self.process = ServerProcess::spawn(kind.command(&self.home, self.port), &self.home, K::STOP)
                .with_context(|| format!("cannot start {} again", self.name))?;
        }
        Ok(())
    }

    /// Fails with the server's last words when it has died.
    pub(crate) fn check_alive(&mut self) -> Result<()> {
        match self.process.child.try_wait().context("cannot look at the server")? {
            Some(status) => {
                bail!("{} ended with {status}; its last words:\n{}", self.name, self.home.log_tail())
            }
            None => Ok(()),
        }
    }
}

/// The process of a server, or of what belongs to one; stopped when dropped.
pub(crate) struct ServerProcess {
    child: Child,
    stop: Signal,
}

impl ServerProcess {
    /// Starts it; what it says goes to the log of its home.
    pub(crate) fn spawn(mut command: Command, home: &Home, stop: Signal) -> Result<Self> {
        interrupt::check()?;
        let log = home.create_log()?;
        command.stdin(Stdio::null()).stdout(log.try_clone().context("cannot share the log")?).stderr(log);
        let child = command.process_group(0).spawn()?;
        Ok(Self { child, stop })
    }

    /// Waits until the server answers; false when its port was taken by somebody else.
    fn becomes_ready<K: Kind>(&mut self, kind: &K, home: &Home, port: u16) -> Result<bool> {
        let deadline = Instant::now() + READY_LIMIT;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        loop {
            interrupt::check()?;
            if let Some(status) = self.child.try_wait().context("cannot look at the server")? {
                let words = home.log_tail();
                if words.contains("ddress already in use") {
                    return Ok(false);
                }
                bail!("{} ended with {status} before it was ready; its last words:\n{words}", kind.name());
            }
            if TcpStream::connect_timeout(&address, CONNECT_LIMIT).is_ok() && kind.answers(port)? {
                return Ok(true);
            }
            if Instant::now() >= deadline {
                let seconds = READY_LIMIT.as_secs();
                bail!(
                    "{} was not ready within the time limit of {seconds} s, a guard against a hang; its last words:\n{}",
                    kind.name(),
                    home.log_tail()
                );
            }
            thread::sleep(process::POLL_INTERVAL);
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // After a successful `try_wait` the process id may belong to somebody else.
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let Ok(pid) = process::pid(&self.child) else { return };
        let _ = kill_process(pid, self.stop);
        if !matches!(process::wait_at_most(&mut self.child, STOP_LIMIT), Ok(Some(_))) {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr().context("a bound port has a number")?.port())
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::path::Path;

    use rustix::process::test_kill_process;

    use super::*;

    struct Script(&'static str);

    impl Kind for Script {
        const STOP: Signal = Signal::TERM;

        fn name(&self) -> &'static str {
            "the script"
        }

        fn command(&self, home: &Home, _port: u16) -> Command {
            let mut command = home.server_command(Path::new("/bin/sh"), Self::STOP);
            command.args(["-c", self.0]);
            command
        }

        fn answers(&self, _port: u16) -> Result<bool> {
            Ok(false)
        }

        fn url(&self, port: u16) -> String {
            format!("script://127.0.0.1:{port}")
        }
    }

    fn home() -> Home {
        Home::create_as_ourselves("script").unwrap()
    }

    #[test]
    fn a_server_that_dies_is_reported_with_its_last_words() {
        let error = Server::start(&Script("echo out of luck >&2; exit 7"), home()).err().unwrap();
        let words = error.to_string();
        assert!(words.contains("exit status: 7") && words.contains("out of luck"), "{words}");
    }

    #[test]
    fn a_taken_port_leads_to_another_attempt() {
        let error = Server::start(&Script("echo Address already in use; exit 1"), home()).err().unwrap();
        assert!(error.to_string().contains("taken by others"), "{error}");
    }

    #[test]
    fn dropping_stops_the_process_even_in_a_panic() {
        let home = home();
        let command = Script("exec sleep 600").command(&home, 0);
        let server = ServerProcess::spawn(command, &home, Signal::TERM).unwrap();
        let pid = process::pid(&server.child).unwrap();
        assert!(test_kill_process(pid).is_ok());
        let ended = std::panic::catch_unwind(AssertUnwindSafe(move || {
            let _server = server;
            panic!("on purpose");
        }));
        assert!(ended.is_err());
        assert!(test_kill_process(pid).is_err());
    }
}
