//! How attempts end: by themselves, by a signal, by a stop, by time; and what is told of it.

use mainspring_sidecar::clock::boottime_us;
use mainspring_sidecar::log::FrameKind;
use mainspring_sidecar::protocol::{
    End, Event, Output, Refusal, Request, Rlimit, RlimitKind, Start, StopCause,
};
use rustix::process::Signal;

use crate::sidecar::{Sidecar, command, gated, is_running, key, pid_in, shell, signal, wait_gone};

#[test]
fn exit_code_signal_usage_and_result() {
    let mut sidecar = Sidecar::start();
    let finished = sidecar.run(&shell("exit 3"));
    assert_eq!((finished.end, finished.stopped_by, finished.survivors), (End::Exited(3), None, 0));
    assert!(finished.started_at_us > 0 && finished.finished_at_us >= finished.started_at_us);
    // Smaller than the sidecar, whose size it begins with; only a group of its own would tell.
    assert!(finished.memory_peak_bytes < 4 << 20, "{}", finished.memory_peak_bytes);
    let finished = sidecar.run(&shell("head -c 64000000 /dev/zero | tail -c 64000000 | wc -c"));
    assert!(
        (64_000_000..256_000_000).contains(&finished.memory_peak_bytes),
        "{}",
        finished.memory_peak_bytes
    );
    assert_eq!(sidecar.run(&shell("kill -11 $$")).end, End::Signalled(11));
    let finished = sidecar.run(&shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"));
    assert!(finished.cpu_user_us > 10_000, "{}", finished.cpu_user_us);
    let finished = sidecar.run(&shell("echo '{\"rows\":7}' > $MAINSPRING_OUTPUT"));
    assert_eq!(finished.result.as_deref(), Some(&b"{\"rows\":7}\n"[..]));
}

#[test]
fn what_children_used_counts_though_nobody_waited_for_them() {
    let mut sidecar = Sidecar::start();
    let count = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    // One that outlives its parent, which ends before there is a cgroup.
    let left =
        shell(&format!("(trap '' TERM; : > ready; {count}) & while [ ! -e ready ]; do sleep 0.001; done"));
    // One that is killed together with its parent, early and when there is a cgroup.
    let mut early = shell("sh -c 'while :; do :; done'; true");
    let mut late = shell("sh -c 'while :; do :; done'; true");
    (early.run_timeout_ms, late.run_timeout_ms) = (Some(90), Some(600));
    for (mut start, least_us) in [(left, 20_000), (early, 10_000), (late, 50_000)] {
        // On a busy machine a task hardly gets the processor before its time is over: then again.
        let is_counted = (0..100).any(|_| {
            start.key = key();
            let finished = sidecar.run(&start);
            finished.cpu_user_us + finished.cpu_system_us >= least_us
        });
        assert!(is_counted, "never {least_us} µs for {:?}", start.argv);
    }
}

#[test]
fn a_result_that_is_too_long_or_no_file_is_not_taken() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("head -c 101 /dev/zero > $MAINSPRING_OUTPUT");
    start.result_bytes_max = 100;
    let finished = sidecar.run(&start);
    assert_eq!((finished.result, finished.output), (None, Output::TooLong));
    for trick in
        ["mkfifo $MAINSPRING_OUTPUT", "ln -s /etc/passwd $MAINSPRING_OUTPUT", "mkdir $MAINSPRING_OUTPUT"]
    {
        let finished = sidecar.run(&shell(trick));
        assert_eq!((finished.result, finished.output), (None, Output::Unreadable), "{trick}");
    }
    // An agent of version 1 knows two answers, and hears one of them.
    let start = shell("mkdir $MAINSPRING_OUTPUT");
    sidecar.run(&start);
    sidecar.reconnect_as(1);
    assert_eq!(sidecar.finished(start.key).output, Output::Taken);
}

#[test]
fn stop_signals_then_kills() {
    let mut sidecar = Sidecar::start();
    let start = shell("trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.01; done");
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    sidecar.send(Request::Stop { key: start.key, grace_ms: None, signal: None });
    let finished = sidecar.finished(start.key);
    assert_eq!((finished.end, finished.stopped_by), (End::Exited(5), Some(StopCause::Requested)));
    assert!(sidecar.stored(start.key, FrameKind::Stdout).ends_with("bye\n"));

    let mut start = shell("trap '' TERM; echo up; while :; do sleep 0.01; done");
    start.grace_ms = 50;
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    sidecar.send(Request::Stop { key: start.key, grace_ms: None, signal: None });
    assert_eq!(sidecar.finished(start.key).end, End::Signalled(9));

    let start = shell("trap 'exit 6' USR1; echo up; while :; do sleep 0.01; done");
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    sidecar.send(Request::Stop { key: start.key, grace_ms: None, signal: Some(10) });
    assert_eq!(sidecar.finished(start.key).end, End::Exited(6));
}

#[test]
fn kill_does_not_ask_and_unknown_attempts_are_said_to_be() {
    let mut sidecar = Sidecar::start();
    let start = shell("trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done");
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    sidecar.send(Request::Kill { key: start.key });
    let finished = sidecar.finished(start.key);
    assert_eq!((finished.end, finished.stopped_by), (End::Signalled(9), Some(StopCause::Requested)));
    let key = crate::sidecar::key();
    sidecar.send(Request::Kill { key });
    sidecar.wait(|event| (*event == Event::Unknown { key }).then_some(()));
}

#[test]
fn timeout_and_lease_end_it_without_an_agent() {
    let mut sidecar = Sidecar::start();
    let mut timed = shell("sleep 1000");
    timed.run_timeout_ms = Some(50);
    let mut leased = shell("sleep 1000");
    leased.deadline_us = Some(boottime_us() + 300_000);
    for start in [&timed, &leased] {
        sidecar.order(start);
        sidecar.started(start.key);
    }
    drop(std::mem::replace(&mut sidecar.connection, crate::sidecar::connect(&sidecar.layout, true)));
    assert_eq!(sidecar.finished(timed.key).stopped_by, Some(StopCause::Timeout));
    let finished = sidecar.finished(leased.key);
    assert_eq!((finished.end, finished.stopped_by), (End::Signalled(9), Some(StopCause::LeaseOver)));
}

#[test]
fn a_task_that_ends_at_its_timeout_does_not_stop_the_sidecar() {
    let mut sidecar = Sidecar::start();
    let (mut start, gate) = gated(&sidecar, ":", "exit 3");
    start.run_timeout_ms = Some(300);
    sidecar.order(&start);
    let pid = sidecar.started(start.key);
    let timeout_us = boottime_us() + 300_000;
    // Both have happened when it looks.
    signal(sidecar.pid, Signal::STOP);
    std::fs::write(gate, "go\n").unwrap();
    wait_gone(pid);
    while boottime_us() <= timeout_us {
        std::thread::yield_now();
    }
    signal(sidecar.pid, Signal::CONT);
    let finished = sidecar.finished(start.key);
    assert_eq!((finished.end, finished.stopped_by), (End::Exited(3), None));
}

#[test]
fn no_grace_goes_on_after_the_lease() {
    let mut sidecar = Sidecar::start();
    let stubborn = || {
        let mut start = shell("trap '' TERM; echo up; while :; do sleep 0.01; done");
        (start.grace_ms, start.deadline_us) = (3_600_000, Some(boottime_us() + 3_600_000_000));
        start
    };
    let (left, stopped) = (stubborn(), stubborn());
    for start in [&left, &stopped] {
        sidecar.order(start);
        sidecar.wait_output(start.key, "up");
    }
    sidecar.send(Request::Stop { key: stopped.key, grace_ms: None, signal: None });
    sidecar.send(Request::Extend { key: None, deadline_us: Some(boottime_us()) });
    for (start, cause) in [(left, StopCause::LeaseOver), (stopped, StopCause::Requested)] {
        let finished = sidecar.finished(start.key);
        assert_eq!((finished.end, finished.stopped_by), (End::Signalled(9), Some(cause)));
    }
}

#[test]
fn an_extended_lease_holds_and_a_kept_task_stays() {
    let mut sidecar = Sidecar::start();
    let soon = boottime_us() + 500_000;
    let starts = ["extended", "kept", "left"].map(|_| {
        let mut start = shell("sleep 1000");
        start.deadline_us = Some(soon);
        sidecar.order(&start);
        start.key
    });
    let [extended, kept, left] = starts;
    sidecar.send(Request::Extend { key: Some(kept), deadline_us: None });
    sidecar.send(Request::Extend { key: None, deadline_us: Some(soon + 3_600_000_000) });
    sidecar.send(Request::Extend { key: Some(left), deadline_us: Some(soon) });
    assert_eq!(sidecar.finished(left).stopped_by, Some(StopCause::LeaseOver));
    for key in [extended, kept] {
        sidecar.send(Request::Stop { key, grace_ms: None, signal: None });
        assert_eq!(sidecar.finished(key).stopped_by, Some(StopCause::Requested));
    }
}

#[test]
fn children_that_outlive_the_task_are_cleared_away() {
    let mut sidecar = Sidecar::start();
    // In the group; in a session of its own; the same without our variables.
    let plain = shell("sleep 1000 & echo $! > child; exit 4");
    let session = shell(
        "setsid sh -c 'echo $$ > child; exec sleep 1000' & while [ ! -s child ]; do sleep 0.01; done; exit 4",
    );
    let hidden = shell(
        "env -i setsid sh -c 'echo $$ > child; exec sleep 1000' & while [ ! -s child ]; do sleep 0.01; done; exit 4",
    );
    for start in [plain, session, hidden] {
        let finished = sidecar.run(&start);
        assert_eq!((finished.end, finished.stopped_by, finished.survivors), (End::Exited(4), None, 0));
        assert!(!is_running(pid_in(&sidecar.layout, start.key, "child")));
    }
}

#[test]
fn progress_lines_are_told_as_they_come() {
    let mut sidecar = Sidecar::start();
    let start = shell(
        "for i in 1 2 3; do echo $i >> $MAINSPRING_PROGRESS; sleep 0.2; done; printf last >> $MAINSPRING_PROGRESS; read x < gate",
    );
    std::fs::create_dir_all(sidecar.layout.work(&start.key)).unwrap();
    let gate = sidecar.layout.work(&start.key).join("gate");
    std::process::Command::new("mkfifo").arg(&gate).status().unwrap();
    sidecar.order(&start);
    let line = |sidecar: &mut Sidecar| {
        sidecar.wait(|event| match event {
            Event::Progress { line, .. } => Some(line.clone()),
            _ => None,
        })
    };
    assert_eq!([line(&mut sidecar), line(&mut sidecar), line(&mut sidecar)], ["1", "2", "3"]);
    std::fs::write(gate, "go\n").unwrap();
    sidecar.finished(start.key);
    assert_eq!(line(&mut sidecar), "last");
}

#[test]
fn progress_is_also_taken_from_a_descriptor() {
    let mut sidecar = Sidecar::start();
    let rlimits = vec![Rlimit { kind: RlimitKind::Core, soft: Some(0), hard: Some(0) }];
    let orders = [vec![], rlimits].map(|rlimits| Start {
        rlimits,
        ..shell(
            "echo 0.5 half >&3; echo $MAINSPRING_PROGRESS_FD 0.6 >&$MAINSPRING_PROGRESS_FD; echo 0.7 >> $MAINSPRING_PROGRESS; ls -l /proc/self/fd | grep -c attempts",
        )
    });
    for start in orders {
        sidecar.run(&start);
        // No other attempt's file, and nothing else of the sidecar's: its own, and the directory that is listed.
        assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "1\n");
        let lines = sidecar.seen.drain(..).filter_map(|event| match event {
            Event::Progress { key, line } if key == start.key => Some(line),
            _ => None,
        });
        assert_eq!(lines.collect::<Vec<_>>(), ["0.5 half", "3 0.6", "0.7"]);
        // The next one gets the directory, and nothing that was said in it.
        sidecar
            .connection
            .send(&[Request::Ack { key: start.key }, Request::Remove { key: start.key }])
            .unwrap();
        sidecar.wait(|event| matches!(event, Event::Removed { .. }).then_some(()));
    }
}

#[test]
fn progress_that_is_written_over_is_told_as_it_comes() {
    let mut sidecar = Sidecar::start();
    // Each report waits until the one before was heard.
    let start = shell(
        "mkfifo 0 1 2 3 4 5 6; echo up; i=0; for line in 1/9 2/9 3/9 3/9 '3/9 still'; do \
         read x < $i; i=$((i+1)); echo $line > $MAINSPRING_PROGRESS; done; \
         read x < 5; echo 9/9 > new; mv new $MAINSPRING_PROGRESS; read x < 6",
    );
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    let work = sidecar.layout.work(&start.key);
    let gate = |number: usize| work.join(number.to_string());
    for (number, expected) in ["1/9", "2/9", "3/9", "3/9", "3/9 still", "9/9"].into_iter().enumerate() {
        std::fs::write(gate(number), "go\n").unwrap();
        let line = sidecar.wait(|event| match event {
            Event::Progress { line, .. } => Some(line.clone()),
            _ => None,
        });
        assert_eq!(line, expected);
    }
    std::fs::write(gate(6), "go\n").unwrap();
    sidecar.finished(start.key);
    assert!(!sidecar.seen.iter().any(|event| matches!(event, Event::Progress { .. })));
}

#[test]
fn shutdown_waits_for_nobody_unless_forced() {
    let mut sidecar = Sidecar::start();
    let start = shell("echo up; sleep 1000");
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    sidecar.send(Request::Shutdown { force: false });
    sidecar.wait(|event| (*event == Event::ShuttingDown { accepted: false }).then_some(()));
    sidecar.send(Request::Shutdown { force: true });
    let finished = sidecar.finished(start.key);
    assert_eq!(finished.stopped_by, Some(StopCause::Shutdown));
    wait_gone(sidecar.pid);
}

#[test]
fn a_lease_goes_on_while_the_machine_is_suspended() {
    assert!(rustix::process::getuid().is_root(), "this test needs root");
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_owned();
    // A machine that was suspended for a day since it booted: one clock is a day ahead of the other.
    let mut suspended = std::process::Command::new("unshare");
    suspended.args(["--time", "--boottime", "86400", "sh", "-c", "\"$@\" & exec >&-; wait", "sh"]);
    suspended.arg(command(&data).get_program()).arg(&data);
    let mut sidecar = Sidecar::start_with(&mut suspended, directory, &data);
    let day_us = 86_400_000_000;
    let lease = |deadline_us| Start { deadline_us: Some(deadline_us), ..shell("echo up; sleep 1000") };
    let over = lease(boottime_us() + day_us / 2);
    sidecar.order(&over);
    assert_eq!(sidecar.refused(over.key).0, Refusal::Late);
    let ending = lease(boottime_us() + day_us + 300_000);
    let finished = sidecar.run(&ending);
    assert_eq!((finished.end, finished.stopped_by), (End::Signalled(9), Some(StopCause::LeaseOver)));
    sidecar.send(Request::Shutdown { force: true });
}
