//! Tasks that do not want to be kept: they fork, hide, ignore, flood. The sidecar and its other tasks are unhurt,
//! and nothing survives.

use mainspring_sidecar::log::FrameKind;
use mainspring_sidecar::protocol::{End, Event, LogCaps, Request, Start};

use crate::sidecar::{Sidecar, command, is_running, key, pid_in, shell};

/// A daemon by the book: forks twice, leads a session of its own, forgets its environment, ignores the signal.
const DAEMON: &str = r#"
daemonize() {
    setsid sh -c "(env -i /bin/sh -c 'trap \"\" TERM HUP; echo \$\$ > $PWD/$1; exec 0</dev/null 1>/dev/null 2>&1; while :; do /bin/sleep 0.05; done' &)"
    while [ ! -s $1 ]; do sleep 0.01; done
}
"#;

#[test]
fn a_daemonizing_tree_is_killed() {
    // At once, before the task has a cgroup; and later, when it has one.
    for delay in ["0", "0.4"] {
        let mut sidecar = Sidecar::start();
        let mut start =
            shell(&format!("{DAEMON} daemonize early; sleep {delay}; daemonize late; echo up; sleep 1000"));
        start.grace_ms = 100;
        sidecar.order(&start);
        let pid = sidecar.started(start.key);
        sidecar.wait_output(start.key, "up");
        let daemons = ["early", "late"].map(|name| pid_in(&sidecar.layout, start.key, name));
        assert!(daemons.into_iter().all(is_running));
        sidecar.send(Request::Stop { key: start.key, grace_ms: None, signal: None });
        let finished = sidecar.finished(start.key);
        assert_eq!(finished.survivors, 0);
        assert!(!daemons.into_iter().chain([pid]).any(is_running));
    }
}

#[test]
fn a_neighbour_is_unhurt_by_the_hunt_for_daemons() {
    let mut sidecar = Sidecar::start();
    let mut neighbour = shell(&format!("{DAEMON} sleep 0.4; daemonize mine; echo up; sleep 1000"));
    neighbour.grace_ms = 100;
    sidecar.order(&neighbour);
    sidecar.wait_output(neighbour.key, "up");
    let daemon = pid_in(&sidecar.layout, neighbour.key, "mine");
    let mut start = shell(&format!("{DAEMON} daemonize one; echo up; exit 0"));
    start.grace_ms = 100;
    let finished = sidecar.run(&start);
    assert_eq!((finished.end, finished.survivors), (End::Exited(0), 0));
    assert!(!is_running(pid_in(&sidecar.layout, start.key, "one")));
    assert!(is_running(daemon));
    sidecar.send(Request::Stop { key: neighbour.key, grace_ms: None, signal: None });
    sidecar.finished(neighbour.key);
    assert!(!is_running(daemon));
}

#[test]
fn a_daemon_goes_with_its_task_whoever_was_started_at_the_same_moment() {
    // One that stays in its directory; one that forgets that, too.
    for leave in ["", "cd /;"] {
        let mut sidecar = Sidecar::start();
        let neighbour = shell("exec sleep 1000");
        let mut start = shell(&format!(
            "(env -i setsid sh -c 'echo $$ > daemon; {leave} exec sleep 1000' </dev/null >/dev/null 2>&1 3>&- &); \
             while [ ! -s daemon ]; do :; done; echo up; sleep 1000"
        ));
        start.grace_ms = 100;
        let orders = [&neighbour, &start].map(|start| Request::Start(Box::new(start.clone())));
        sidecar.connection.send(&orders).unwrap();
        let neighbour_pid = sidecar.started(neighbour.key);
        sidecar.wait_output(start.key, "up");
        let daemon = pid_in(&sidecar.layout, start.key, "daemon");
        sidecar.send(Request::Stop { key: start.key, grace_ms: None, signal: None });
        assert_eq!(sidecar.finished(start.key).survivors, 0);
        assert!(!is_running(daemon), "after {leave:?}");
        assert!(is_running(neighbour_pid));
    }
}

#[test]
fn tasks_of_a_sidecar_in_a_task_keep_the_mark_of_that_task() {
    let slack = |sidecar: &mut Sidecar| {
        let start = shell("cat /proc/self/timerslack_ns");
        sidecar.run(&start);
        sidecar.stored(start.key, FrameKind::Stdout)
    };
    let mut outer = Sidecar::start();
    let (first, second) = (slack(&mut outer), slack(&mut outer));
    assert_ne!(first, second);
    // What is started in a task has the mark of that task, a sidecar as well.
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_owned();
    let mut nested = std::process::Command::new("sh");
    nested.args(["-c", &format!("echo {} > /proc/$$/timerslack_ns; exec \"$@\"", second.trim()), "sh"]);
    nested.arg(command(&data).get_program()).arg(&data);
    let mut nested = Sidecar::start_with(&mut nested, directory, &data);
    assert_eq!([slack(&mut nested), slack(&mut nested)], [second.clone(), second]);
}

#[test]
fn a_neighbours_daemon_makes_the_end_of_others_no_dearer() {
    let mut sidecar = Sidecar::start();
    let mut neighbour = shell(&format!("{DAEMON} daemonize one; daemonize two; echo up; sleep 1000"));
    neighbour.grace_ms = 100;
    sidecar.order(&neighbour);
    sidecar.wait_output(neighbour.key, "up");
    // Processes that are nobody's business.
    let mut foreign: Vec<_> =
        (0..100).map(|_| std::process::Command::new("sleep").arg("1000").spawn().unwrap()).collect();
    let pid = sidecar.pid;
    let reads = || {
        let counts = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
        let line = counts.lines().find_map(|line| line.strip_prefix("syscr: ")).unwrap().to_owned();
        line.parse::<u64>().unwrap()
    };
    let before = reads();
    for _ in 0..10 {
        sidecar.run(&shell("exit 0"));
    }
    let taken = reads() - before;
    for process in &mut foreign {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    // Every process of the machine was looked at: a hundred reads and more for each end.
    assert!(taken < 400, "{taken} reads for ten tasks");
}

#[test]
fn a_flood_costs_bounded_memory_and_disk() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("head -c 300000000 /dev/zero; echo; head -c 50000000 /dev/zero | tr '\\0' x >&2");
    start.log = LogCaps { head_bytes: 1 << 20, tail_bytes: 1 << 20 };
    sidecar.order(&start);
    sidecar.started(start.key);
    let finished = sidecar.finished(start.key);
    assert_eq!(finished.end, End::Exited(0));
    let stored = std::fs::metadata(sidecar.layout.log(&start.key)).unwrap().len();
    assert!(stored <= (2 << 20) + 256 * 1024, "{stored} bytes of log");
    assert!(finished.log_dropped_bytes > 340_000_000);
    let peak = memory_kib(sidecar.pid, "VmHWM");
    assert!(peak < 24 * 1024, "the sidecar took {peak} KiB");
    // A reader that does not read makes no difference.
    let mut start = shell("head -c 300000000 /dev/zero; touch done");
    start.log = LogCaps { head_bytes: 1 << 20, tail_bytes: 1 << 20 };
    sidecar.order(&start);
    crate::sidecar::wait_gone(sidecar.started(start.key));
    assert!(sidecar.layout.work(&start.key).join("done").exists());
    let peak = memory_kib(sidecar.pid, "VmHWM");
    assert!(peak < 24 * 1024, "the sidecar took {peak} KiB");
}

#[test]
fn the_end_of_many_leases_at_once_costs_a_task_no_more_than_that_of_few() {
    let mut sidecar = Sidecar::start();
    let mut read_for_each = |count: u64| {
        let order =
            |_| Start { deadline_us: Some(u64::MAX / 2), ..Start::new(key(), ["/bin/sleep", "1000"]) };
        let starts: Vec<Start> = (0..count).map(order).collect();
        let orders: Vec<_> = starts.iter().map(|start| Request::Start(Box::new(start.clone()))).collect();
        sidecar.connection.send(&orders).unwrap();
        for start in &starts {
            sidecar.started(start.key);
        }
        let before = bytes_read(sidecar.pid);
        sidecar.send(Request::Extend { key: None, deadline_us: Some(1) });
        for start in &starts {
            sidecar.finished(start.key);
        }
        (bytes_read(sidecar.pid) - before) / count
    };
    let (few, many) = (read_for_each(40), read_for_each(400));
    assert!(many < few + 2_000, "{many} bytes are read for each of many, {few} of few");
}

/// What a process has read of any file.
fn bytes_read(pid: u32) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[test]
fn an_agent_that_does_not_read_costs_bounded_memory() {
    let mut sidecar = Sidecar::start();
    let talker = shell(
        "sleep 0.3; head -c 64000000 /dev/zero | tr '\\0' x | fold -w 1000 >> $MAINSPRING_PROGRESS; echo 1 > $MAINSPRING_PROGRESS",
    );
    sidecar.order(&talker);
    crate::sidecar::wait_gone(sidecar.started(talker.key));
    let peak = memory_kib(sidecar.pid, "VmHWM");
    assert!(peak < 24 * 1024, "the sidecar took {peak} KiB");
    // What it said last is told all the same, and nothing after the end.
    sidecar.finished(talker.key);
    let last = sidecar.seen.iter().rev().find_map(|event| match event {
        Event::Progress { line, .. } => Some(line.clone()),
        _ => None,
    });
    assert_eq!(last.as_deref(), Some("1"));
    // Answers that nobody takes are not made.
    let writer = shell("head -c 2000000 /dev/zero");
    sidecar.run(&writer);
    let ask = Request::Log { key: writer.key, offset: 0, limit: 1 << 20 };
    sidecar.connection.send(&vec![ask; 200]).unwrap();
    sidecar.connection.send(&[Request::GetNode]).unwrap();
    // Another is served meanwhile.
    let mut other = crate::sidecar::connect(&sidecar.layout, false);
    other.send(&[Request::GetNode]).unwrap();
    while !matches!(other.receive().unwrap().unwrap(), Event::Node { .. }) {}
    let peak = memory_kib(sidecar.pid, "VmHWM");
    assert!(peak < 24 * 1024, "the sidecar took {peak} KiB");
    let mut answers = 0;
    sidecar.wait(|event| {
        answers += usize::from(matches!(event, Event::LogRead { .. }));
        matches!(event, Event::Node { .. }).then_some(())
    });
    assert_eq!(answers, 200);
}

#[test]
fn an_idle_sidecar_is_small_and_asleep() {
    let mut sidecar = Sidecar::start();
    sidecar.run(&shell("echo warm"));
    let sleeper = shell("echo up; sleep 1000");
    sidecar.order(&sleeper);
    sidecar.wait_output(sleeper.key, "up");
    let now = memory_kib(sidecar.pid, "VmRSS");
    assert!(now < 4 * 1024, "{now} KiB resident");
    let switches = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", sidecar.pid)).unwrap();
        let line =
            status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    // It soon comes to rest and then is not woken at all, though a task lives that only sleeps.
    let begun = std::time::Instant::now();
    loop {
        let before = switches();
        std::thread::park_timeout(std::time::Duration::from_millis(400));
        if switches() == before {
            break;
        }
        assert!(begun.elapsed().as_secs() < 600, "it does not come to rest after a guard against a hang");
    }
}

fn memory_kib(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
