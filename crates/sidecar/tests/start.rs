//! What a task is started with: environment, directory, input, user, and that it is started once.

use mainspring_sidecar::log::FrameKind;
use mainspring_sidecar::protocol::{End, Event, File, Refusal, Request, Standing, Start, Stdin};

use crate::sidecar::{Sidecar, command, key, shell};

#[test]
fn the_environment_is_clean() {
    let mut sidecar = Sidecar::start();
    let mut start = Start::new(key(), ["env"]);
    start.env = vec![("COLOUR".into(), "blue".into()), ("LANG".into(), "de_DE.UTF-8".into())];
    assert_eq!(sidecar.run(&start).end, End::Exited(0));
    let output = sidecar.stored(start.key, FrameKind::Stdout);
    let mut names: Vec<&str> =
        output.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    names.sort_unstable();
    let ours =
        ["ATTEMPT", "OUTPUT", "PROGRESS", "PROGRESS_FD", "RUN_ID"].map(|name| format!("MAINSPRING_{name}"));
    let ours = ours.each_ref().map(String::as_str);
    assert_eq!(names, [&["COLOUR", "HOME", "LANG"][..], &ours[..], &["PATH"][..]].concat());
    assert!(output.contains("LANG=de_DE.UTF-8\n"));
    assert!(output.contains(&format!("MAINSPRING_RUN_ID={}\n", start.key.run_id())));
}

#[test]
fn a_task_has_no_file_of_whoever_started_the_sidecar() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_owned();
    let mut leaking = std::process::Command::new("sh");
    leaking.args(["-c", "exec 3</etc/passwd 7</etc/passwd; exec \"$@\"", "sh"]);
    leaking.arg(command(&data).get_program()).arg(&data);
    let mut sidecar = Sidecar::start_with(&mut leaking, directory, &data);
    let start = shell("readlink /proc/self/fd/*; echo $MAINSPRING_PROGRESS_FD");
    sidecar.run(&start);
    let output = sidecar.stored(start.key, FrameKind::Stdout);
    assert!(!output.contains("/etc/passwd") && output.ends_with("\n3\n"), "{output}");
}

#[test]
fn it_starts_in_its_work_directory_or_where_it_was_told() {
    let mut sidecar = Sidecar::start();
    let start = shell("pwd");
    sidecar.run(&start);
    let work = sidecar.layout.work(&start.key).canonicalize().unwrap();
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout).trim(), work.to_str().unwrap());
    let mut start = shell("pwd");
    start.cwd = Some("/".into());
    sidecar.run(&start);
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "/\n");
}

#[test]
fn input_and_files_reach_the_task() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("cat; cat $PARAMS");
    let long = "x".repeat(300_000);
    start.stdin = Stdin::Bytes(long.clone().into());
    start.files = vec![File {
        name: "params".into(),
        content: "{}\n".into(),
        mode: 0o600,
        variable: Some("PARAMS".into()),
    }];
    assert_eq!(sidecar.run(&start).end, End::Exited(0));
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), format!("{long}{{}}\n"));
    let mut start = shell("wc -c");
    start.stdin = Stdin::File("/dev/null".into());
    sidecar.run(&start);
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "0\n");
}

#[test]
fn a_file_never_leaves_its_directory() {
    let mut sidecar = Sidecar::start();
    for name in ["../escape", "log", "a/b", "", ".."] {
        let mut start = shell("true");
        start.files = vec![File { name: name.into(), content: "x".into(), mode: 0o600, variable: None }];
        sidecar.order(&start);
        assert_eq!(sidecar.refused(start.key).0, Refusal::Invalid, "{name:?}");
    }
}

#[test]
fn what_cannot_be_executed_is_refused_by_name() {
    let mut sidecar = Sidecar::start();
    for (argv, refusal) in [
        (vec!["no-such-program"], Refusal::CannotExecute),
        (vec!["/no/such/program"], Refusal::CannotExecute),
        (vec!["/etc/passwd"], Refusal::CannotExecute),
        (vec![], Refusal::Invalid),
    ] {
        let start = Start::new(key(), argv.clone());
        sidecar.order(&start);
        let (found, message) = sidecar.refused(start.key);
        assert_eq!(found, refusal, "{argv:?}: {message}");
        assert!(argv.iter().all(|program| message.contains(program)), "{argv:?}: {message}");
    }
    let mut start = shell("true");
    start.cwd = Some("/no/such/place".into());
    sidecar.order(&start);
    let (found, message) = sidecar.refused(start.key);
    assert_eq!(found, Refusal::CannotExecute, "{message}");
    assert!(message.contains("working directory /no/such/place"), "{message}");
    let mut start = shell("true");
    start.user = Some("nobody-of-that-name".into());
    sidecar.order(&start);
    assert_eq!(sidecar.refused(start.key).0, Refusal::Invalid);
    let mut start = shell("true");
    start.deadline_us = Some(1);
    sidecar.order(&start);
    assert_eq!(sidecar.refused(start.key).0, Refusal::Late);
}

#[test]
fn an_order_that_comes_again_is_not_executed_again() {
    let mut sidecar = Sidecar::start();
    let count = sidecar.layout.data().join("count");
    let start = shell(&format!("echo x >> {}; cat {0}", count.display()));
    let again = Request::Start(Box::new(start.clone()));
    sidecar.connection.send(&[again.clone(), again.clone()]).unwrap();
    sidecar.started(start.key);
    sidecar.finished(start.key);
    sidecar.send(again.clone());
    sidecar.finished(start.key);
    sidecar.connection.send(&[Request::Ack { key: start.key }, again]).unwrap();
    assert_eq!(sidecar.refused(start.key).0, Refusal::AlreadyOver);
    assert_eq!(std::fs::read_to_string(count).unwrap(), "x\n");
}

#[test]
fn directories_stay_until_removed() {
    let mut sidecar = Sidecar::start();
    let start = shell("mkdir -p a/b; chmod 0 a");
    sidecar.run(&start);
    let key = start.key;
    let standing = |sidecar: &mut Sidecar| {
        sidecar.send(Request::List);
        sidecar.wait(|event| match event {
            Event::Listing { attempts } => {
                Some(attempts.iter().map(|listed| listed.standing).collect::<Vec<_>>())
            }
            _ => None,
        })
    };
    assert_eq!(standing(&mut sidecar), [Standing::Finished]);
    sidecar.send(Request::Ack { key });
    assert_eq!(standing(&mut sidecar), [Standing::Retained]);
    sidecar.send(Request::Remove { key });
    sidecar.wait(|event| (*event == Event::Removed { key }).then_some(()));
    assert_eq!(standing(&mut sidecar), []);
    let begun = std::time::Instant::now();
    while sidecar.layout.attempt(&key).exists() {
        assert!(begun.elapsed().as_secs() < 600, "it is still there after a guard against a hang");
        std::thread::yield_now();
    }
    let start = shell("echo here; sleep 1000");
    sidecar.order(&start);
    sidecar.wait_output(start.key, "here");
    sidecar.send(Request::Remove { key: start.key });
    let listing = standing(&mut sidecar);
    assert!(matches!(listing[..], [Standing::Running { stopping: false, .. }]), "{listing:?}");
    assert!(sidecar.layout.work(&start.key).exists());
}

#[test]
fn the_mode_mask_is_the_tasks_alone() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("umask");
    start.umask = Some(0o077);
    sidecar.run(&start);
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "0077\n");
    let start = shell("umask");
    sidecar.run(&start);
    assert_eq!(sidecar.stored(start.key, FrameKind::Stdout), "0022\n");
}
