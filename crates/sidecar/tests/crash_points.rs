//! Crash points: the sidecar is killed at each step between two writes of its journal. Whichever it is, the next sidecar
//! reads the task's pipes, the task ends, its log is complete, its end is one, and no cgroup is left.

use std::path::{Path, PathBuf};
use std::process::Command;

use mainspring_sidecar::client::Connection;
use mainspring_sidecar::log::{FrameKind, frames};
use mainspring_sidecar::protocol::{
    End, Event, Finished, Request, ResourceCaps, Rlimit, RlimitKind, Standing, Start,
};
use mainspring_sidecar::{Layout, start_detached};

use crate::sidecar::{command, connect, seen, shell, wait_gone};

/// More steps than any of these tasks has.
const STEPS_MAX: u32 = 200;

/// What became of an attempt.
struct Story {
    /// Whether the sidecar was killed on the way.
    crashed: bool,
    finished: Finished,
    layout: Layout,
    _directory: tempfile::TempDir,
}

/// A client that repeats itself until the attempt is over, whatever happens to the sidecar.
struct Client {
    data: PathBuf,
    pid: Option<u32>,
    crash_at: Option<u32>,
    crashed: bool,
}

impl Client {
    /// Starts a sidecar, unless it is killed before it listens.
    fn connect(&mut self) -> Connection {
        loop {
            let mut program = command(&self.data);
            if let Some(number) = self.crash_at.take() {
                program.args(["60000".to_owned(), number.to_string()]);
            }
            if let Some(pid) = self.pid.take() {
                wait_gone(pid);
            }
            match start_detached(&mut program, &self.data) {
                Ok(pid) => {
                    self.pid = Some(pid);
                    let connected = std::panic::catch_unwind(|| connect(&Layout::new(&self.data), true));
                    if let Ok(connection) = connected {
                        return connection;
                    }
                }
                Err(error) => assert!(!self.crashed, "it does not start again: {error}"),
            }
            self.crashed = true;
        }
    }

    /// Orders, waits for the end, acknowledges it.
    fn drive(&mut self, start: &Start) -> Finished {
        let mut finished: Option<Finished> = None;
        'connection: loop {
            let mut connection = self.connect();
            if finished.is_none() && connection.send(&[Request::Start(Box::new(start.clone()))]).is_err() {
                self.crashed = true;
                continue;
            }
            if finished.is_some() {
                let _ = connection.send(&[Request::Ack { key: start.key }, Request::List]);
            }
            loop {
                match connection.receive() {
                    Ok(Some(Event::Finished(told))) if told.key == start.key => {
                        // It may be told again after a crash, but never otherwise.
                        let told = *told;
                        assert!(
                            finished.as_ref().is_none_or(|before| *before == told),
                            "{finished:?} {told:?}"
                        );
                        finished = Some(told);
                        let _ = connection.send(&[Request::Ack { key: start.key }, Request::List]);
                    }
                    Ok(Some(Event::Refused { message, .. })) => panic!("refused: {message}"),
                    Ok(Some(Event::Listing { attempts })) => {
                        let open = |standing| !matches!(standing, Standing::Retained);
                        let open =
                            attempts.iter().any(|listed| listed.key == start.key && open(listed.standing));
                        if let Some(finished) = finished.take_if(|_| !open) {
                            self.end(connection);
                            return finished;
                        }
                    }
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => {
                        assert!(!self.crashed, "killed once only");
                        self.crashed = true;
                        continue 'connection;
                    }
                }
            }
        }
    }

    /// Ends the sidecar, which may be killed on the way.
    fn end(&mut self, mut connection: Connection) {
        let _ = connection.send(&[Request::Shutdown { force: true }]);
        while connection.receive().is_ok_and(|event| event.is_some()) {}
        self.pid.take().into_iter().for_each(wait_gone);
    }
}

fn story(start: &Start, crash_at: u32) -> Story {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_owned();
    let mut client = Client { data: data.clone(), pid: None, crash_at: Some(crash_at), crashed: false };
    let finished = client.drive(start);
    Story { crashed: client.crashed, finished, layout: Layout::new(data), _directory: directory }
}

impl Story {
    fn stored(&self, kind: FrameKind) -> Vec<u8> {
        let bytes = std::fs::read(self.layout.log(&self.finished.key)).unwrap_or_default();
        frames(&bytes).filter(|frame| frame.kind == kind).flat_map(|frame| frame.content.to_vec()).collect()
    }

    /// How often the task wrote a word to its witness.
    fn count(&self, word: &str) -> usize {
        let text = std::fs::read_to_string(self.layout.data().join("witness")).unwrap_or_default();
        text.lines().filter(|line| *line == word).count()
    }
}

/// A task that says in a file of its own when it begins and ends, and between that fills its pipes with so much.
fn witnessed(bytes: usize) -> Start {
    let script = format!(
        "witness=$(dirname $MAINSPRING_OUTPUT)/../../witness; echo begin >> $witness; \
         head -c {bytes} /dev/zero; head -c {bytes} /dev/zero >&2; echo end >> $witness; exit 4"
    );
    shell(&script)
}

/// Kills the sidecar at every step on the way of `start`, and looks at what became of it.
fn check(bytes: usize, change: impl Fn(&mut Start)) {
    for crash_at in 1..STEPS_MAX {
        let mut start = witnessed(bytes);
        change(&mut start);
        let story = story(&start, crash_at);
        let (begun, ended) = (story.count("begin"), story.count("end"));
        assert_eq!((begun, ended), (begun.min(1), begun), "killed at {crash_at}");
        if begun == 0 {
            // It was journalled and not spawned: it may have been, so it is not executed again.
            assert_eq!((&story.finished.end, story.crashed), (&End::Lost, true), "killed at {crash_at}");
        } else {
            let lengths = [FrameKind::Stdout, FrameKind::Stderr].map(|kind| story.stored(kind).len());
            assert_eq!(lengths, [bytes; 2], "killed at {crash_at}, {:?}", story.finished);
            assert!([End::Exited(4), End::Lost].contains(&story.finished.end), "killed at {crash_at}");
        }
        assert_eq!(cgroups_of(story.layout.data()), "", "killed at {crash_at}");
        if !story.crashed {
            assert_eq!(story.finished.end, End::Exited(4));
            assert!(crash_at > 8, "the steps are not counted");
            return;
        }
    }
    panic!("more than {STEPS_MAX} steps");
}

/// The cgroups that sidecars of a directory left.
fn cgroups_of(data: &Path) -> String {
    let name = format!(
        "mainspring-{:08x}",
        crc32fast::hash(data.canonicalize().unwrap().as_os_str().as_encoded_bytes())
    );
    let found = Command::new("find").args(["/sys/fs/cgroup", "-name", &name]).output().unwrap();
    String::from_utf8(found.stdout).unwrap()
}

#[test]
fn a_task_that_fills_its_pipes_is_read_to_the_end() {
    check(190_000, |_| {});
}

#[test]
fn a_task_that_is_over_at_once_keeps_what_it_wrote() {
    check(100, |_| {});
}

#[test]
fn a_limited_task_in_a_cgroup_survives_every_step() {
    let core = Rlimit { kind: RlimitKind::Core, soft: Some(0), hard: Some(0) };
    check(190_000, |start| {
        start.caps = ResourceCaps { pids: Some(50), ..ResourceCaps::default() };
        start.rlimits = vec![core];
    });
}

#[test]
fn a_task_that_lasts_survives_every_step() {
    // Until it is in its cgroup, which it sees by itself.
    check(190_000, |start| {
        start.argv[2] = format!(
            "i=0; until grep -q attempt- /proc/self/cgroup || [ $i = 50 ]; do sleep 0.02; i=$((i + 1)); done; {}",
            start.argv[2]
        );
    });
}

#[test]
fn output_of_a_process_that_is_not_the_first_is_read_too() {
    let mut sidecar = crate::sidecar::Sidecar::start();
    // The first process leaves its output to a child, which fills the pipe while there is no sidecar.
    let (mut start, gate) = crate::sidecar::gated(&sidecar, "", "");
    start.argv[2] =
        "(read x < gate; head -c 190000 /dev/zero) & echo before; exec >/dev/null; echo up > second; wait"
            .into();
    sidecar.order(&start);
    sidecar.wait_output(start.key, "before");
    std::fs::read(gate.with_file_name("second")).unwrap();
    sidecar.crash_and_restart();
    std::fs::write(gate, "go\n").unwrap();
    assert_eq!(sidecar.finished(start.key).end, seen(End::Exited(0)));
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout).len(), 190_007);
}
