//! Tasks of other users: what they are given, and what is said when they cannot run.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use mainspring_sidecar::log::FrameKind;
use mainspring_sidecar::protocol::{End, Event, Refusal, Rlimit, RlimitKind, Start};
use mainspring_sidecar::{Layout, make_passable};

use crate::sidecar::{Sidecar, command, shell};

/// A directory that others may pass, as `/var/lib` is; those of test runs are closed to them.
fn open_directory() -> tempfile::TempDir {
    let mode = PermissionsExt::from_mode(0o755);
    tempfile::Builder::new().prefix("sidecar-").permissions(mode).tempdir_in("/tmp").unwrap()
}

/// The same task twice: without and with a limit of its own.
fn both_ways(script: &str, user: &str) -> [Start; 2] {
    assert!(rustix::process::getuid().is_root(), "this test needs root");
    let core = Rlimit { kind: RlimitKind::Core, soft: Some(0), hard: Some(0) };
    [vec![], vec![core]].map(|rlimits| Start { user: Some(user.into()), rlimits, ..shell(script) })
}

/// Why it did not run, and whether that is final.
fn not_executed(sidecar: &mut Sidecar, start: &Start) -> String {
    sidecar.order(start);
    sidecar.wait(|event| match event {
        Event::Refused { key, refusal, message } if *key == start.key => {
            assert_eq!(*refusal, Refusal::CannotExecute, "{message}");
            Some(message.clone())
        }
        _ => None,
    })
}

#[test]
fn a_task_runs_as_another_user_in_a_fresh_directory() {
    let outer = open_directory();
    // As an agent makes it, under a mask that closes what is made.
    let data = outer.path().join("new/agent");
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    make_passable(&data).unwrap();
    let mut sidecar = Sidecar::start_below(outer, "new/agent");
    rustix::process::umask(before);
    let script = "id -u; id -G; echo $HOME $USER; echo 42 > $MAINSPRING_OUTPUT; touch mine; echo 1 >> $MAINSPRING_PROGRESS";
    for start in both_ways(script, "nobody") {
        let finished = sidecar.run(&start);
        assert_eq!(sidecar.stored(start.key, FrameKind::Stderr), "");
        assert_eq!((finished.end, finished.result.as_deref()), (End::Exited(0), Some(&b"42\n"[..])));
        assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "65534\n65534\n/nonexistent nobody\n");
        sidecar.wait(|event| matches!(event, Event::Progress { line, .. } if line == "1").then_some(()));
    }
    // What is not the task's is closed to it.
    let private = Layout::new(&data);
    for path in [private.journal(), private.complaints(), private.socket(), private.attempts()] {
        for start in both_ways(&format!("exec ls {}", path.display()), "nobody") {
            assert_ne!(sidecar.run(&start).end, End::Exited(0), "{}", path.display());
        }
    }
}

#[test]
fn a_task_runs_as_a_number_that_has_no_account() {
    let outer = open_directory();
    make_passable(&outer.path().join("data")).unwrap();
    let mut sidecar = Sidecar::start_below(outer, "data");
    let script = "id -u; id -G; [ \"$HOME\" = \"$PWD\" ] && echo home; echo ${USER-none}; touch mine; echo 42 > $MAINSPRING_OUTPUT";
    for start in both_ways(script, "60999") {
        let finished = sidecar.run(&start);
        assert_eq!((finished.end, finished.result.as_deref()), (End::Exited(0), Some(&b"42\n"[..])));
        assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "60999\n60999\nhome\nnone\n");
        for path in [sidecar.layout.journal(), sidecar.layout.socket(), sidecar.layout.lock()] {
            for start in both_ways(&format!("exec ls {}", path.display()), "60999") {
                assert_ne!(sidecar.run(&start).end, End::Exited(0), "{}", path.display());
            }
        }
    }
}

#[test]
fn inputs_belong_to_the_user_of_the_task() {
    let outer = open_directory();
    let data = outer.path().join("data");
    make_passable(&data).unwrap();
    let mut sidecar = Sidecar::start_below(outer, "data");
    let script = "cat ../inputs/orders; stat -c '%U %a' ../inputs";
    for start in both_ways(script, "nobody") {
        // As an agent makes them before it orders the task.
        let attempt = sidecar.layout.attempt(&start.key);
        let inputs = attempt.join("inputs");
        for (path, mode) in [(&attempt, 0o711), (&inputs, 0o700)] {
            std::fs::create_dir(path).unwrap();
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        }
        std::fs::write(inputs.join("orders"), "1\n").unwrap();
        sidecar.run(&start);
        assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "1\nnobody 700\n");
        let look = format!("cat {}", inputs.join("orders").display());
        let stranger = Start { user: Some("daemon".into()), ..shell(&look) };
        assert_ne!(sidecar.run(&stranger).end, End::Exited(0));
    }
}

#[test]
fn a_closed_directory_is_named() {
    let outer = open_directory();
    let closed = outer.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).unwrap();
    let name = closed.display().to_string();
    let mut sidecar = Sidecar::start_below(outer, "closed/data");
    for start in both_ways("true", "nobody") {
        let message = not_executed(&mut sidecar, &start);
        assert!(message.contains(&format!("`nobody` may not pass {name} on the way")), "{message}");
    }
}

#[test]
fn a_missing_right_is_named_and_final() {
    for right in ["chown", "setuid", "setgid"] {
        let outer = open_directory();
        let data = outer.path().join("data");
        let mut limited = Command::new("setpriv");
        limited.args([format!("--bounding-set=-{right}"), format!("--inh-caps=-{right}")]);
        limited.arg(command(&data).get_program()).arg(&data);
        let mut sidecar = Sidecar::start_with(&mut limited, outer, &data);
        for start in both_ways("true", "nobody") {
            let message = not_executed(&mut sidecar, &start);
            assert!(message.contains("`nobody`") && message.ends_with("needs to run as root"), "{message}");
        }
    }
}

#[test]
fn capabilities_of_the_agent_do_not_come_down_to_tasks() {
    let outer = open_directory();
    let data = outer.path().join("data");
    let mut capable = Command::new("setpriv");
    capable.args(["--inh-caps=+chown,+setuid", "--ambient-caps=+chown,+setuid"]);
    capable.arg(command(&data).get_program()).arg(&data);
    let mut sidecar = Sidecar::start_with(&mut capable, outer, &data);
    for start in both_ways("grep CapAmb /proc/self/status", "root") {
        sidecar.run(&start);
        assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "CapAmb:\t0000000000000000\n");
    }
}

#[test]
fn another_user_has_its_groups_and_can_open_its_output_again() {
    let outer = open_directory();
    let data = outer.path().join("data");
    let groups = std::fs::read_to_string("/etc/group").unwrap() + "sidecar-test:x:54321:nobody\n";
    std::fs::write(outer.path().join("group"), groups).unwrap();
    // The groups of a machine are not ours to change: the sidecar sees others.
    let mut member = Command::new("unshare");
    member.args(["-m", "sh", "-c", "mount --bind $0 /etc/group && exec \"$@\""]);
    member.arg(outer.path().join("group")).arg(command(&data).get_program()).arg(&data);
    let mut sidecar = Sidecar::start_with(&mut member, outer, &data);
    for start in both_ways("id -G; echo hi > /dev/stdout; echo ho > /dev/stderr", "nobody") {
        sidecar.run(&start);
        assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "65534 54321\nhi\n");
        assert_eq!(sidecar.stored(start.key, FrameKind::Stderr), "ho\n");
    }
}
