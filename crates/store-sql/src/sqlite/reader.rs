//! Reader threads, each with a connection of its own. In WAL they neither wait for the writer nor make it wait.

use std::borrow::Cow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mainspring_store::Error;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::Settings;
use super::session::query;
use crate::session::{ReadRows, Result};
use crate::value::{Decode, Param, Value};

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// A handle on the threads. They end when the handle is dropped.
pub(super) struct Readers(Sender<Job>);

impl Readers {
    /// Opens the file `count` times and starts as many threads.
    pub(super) async fn start(settings: Settings, count: usize) -> Result<Self> {
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let (opened, opening) = oneshot::channel();
            let (settings, queue) = (settings.clone(), Arc::clone(&queue));
            let body = move || match settings.connect_reader() {
                Ok(connection) => {
                    if opened.send(Ok(())).is_ok() {
                        serve(&connection, &queue);
                    }
                }
                Err(error) => drop(opened.send(Err(settings.cannot_open(&error)))),
            };
            thread::Builder::new().name("sqlite-reader".into()).spawn(body).map_err(Error::unavailable)?;
            opening.await.map_err(Error::unavailable)??;
        }
        Ok(Self(jobs))
    }

    /// Reads on whichever thread is free.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        text: Cow<'static, str>,
        params: Vec<Param>,
        decode: Decode<T>,
    ) -> Result<ReadRows<T>> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let params: Vec<Value<'_>> = params.iter().map(Param::value).collect();
            // Nobody waits any more: nothing is lost.
            let _ = reply.send(query(connection, &text, &params, decode).map_err(Error::unavailable));
        });
        self.0.send(job).map_err(|_| Error::unavailable("the SQLite readers have stopped"))?;
        answer.await.map_err(Error::unavailable)?
    }
}

fn serve(connection: &Connection, queue: &Mutex<Receiver<Job>>) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match job {
            Ok(job) => job(connection),
            Err(_) => return,
        }
    }
}
