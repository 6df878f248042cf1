//! Limits of a process and of an attempt as a whole.

use mainspring_sidecar::log::FrameKind;
use mainspring_sidecar::protocol::{End, Event, Refusal, Request, ResourceCaps, Rlimit, RlimitKind, Start};

use crate::sidecar::{Sidecar, command, connect, gated, key, shell};

#[test]
fn rlimits_are_set_before_the_program_begins() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("ulimit -S -n; ulimit -H -n; ulimit -S -c; ulimit -H -t");
    start.rlimits = vec![
        Rlimit { kind: RlimitKind::OpenFiles, soft: Some(50), hard: Some(60) },
        Rlimit { kind: RlimitKind::Core, soft: Some(0), hard: None },
        Rlimit { kind: RlimitKind::Cpu, soft: Some(1000), hard: Some(2000) },
    ];
    assert_eq!(sidecar.run(&start).end, End::Exited(0));
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "50\n60\n0\n2000\n");
}

#[test]
fn the_sidecar_may_open_many_files_and_its_tasks_as_many_as_before() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_owned();
    let mut modest = std::process::Command::new("sh");
    modest.args(["-c", "ulimit -S -n 300; ulimit -H -n 4000; exec \"$@\"", "sh"]);
    modest.arg(command(&data).get_program()).arg(&data);
    let mut sidecar = Sidecar::start_with(&mut modest, directory, &data);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", sidecar.pid)).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    assert_eq!(line.split_whitespace().take(2).collect::<Vec<_>>(), ["4000", "4000"]);
    let core = Rlimit { kind: RlimitKind::Core, soft: Some(0), hard: Some(0) };
    let files = Rlimit { kind: RlimitKind::OpenFiles, soft: Some(50), hard: Some(60) };
    for (rlimits, expected) in
        [(vec![], "300\n4000\n"), (vec![core], "300\n4000\n"), (vec![files], "50\n60\n")]
    {
        // It looks when it is known to be started.
        let (mut start, gate) = gated(&sidecar, ":", "ulimit -S -n; ulimit -H -n");
        start.rlimits = rlimits;
        sidecar.order(&start);
        sidecar.started(start.key);
        std::fs::write(gate, "go\n").unwrap();
        sidecar.finished(start.key);
        assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), expected);
    }
}

#[test]
fn a_limited_program_that_is_not_there_says_so() {
    let mut sidecar = Sidecar::start();
    let core = Rlimit { kind: RlimitKind::Core, soft: Some(0), hard: Some(0) };
    let start = Start { rlimits: vec![core], ..Start::new(key(), ["/no/such/program"]) };
    sidecar.order(&start);
    let (refusal, message) = sidecar.refused(start.key);
    assert_eq!(refusal, Refusal::CannotExecute);
    assert!(message.contains("/no/such/program"), "{message}");
    let start = Start { rlimits: vec![core], ..shell("exit 127") };
    assert_eq!(sidecar.run(&start).end, End::Exited(127));
}

#[test]
fn a_limit_that_cannot_be_set_refuses_the_start() {
    let mut sidecar = Sidecar::start();
    let limit = |kind, soft, hard| vec![Rlimit { kind, soft, hard }];
    let cases = [
        (limit(RlimitKind::OpenFiles, Some(60), Some(50)), "open files 60:50"),
        (limit(RlimitKind::Core, None, Some(1)), "core unlimited:1"),
        // More than the system lets anybody have.
        (limit(RlimitKind::OpenFiles, Some(1 << 40), Some(1 << 40)), "open files 1099511627776"),
    ];
    for (rlimits, words) in cases {
        for user in [None, Some("nobody".to_owned())] {
            let start = Start { rlimits: rlimits.clone(), user, ..shell("touch ran") };
            sidecar.order(&start);
            let (refusal, message) = sidecar.refused(start.key);
            assert!(matches!(refusal, Refusal::Invalid | Refusal::CannotExecute), "{refusal:?}");
            assert!(message.contains(words), "{message}");
            assert!(!sidecar.layout.work(&start.key).join("ran").exists());
        }
    }
}

#[test]
fn limits_at_the_edges_neither_pass_for_others_nor_hurt_the_sidecar() {
    let mut sidecar = Sidecar::start();
    let run = |sidecar: &mut Sidecar, kind, limit| {
        let rlimits = vec![Rlimit { kind, soft: limit, hard: limit }];
        let start = Start { rlimits, ..shell("ulimit -S -f; ulimit -H -f; echo end") };
        sidecar.order(&start);
        let ended = sidecar.wait(|event| match event {
            Event::Finished(finished) if finished.key == start.key => Some(finished.end.clone()),
            Event::Refused { key, message, .. } if *key == start.key => {
                Some(End::NotExecuted(message.clone()))
            }
            _ => None,
        });
        (ended, sidecar.stored(start.key, FrameKind::Stdout))
    };
    // The largest number is the kernel's word for no limit.
    for limit in [None, Some(u64::MAX)] {
        let (end, output) = run(&mut sidecar, RlimitKind::FileSize, limit);
        assert_eq!((end, output.as_str()), (End::Exited(0), "unlimited\nunlimited\nend\n"));
    }
    let (end, output) = run(&mut sidecar, RlimitKind::FileSize, Some(0));
    assert_eq!((end, output.as_str()), (End::Exited(0), "0\n0\nend\n"));
    // No program begins with these; whichever way that shows, it is an end.
    for kind in [RlimitKind::AddressSpace, RlimitKind::Stack, RlimitKind::Data, RlimitKind::OpenFiles] {
        let (end, output) = run(&mut sidecar, kind, Some(0));
        assert!(end != End::Exited(0) || kind == RlimitKind::Data, "{kind:?}: {end:?} {output}");
    }
    assert_eq!(sidecar.run(&shell("exit 3")).end, End::Exited(3));
}

#[test]
fn a_file_size_limit_ends_the_writer() {
    let mut sidecar = Sidecar::start();
    let mut start = Start::new(key(), ["dd", "if=/dev/zero", "of=big", "bs=1k", "count=100"]);
    start.rlimits = vec![Rlimit { kind: RlimitKind::FileSize, soft: Some(10_240), hard: Some(10_240) }];
    assert_eq!(sidecar.run(&start).end, End::Signalled(25));
}

/// Limits of a whole attempt need controllers; a machine without them shows that nothing pretends.
fn capabilities(sidecar: &mut Sidecar) -> mainspring_sidecar::protocol::Capabilities {
    let mut second = connect(&sidecar.layout, false);
    match second.receive().unwrap() {
        Some(Event::Welcome { capabilities, .. }) => capabilities,
        other => panic!("{other:?}"),
    }
}

#[test]
fn memory_of_the_whole_attempt_is_limited_and_oom_is_told() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("head -c 200000000 /dev/zero | tail -c 190000000 | wc -c");
    start.caps = ResourceCaps { memory_bytes: Some(32 << 20), ..ResourceCaps::default() };
    let limited = capabilities(&mut sidecar).memory;
    let finished = sidecar.run(&start);
    assert_eq!(finished.oom, limited, "{finished:?}");
}

#[test]
fn processes_of_the_whole_attempt_are_limited() {
    let mut sidecar = Sidecar::start();
    if !capabilities(&mut sidecar).pids {
        panic!("this test needs the pids controller of cgroups");
    }
    // At most 12 at once: a bomb that would double 10 times stays small, and is gone at the end.
    let mut start = shell(
        "bomb() { [ $1 -gt 0 ] || { sleep 1000; return; }; bomb $(($1-1)) & bomb $(($1-1)) & wait; }; bomb 10; echo end",
    );
    start.caps = ResourceCaps { pids: Some(12), ..ResourceCaps::default() };
    start.grace_ms = 50;
    sidecar.order(&start);
    sidecar.started(start.key);
    sidecar.wait(|event| match event {
        Event::Log { frames, .. } if String::from_utf8_lossy(frames).contains("ork") => Some(()),
        _ => None,
    });
    sidecar.send(Request::Stop { key: start.key, grace_ms: None, signal: None });
    let finished = sidecar.finished(start.key);
    assert_eq!(finished.survivors, 0);
}

#[test]
fn a_bound_of_many_processes_holds_for_a_task_that_lasts() {
    let mut sidecar = Sidecar::start();
    assert!(capabilities(&mut sidecar).pids, "this test needs the pids controller of cgroups");
    // It waits for its cgroup, not for a time.
    let script = "while ! grep -q 'pids:.*attempt-\\|^0::.*attempt-' /proc/self/cgroup; do :; done\n\
                  i=0; while [ $i -lt 1100 ]; do sleep 1000 & i=$((i+1)); done";
    for (pids, refused) in [(Some(1024), true), (None, false)] {
        let mut start = shell(script);
        start.caps = ResourceCaps { pids, ..ResourceCaps::default() };
        start.grace_ms = 50;
        let finished = sidecar.run(&start);
        assert_eq!(finished.survivors, 0);
        let errors = sidecar.stored(start.key, FrameKind::Stderr);
        assert_eq!(errors.contains("ork"), refused, "{pids:?}: {errors}");
    }
}

#[test]
fn an_attempt_of_one_process_starts_and_stays_one() {
    let mut sidecar = Sidecar::start();
    if !capabilities(&mut sidecar).pids {
        panic!("this test needs the pids controller of cgroups");
    }
    let core = Rlimit { kind: RlimitKind::Core, soft: Some(0), hard: Some(0) };
    for (pids, rlimits) in [(1, vec![]), (2, vec![]), (1, vec![core]), (u32::MAX, vec![])] {
        // It forks when it is known to be started, by when its limit is its own.
        let (mut start, gate) = gated(&sidecar, "echo one", ": | :");
        start.caps = ResourceCaps { pids: Some(pids), ..ResourceCaps::default() };
        start.rlimits = rlimits;
        sidecar.order(&start);
        sidecar.started(start.key);
        std::fs::write(gate, "go\n").unwrap();
        sidecar.finished(start.key);
        assert!(sidecar.stored(start.key, FrameKind::Stdout).starts_with("one\n"));
        let errors = sidecar.stored(start.key, FrameKind::Stderr);
        assert_eq!(errors.contains("ork"), pids < 3, "{pids}: {errors}");
    }
}

#[test]
fn a_sidecar_whose_home_was_swept_away_does_not_stay_with_the_task() {
    let mut sidecar = Sidecar::start();
    let place = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    let before = place(sidecar.pid);
    let mut tasks = Vec::new();
    // As if the sidecar stood in the cgroup of a task when another one started.
    let names = before.lines().filter_map(|line| Some(line.split_once("/mainspring-")?.1));
    let names: std::collections::BTreeSet<_> = names.filter_map(|rest| rest.split('/').next()).collect();
    for name in names {
        let found = std::process::Command::new("find")
            .args(["/sys/fs/cgroup", "-type", "d", "-path", &format!("*/mainspring-{name}/sidecar")])
            .output()
            .unwrap();
        for home in String::from_utf8(found.stdout).unwrap().lines().map(std::path::Path::new) {
            let task = home.with_file_name("attempt-0-0");
            std::fs::create_dir(&task).unwrap();
            std::fs::write(task.join("cgroup.procs"), sidecar.pid.to_string()).unwrap();
            // Another test may have done it.
            let _ = std::fs::remove_dir(home);
            tasks.push(task);
        }
    }
    assert_ne!(place(sidecar.pid), before);
    let mut start = shell("true");
    start.caps = ResourceCaps { pids: Some(50), ..ResourceCaps::default() };
    sidecar.run(&start);
    assert_eq!(place(sidecar.pid), before);
    for task in tasks {
        std::fs::remove_dir(task).unwrap();
    }
}

#[test]
fn no_cgroup_is_left() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("cat /proc/self/cgroup; sleep 0.3");
    start.caps = ResourceCaps { pids: Some(50), ..ResourceCaps::default() };
    sidecar.run(&start);
    let lasting = shell("echo $$; sleep 0.5");
    sidecar.run(&lasting);
    let cgroups = capabilities(&mut sidecar).cgroups;
    let inside = sidecar.stored(start.key, FrameKind::Stdout);
    assert_eq!(inside.contains("/mainspring-"), cgroups, "{inside}");
    let name = inside
        .split('/')
        .find(|part| part.starts_with("mainspring-"))
        .unwrap_or("mainspring-none")
        .to_owned();
    sidecar.send(Request::Shutdown { force: true });
    crate::sidecar::wait_gone(sidecar.pid);
    let found = std::process::Command::new("find").args(["/sys/fs/cgroup", "-name", &name]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}
