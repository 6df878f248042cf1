//! Kills: of the agent, of the sidecar. Tasks go on, nothing is executed twice, what is known is told.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_sidecar::clock::boottime_us;
use mainspring_sidecar::log::FrameKind;
use mainspring_sidecar::protocol::{End, Event, Refusal, Request, Standing, StopCause};
use mainspring_sidecar::{Error, start_detached};
use rustix::process::Signal;

use crate::sidecar::{Sidecar, command, gated, is_running, pid_in, seen, shell, signal, wait_gone};

#[test]
fn a_task_survives_its_agent_and_the_next_one_gets_the_result() {
    let mut sidecar = Sidecar::start();
    let (start, gate) = gated(&sidecar, "echo before", "echo after; echo 1 > $MAINSPRING_OUTPUT; exit 9");
    sidecar.order(&start);
    sidecar.wait_output(start.key, "before");
    sidecar.reconnect();
    std::fs::write(gate, "go\n").unwrap();
    let finished = sidecar.finished(start.key);
    assert_eq!((finished.end.clone(), finished.result.as_deref()), (End::Exited(9), Some(&b"1\n"[..])));
    // Told again until it is acknowledged.
    sidecar.reconnect();
    assert_eq!(sidecar.finished(start.key), finished);
    sidecar.connection.send(&[Request::Ack { key: start.key }, Request::List]).unwrap();
    sidecar.wait(|event| matches!(event, Event::Listing { .. }).then_some(()));
    sidecar.reconnect();
    sidecar.connection.send(&[Request::List]).unwrap();
    let listed = sidecar.wait(|event| match event {
        Event::Listing { attempts } => Some(attempts[0].standing),
        Event::Finished(_) => panic!("told after it was acknowledged"),
        _ => None,
    });
    assert_eq!(listed, Standing::Retained);
}

#[test]
fn the_starter_may_be_killed_with_its_whole_session() {
    let sidecar = Sidecar::start();
    let session = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().split(' ').nth(3).unwrap().to_owned()
    };
    assert_eq!(session(sidecar.pid), sidecar.pid.to_string());
}

#[test]
fn a_finished_attempt_is_still_told_after_a_kill_of_the_sidecar() {
    let mut sidecar = Sidecar::start();
    let start = shell("echo kept; exit 3");
    let finished = sidecar.run(&start);
    sidecar.crash_and_restart();
    assert_eq!(sidecar.finished(start.key), finished);
    sidecar.order(&start);
    assert_eq!(sidecar.finished(start.key), finished);
    sidecar.connection.send(&[Request::Ack { key: start.key }, Request::List]).unwrap();
    sidecar.wait(|event| matches!(event, Event::Listing { .. }).then_some(()));
    sidecar.crash_and_restart();
    sidecar.order(&start);
    assert_eq!(sidecar.refused(start.key).0, Refusal::AlreadyOver);
}

#[test]
fn a_living_task_is_taken_over_and_its_log_goes_on() {
    let mut sidecar = Sidecar::start();
    let count = sidecar.layout.data().join("count");
    let (start, gate) = gated(
        &sidecar,
        &format!("echo x >> {}; echo before", count.display()),
        "echo after; echo 5 > $MAINSPRING_OUTPUT",
    );
    sidecar.order(&start);
    let pid = sidecar.started(start.key);
    sidecar.wait_output(start.key, "before");
    sidecar.crash_and_restart();
    assert!(is_running(pid));
    // The same order again does not execute it again.
    sidecar.order(&start);
    assert_eq!(sidecar.started(start.key), pid);
    std::fs::write(gate, "go\n").unwrap();
    let finished = sidecar.finished(start.key);
    assert_eq!((finished.end, finished.result.as_deref()), (seen(End::Exited(0)), Some(&b"5\n"[..])));
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "before\nafter\n");
    assert_eq!(std::fs::read_to_string(count).unwrap(), "x\n");
}

#[test]
fn a_task_that_writes_while_there_is_no_sidecar_lives() {
    let mut sidecar = Sidecar::start();
    let (start, gate) = gated(
        &sidecar,
        "echo before",
        "for i in 1 2 3; do echo line $i; echo err $i >&2; done; read x < second",
    );
    sidecar.order(&start);
    let pid = sidecar.started(start.key);
    sidecar.wait_output(start.key, "before");
    sidecar.crash();
    std::fs::write(&gate, "go\n").unwrap();
    // The task opens the second gate only after it has written.
    let mut second = std::fs::OpenOptions::new().write(true).open(gate.with_file_name("second")).unwrap();
    assert!(is_running(pid));
    sidecar.restart();
    std::io::Write::write_all(&mut second, b"go\n").unwrap();
    drop(second);
    assert_eq!(sidecar.finished(start.key).end, seen(End::Exited(0)));
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "before\nline 1\nline 2\nline 3\n");
    assert_eq!(sidecar.stored(start.key, FrameKind::Stderr), "err 1\nerr 2\nerr 3\n");
}

#[test]
fn a_task_that_ends_while_there_is_no_sidecar_keeps_what_it_wrote() {
    let mut sidecar = Sidecar::start();
    let (start, gate) =
        gated(&sidecar, "echo before", "echo after; echo last >&2; echo 7 > $MAINSPRING_OUTPUT");
    sidecar.order(&start);
    let pid = sidecar.started(start.key);
    sidecar.wait_output(start.key, "before");
    sidecar.crash();
    std::fs::write(gate, "go\n").unwrap();
    wait_gone(pid);
    sidecar.restart();
    let finished = sidecar.finished(start.key);
    assert_eq!((finished.end, finished.result.as_deref()), (End::Lost, Some(&b"7\n"[..])));
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "before\nafter\n");
    assert_eq!(sidecar.stored(start.key, FrameKind::Stderr), "last\n");
}

#[test]
fn a_sidecar_leaves_no_process_that_keeps_its_pipes() {
    let keepers = |sidecar: &Sidecar| {
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", sidecar.pid)).unwrap();
        children.split_whitespace().map(|pid| pid.parse::<u32>().unwrap()).collect::<Vec<_>>()
    };
    let mut sidecar = Sidecar::start();
    let first = keepers(&sidecar);
    assert_eq!(first.len(), 1);
    // It is no orphan of a task, though it has the files of every one.
    let sleeper = shell("echo up; sleep 1000");
    sidecar.order(&sleeper);
    sidecar.wait_output(sleeper.key, "up");
    sidecar.run(&shell("exit 0"));
    assert!(is_running(first[0]));
    sidecar.crash();
    assert!(is_running(first[0]));
    sidecar.restart();
    wait_gone(first[0]);
    let second = keepers(&sidecar);
    sidecar.send(Request::Shutdown { force: true });
    wait_gone(sidecar.pid);
    second.into_iter().for_each(wait_gone);
}

#[test]
fn a_task_that_ended_meanwhile_is_lost_and_what_it_left_is_cleared_away() {
    let mut sidecar = Sidecar::start();
    let start = shell(
        "setsid sh -c 'echo $$ > child; exec sleep 1000' & while [ ! -s child ]; do sleep 0.01; done; echo up; sleep 1000",
    );
    sidecar.order(&start);
    let pid = sidecar.started(start.key);
    sidecar.wait_output(start.key, "up");
    sidecar.crash();
    signal(pid, Signal::KILL);
    wait_gone(pid);
    let child = pid_in(&sidecar.layout, start.key, "child");
    assert!(is_running(child));
    sidecar.restart();
    let finished = sidecar.finished(start.key);
    assert_eq!((finished.end, finished.survivors), (End::Lost, 0));
    assert!(!is_running(child));
}

#[test]
fn a_task_of_an_earlier_sidecar_is_stopped_with_its_tree() {
    let mut sidecar = Sidecar::start();
    let start = shell(
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 0.01; done' & while [ ! -s child ]; do sleep 0.01; done; echo up; while :; do sleep 0.01; done",
    );
    sidecar.order(&start);
    let pid = sidecar.started(start.key);
    sidecar.wait_output(start.key, "up");
    sidecar.crash_and_restart();
    sidecar.send(Request::Stop { key: start.key, grace_ms: Some(50), signal: None });
    let finished = sidecar.finished(start.key);
    assert_eq!((finished.end, finished.stopped_by), (seen(End::Signalled(9)), Some(StopCause::Requested)));
    assert!(!is_running(pid) && !is_running(pid_in(&sidecar.layout, start.key, "child")));
}

#[test]
fn a_lease_that_was_extended_is_remembered() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("echo up; sleep 1000");
    start.deadline_us = Some(boottime_us() + 2_000_000);
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    let far = boottime_us() + 3_600_000_000;
    sidecar.connection.send(&[Request::Extend { key: None, deadline_us: Some(far) }, Request::List]).unwrap();
    sidecar.wait(|event| matches!(event, Event::Listing { .. }).then_some(()));
    sidecar.crash_and_restart();
    sidecar.send(Request::List);
    let standing = sidecar.wait(|event| match event {
        Event::Listing { attempts } => Some(attempts[0].standing),
        _ => None,
    });
    assert!(
        matches!(standing, Standing::Running { deadline_us: Some(at), stopping: false, .. } if at == far),
        "{standing:?}"
    );
}

#[test]
fn one_directory_has_one_sidecar() {
    let sidecar = Sidecar::start();
    let second = start_detached(&mut command(sidecar.layout.data()), sidecar.layout.data());
    assert!(matches!(second, Err(Error::AlreadyRunning(_))), "{second:?}");
}

/// The branch of a directory's sidecars in each hierarchy that has one.
fn branches_of(sidecar: &Sidecar) -> Vec<PathBuf> {
    let data = sidecar.layout.data().canonicalize().unwrap();
    let name = format!("mainspring-{:08x}", crc32fast::hash(data.as_os_str().as_encoded_bytes()));
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let of_cgroups = mounts.lines().filter(|line| line.split(' ').nth(2).unwrap().starts_with("cgroup"));
    let branches = of_cgroups.map(|line| Path::new(line.split(' ').nth(1).unwrap()).join(&name));
    branches.filter(|branch| branch.exists()).collect()
}

#[test]
fn a_branch_where_only_an_earlier_sidecar_was_is_removed() {
    let mut sidecar = Sidecar::start();
    let branches = branches_of(&sidecar);
    sidecar.crash();
    let name = branches[0].file_name().unwrap();
    // As one left them that could not be in the same hierarchies: what it was in, and an attempt that is over.
    let places = fs::read_to_string("/proc/self/cgroup").unwrap();
    // Without a controller it is the unified hierarchy, where this sidecar is.
    let at_root = places.lines().filter_map(|line| line.strip_suffix(":/")?.split(':').nth(1));
    let at_root = at_root.filter(|controllers| !controllers.is_empty());
    let root = Path::new("/sys/fs/cgroup");
    let mut others: Vec<PathBuf> =
        at_root.map(|controllers| root.join(controllers.trim_start_matches("name=")).join(name)).collect();
    others.retain(|branch| !branch.exists() && fs::create_dir(branch).is_ok());
    for branch in &others {
        for inner in ["sidecar", "attempt-1-1"] {
            let _ = fs::create_dir(branch.join(inner));
        }
    }
    sidecar.restart();
    sidecar.run(&shell("exit 0"));
    let mut now = branches_of(&sidecar);
    now.sort();
    let mut before = branches;
    before.sort();
    assert_eq!(now, before, "{others:?}");
    sidecar.send(Request::Shutdown { force: true });
    wait_gone(sidecar.pid);
    assert_eq!(branches_of(&sidecar), [] as [PathBuf; 0]);
}

#[test]
fn sidecars_that_start_at_once_do_not_sweep_each_other_away() {
    // The hierarchies of one that starts alone.
    let mounts = |sidecar: &Sidecar| {
        let branches = branches_of(sidecar);
        branches.into_iter().map(|branch| branch.parent().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let alone = mounts(&Sidecar::start());
    for _ in 0..10 {
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| mounts(&Sidecar::start()))).collect();
            for one in all {
                assert_eq!(one.join().unwrap(), alone);
            }
        });
    }
}

#[test]
fn the_node_id_is_kept() {
    let mut sidecar = Sidecar::start();
    let node = |sidecar: &mut Sidecar| {
        sidecar.send(Request::GetNode);
        sidecar.wait(|event| match event {
            Event::Node { node } => Some(*node),
            _ => None,
        })
    };
    assert_eq!(node(&mut sidecar), None);
    sidecar.send(Request::SetNode { node: [9; 16] });
    sidecar.wait(|event| (*event == Event::Node { node: Some([9; 16]) }).then_some(()));
    sidecar.crash_and_restart();
    assert_eq!(node(&mut sidecar), Some([9; 16]));
}

#[test]
fn a_client_that_speaks_nonsense_is_sent_away() {
    let mut sidecar = Sidecar::start();
    let mut stream = std::os::unix::net::UnixStream::connect(sidecar.layout.socket()).unwrap();
    std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(std::io::Read::read(&mut stream, &mut [0; 16]).unwrap_or(0), 0);
    assert_eq!(sidecar.run(&shell("exit 0")).end, End::Exited(0));
}
