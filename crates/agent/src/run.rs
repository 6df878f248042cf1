//! Starting an agent: the sidecar first, because the node's id and its tasks are there, then the way to the schedulers.

use std::future::Future;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use mainspring_model::NodeId;
use mainspring_sidecar::protocol::{Event, Request, VERSION};
use mainspring_sidecar::{Error as SidecarError, Layout};
use rustc_hash::FxHashMap;
use tokio::sync::mpsc;

use crate::alarm::Alarm;
use crate::core::{Core, REPLACE_LOOKS};
use crate::driver::{Driver, now};
use crate::error::Error;
use crate::facts::{self, Meter};
use crate::identity::Identity;
use crate::logs::Logs;
use crate::options::Options;
use crate::prepare::Fetcher;
use crate::repository::Repository;
use crate::sidecar::{Link, RETRY_MAX, RETRY_MIN};
use crate::stream::{self, Dialer};
use crate::tasks::Roll;

/// Batches of words that wait to be looked at.
const STREAM_EVENTS_MAX: usize = 16;

/// Runs an agent until `shutdown` comes true. Its tasks go on with the sidecar after that, unless the options say that it is
/// drained first. Returns an error only for what trying again does not help.
pub async fn run(options: Options, shutdown: impl Future<Output = ()> + Send) -> Result<(), Error> {
    options.check()?;
    let _lock = Identity::open(&options.data)?.lock()?;
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let started = tokio::select! {
            started = start(&options) => started?,
            () = shutdown.as_mut() => return Ok(()),
        };
        let (mut driver, dialer) = started;
        let dialing = tokio::spawn(dialer.run());
        let outcome = driver.run(shutdown.as_mut()).await;
        dialing.abort();
        match outcome {
            // Another node from now on: everything begins anew.
            Err(Error::JournalLost) => {
                tracing::warn!("the sidecar lost its journal; joining as another node")
            }
            outcome => {
                driver.dismiss_sidecar().await;
                return outcome;
            }
        }
    }
}

/// The id of the node whose directory this is, for a process that must know it before its agent runs. Starts the sidecar if
/// there is none.
pub async fn node(options: &Options) -> Result<NodeId, Error> {
    let data = absolute(options)?;
    let mut wait = RETRY_MIN;
    loop {
        let mut link = Link::dial(options.sidecar.clone(), Layout::new(&data)).await;
        link.send(&Request::Hello { version: VERSION, subscribe: false });
        if let Some(met) =
            unless_hung_up(introduce(&mut link, options.sidecar_patience).await, &mut wait).await
        {
            return met.map(|(node, _)| node);
        }
    }
}

/// Starts with a sidecar that stays: one that was about to end when we came is replaced by another.
async fn start(options: &Options) -> Result<(Driver, Dialer), Error> {
    let mut wait = RETRY_MIN;
    loop {
        if let Some(started) = unless_hung_up(start_once(options).await, &mut wait).await {
            return started;
        }
    }
}

/// Nothing, after a while, when the sidecar hung up: it is worth another try.
async fn unless_hung_up<T>(met: Result<T, Error>, wait: &mut Duration) -> Option<Result<T, Error>> {
    match met {
        Err(Error::Sidecar(SidecarError::Io { source, .. })) if hung_up(source.kind()) => {
            tracing::warn!(error = %source, "the sidecar hung up; trying again");
            tokio::time::sleep(*wait).await;
            *wait = (*wait * 2).min(RETRY_MAX);
            None
        }
        met => Some(met),
    }
}

fn absolute(options: &Options) -> Result<PathBuf, Error> {
    std::path::absolute(&options.data).map_err(Error::file("find", &options.data))
}

fn no_timer(source: std::io::Error) -> Error {
    Error::Sidecar(SidecarError::Io { context: "cannot make a timer".to_owned(), source })
}

fn hung_up(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

async fn start_once(options: &Options) -> Result<(Driver, Dialer), Error> {
    let identity = Identity::open(&options.data)?;
    let layout = Layout::new(absolute(options)?);
    let mut link = Link::open(options.sidecar.clone(), layout.clone()).await;
    let (node, events) = introduce(&mut link, options.sidecar_patience).await?;
    let profile = facts::profile(node, options);
    let repository = Repository::new(node);
    let fetcher = Fetcher::new(layout.clone(), identity.directory(), repository.clone(), options)?;
    let (event_sender, stream_events) = mpsc::channel(STREAM_EVENTS_MAX);
    let (redials, redial_receiver) = mpsc::channel(1);
    let (done_sender, done) = mpsc::unbounded_channel();
    let dialer = Dialer {
        node,
        name: profile.name.clone(),
        servers: options.servers.clone(),
        join_token: options.join_token.clone(),
        tls: stream::tls(options)?,
        identity: identity.clone(),
        repository,
        refused: false,
        events: event_sender,
        redials: redial_receiver,
    };
    let mut driver = Driver {
        options: options.clone(),
        layout,
        identity,
        node,
        core: Core::new(profile, options.sidecar_patience),
        meter: Meter::new(),
        logs: Logs::default(),
        fetcher,
        link: Some(link),
        opening: None,
        roll: Some(Roll::default()),
        stream_events,
        redials,
        sender: None,
        pending: <_>::default(),
        said: Vec::new(),
        starts: FxHashMap::default(),
        under_way: FxHashMap::default(),
        done_sender,
        done,
        swept_at: now(),
        alarm: Alarm::new().map_err(no_timer)?,
        leaving: false,
        failure: None,
    };
    events.into_iter().for_each(|event| driver.hear(event));
    read_journal(&mut driver).await?;
    Ok((driver, dialer))
}

/// The hello to the schedulers names everything that is held, so the sidecar's journal is read before it.
async fn read_journal(driver: &mut Driver) -> Result<(), Error> {
    while driver.roll.is_some() {
        let Some(link) = &mut driver.link else { return Ok(()) };
        let mut events = Vec::new();
        exchange(link, driver.options.sidecar_patience, &mut events).await?;
        events.into_iter().for_each(|event| driver.hear(event));
    }
    Ok(())
}

/// Learns the node's id from the sidecar's journal, or puts a new one there. Also what else was said in the meantime.
async fn introduce(link: &mut Link, patience: Duration) -> Result<(NodeId, Vec<Event>), Error> {
    let mut rest = Vec::new();
    loop {
        let mut events = Vec::new();
        exchange(link, patience, &mut events).await?;
        let mut node = None;
        for event in events {
            match event {
                Event::Welcome { node: Some(known), .. } | Event::Node { node: Some(known) } => {
                    node = Some(known)
                }
                Event::Welcome { node: None, .. } => {
                    let fresh = NodeId::from(uuid::Uuid::now_v7());
                    link.send(&Request::SetNode { node: *fresh.as_bytes() });
                }
                other => rest.push(other),
            }
        }
        if let Some(node) = node {
            return Ok((NodeId::from_bytes(node), rest));
        }
    }
}

/// Says what is to be said and hears what is answered. A sidecar that does not answer is ended, and another is tried.
async fn exchange(link: &mut Link, patience: Duration, events: &mut Vec<Event>) -> Result<(), Error> {
    let lost =
        |source| Error::Sidecar(SidecarError::Io { context: "the sidecar is gone".to_owned(), source });
    link.flush().map_err(lost)?;
    // Looks instead of one wait, because a machine that stood still proves nothing.
    let mut looks = 0;
    loop {
        match tokio::time::timeout(patience / REPLACE_LOOKS, link.ready()).await {
            Ok(ready) => break ready.map_err(lost)?,
            Err(_) if looks < REPLACE_LOOKS => {
                looks += 1;
                if looks == 1 {
                    tracing::warn!(
                        ?patience,
                        "the sidecar does not answer; it is replaced when that takes too long"
                    );
                }
            }
            Err(_) => {
                link.kill();
                return Err(lost(ErrorKind::UnexpectedEof.into()));
            }
        }
    }
    link.receive(events).map_err(lost)
}
