//! Being told to stop, and telling that one is ready, the way service managers do.

use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// How often a start that takes long is told; service managers give up after 90 s by default.
const STARTING_EVERY: Duration = Duration::from_secs(20);

/// SIGTERM, SIGINT, and SIGHUP of a terminal that is closed: the first asks, the second insists.
pub(crate) struct Stop {
    term: Signal,
    interrupt: Signal,
    hangup: Option<Signal>,
    pub(crate) token: CancellationToken,
}

impl Stop {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) },
            token: CancellationToken::new(),
        })
    }

    /// Listens beside everything else.
    pub(crate) fn listen(mut self) -> CancellationToken {
        let token = self.token.clone();
        tokio::spawn(async move {
            self.next().await;
            tell("STOPPING=1");
            self.token.cancel();
            self.next().await;
            // Durable is durable; nothing is lost by leaving at once.
            std::process::exit(130);
        });
        token
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
            () = hangup(self.hangup.as_mut()) => {}
        }
    }
}

async fn hangup(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether we were started to outlive the terminal, as `nohup` does it.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The lowest bit is signal 1.
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

/// Tells the service manager that the role serves.
pub(crate) fn ready() {
    tell("READY=1");
}

/// Tells the service manager now and again that the start takes longer: the store may be away. Never returns.
pub(crate) async fn starting() {
    loop {
        tokio::time::sleep(STARTING_EVERY).await;
        tell("EXTEND_TIMEOUT_USEC=90000000\nSTATUS=waiting for the store");
    }
}

/// Says a word to the service manager, if there is one that wants to know.
fn tell(word: &str) {
    let Some(path) = env::var_os("NOTIFY_SOCKET") else { return };
    let path = path.as_encoded_bytes();
    let address = match path.split_first() {
        Some((b'@', name)) => SocketAddr::from_abstract_name(name),
        _ => SocketAddr::from_pathname(std::ffi::OsStr::new(&*String::from_utf8_lossy(path))),
    };
    if let (Ok(socket), Ok(address)) = (UnixDatagram::unbound(), address) {
        drop(socket.send_to_addr(word.as_bytes(), &address));
    }
}
