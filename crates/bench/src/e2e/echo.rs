//! What a server of the same kind does with a request when it does nothing: it reads JSON and sends it back. A process of its
//! own, as ours is.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::Value;
use tokio::net::TcpListener;

/// The process.
pub(super) struct Echo {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Echo {
    /// Starts this very program as the echo.
    pub(super) fn start() -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?).arg("echo").stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        Ok(Self { child, address: line.trim().parse()? })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Echoes until it is killed.
#[expect(clippy::print_stdout, reason = "whoever started it reads the address")]
pub(crate) fn serve() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        println!("{}", listener.local_addr()?);
        let router =
            Router::new().route("/v1/runs", post(|Json(body): Json<Value>| async move { Json(body) }));
        axum::serve(listener, router).await.context("the echo ended")
    })
}
