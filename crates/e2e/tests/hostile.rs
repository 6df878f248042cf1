//! Tasks that behave as badly as they can: the node, its neighbours and the API are unhurt, and what happened is told.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::{Store, World, lives, on_every_store};

on_every_store! {
    a_task_that_ignores_the_signal_is_killed_after_its_grace
    what_an_ended_task_leaves_behind_is_killed
    a_flood_of_output_keeps_its_head_and_its_tail
    a_flood_that_is_taken_at_once_is_bounded_too
    output_of_any_bytes_is_readable
    unfit_results_and_progress_hurt_nobody
    a_task_ended_by_a_signal_says_so
    a_task_in_another_process_group_is_ended
    a_task_that_eats_memory_is_ended_alone
    a_bomb_of_processes_is_cleared_away
}

/// A job of a shell script that is not tried again and may take a second to stop.
fn job(name: &str, script: &str) -> Value {
    json!({
        "name": name,
        "process": { "command": "sh", "args": ["-c", script] },
        "retry": { "max": 0 },
        "timeout": { "stop_grace": "1s" },
    })
}

fn a_task_that_ignores_the_signal_is_killed_after_its_grace(store: Store) {
    let world = World::new(store);
    let (own, told) = (world.path("own"), world.path("told"));
    let script = format!(
        "trap 'echo told >> {}' TERM; echo $$ > {}; while :; do sleep 0.05; done",
        told.display(),
        own.display()
    );
    let run = world.submit_job(&job("stubborn", &script));
    let pid = world.until_file("own");
    let begun = Instant::now();
    world.text(&["cancel", &run]);
    assert_eq!(world.until_file("told"), "told\n", "it is asked first");
    assert!(lives(&pid), "it has its grace");
    world.wait(&run);
    assert!(begun.elapsed() >= Duration::from_secs(1), "it has its grace");
    assert!(!lives(&pid));
    assert_eq!(world.until_file("told"), "told\n", "it is asked once");
    assert_eq!(world.state(&run), "cancelled");
}

fn what_an_ended_task_leaves_behind_is_killed(store: Store) {
    let world = World::new(store);
    let left = world.path("left");
    // One in a session of its own, one that hides whose it is, one that was born twice: none of them wants to end.
    let stay = |how: &str| {
        format!(
            "({how} sh -c 'trap \"\" TERM; echo $$ >> {}; sleep 1000' > /dev/null 2>&1 &)",
            left.display()
        )
    };
    let script = format!(
        "{}; {}; {}; while [ \"$(wc -l < {})\" != 3 ]; do sleep 0.05; done; exit 4",
        stay("setsid"),
        stay("env -i PATH=$PATH setsid"),
        stay(""),
        left.display()
    );
    let run = world.submit_job(&job("leaver", &script));
    assert_eq!(world.wait(&run), Some(4), "{}", world.logs());
    let left = world.until_file("left");
    assert_eq!(left.lines().count(), 3);
    assert!(!left.lines().any(lives), "an attempt that is over has no processes");
}

fn a_flood_of_output_keeps_its_head_and_its_tail(store: Store) {
    const LINES: u64 = 3_600_000;
    let mut world = World::new(store);
    let (ready, go, through) = (world.path("ready"), world.path("go"), world.path("through"));
    let script = format!(
        "echo ready > {}; while [ ! -e {} ]; do sleep 0.05; done; seq {LINES}; echo through > {}",
        ready.display(),
        go.display(),
        through.display()
    );
    let run = world.submit_job(&job("flood", &script));
    world.until_file("ready");
    // Nobody takes the output, and the task is not held up by that.
    world.kill_server();
    std::fs::write(go, "").unwrap();
    world.until_file("through");
    world.start_server();
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    world.until("the log is whole", |world| world.log_is_whole(&run).then_some(()));
    let (kept, marks) = world.log_and_marks(&run);
    let dropped = dropped_bytes(&marks);
    assert!(kept.starts_with("1\n2\n3\n"));
    assert!(kept.ends_with(&format!("\n{LINES}\n")));
    let written: u64 = (1..=LINES).map(|line| u64::from(line.ilog10()) + 2).sum();
    // The mark counts what was stored for the output that is missing: the headers of its frames too.
    let headers =
        (kept.len() as u64 + dropped).checked_sub(written).expect("no more is missing than is told");
    assert!(headers.is_multiple_of(13) && headers < dropped / 100, "{headers} bytes too many in {marks}");
    assert!((8 << 20..18 << 20).contains(&kept.len()), "{} bytes are kept", kept.len());
}

fn a_flood_that_is_taken_at_once_is_bounded_too(store: Store) {
    const LINES: u64 = 5_000_000;
    let world = World::new(store);
    let run = world.submit_job(&job("flood", &format!("seq {LINES}")));
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    world.until("the log is whole", |world| world.log_is_whole(&run).then_some(()));
    let (kept, marks) = world.log_and_marks(&run);
    assert!(kept.starts_with("1\n2\n3\n") && kept.ends_with(&format!("\n{LINES}\n")));
    assert!((8 << 20..18 << 20).contains(&kept.len()), "{} bytes are kept", kept.len());
    let written: u64 = (1..=LINES).map(|line| u64::from(line.ilog10()) + 2).sum();
    assert!(kept.len() as u64 + dropped_bytes(&marks) >= written, "no more is missing than is told: {marks}");
}

/// What the marks of a log say is missing.
pub(crate) fn dropped_bytes(marks: &str) -> u64 {
    let number = |line: &str| line.strip_prefix('[')?.split(' ').next()?.parse::<u64>().ok();
    marks.lines().map(|line| number(line).expect(line)).sum()
}

fn output_of_any_bytes_is_readable(store: Store) {
    const LONG: usize = 300_000;
    let world = World::new(store);
    let closed = world.path("closed");
    let script = format!(
        "printf 'a\\377\\376\\000\\033b\\n'; head -c {LONG} /dev/zero | tr '\\0' x; printf '\\303' >&2; \
         exec > /dev/null 2>&1; echo closed > {}; exit 7",
        closed.display()
    );
    let run = world.submit_job(&job("bytes", &script));
    assert_eq!(world.wait(&run), Some(7), "{}", world.logs());
    assert_eq!(world.until_file("closed"), "closed\n");
    world.until("the log is whole", |world| world.log_is_whole(&run).then_some(()));
    let said = world.log_of(&run, "stdout");
    assert_eq!(said, format!("a\u{fffd}\u{fffd}\0\u{1b}b\n{}", "x".repeat(LONG)));
    assert_eq!(world.log_of(&run, "stderr"), "\u{fffd}");
    let followed = world.mainspring(&["logs", "-f", &run]);
    assert!(followed.status.success(), "{followed:?}");
    assert!(followed.stdout.len() > LONG);
}

fn unfit_results_and_progress_hurt_nobody(store: Store) {
    let mut world = World::new(store);
    let nothing = Value::Null;
    let success = |script: &str, result: &Value| (script.to_owned(), "success", result.clone());
    let failure = |script: &str| (script.to_owned(), "final_failed", Value::Null);
    let cases = [
        failure("echo '{not json' > $MAINSPRING_OUTPUT"),
        failure("head -c 100000 /dev/urandom > $MAINSPRING_OUTPUT"),
        failure("head -c 200000 /dev/zero | tr '\\0' '[' > $MAINSPRING_OUTPUT"),
        failure("printf '\"\\377\"' > $MAINSPRING_OUTPUT"),
        success(": > $MAINSPRING_OUTPUT", &nothing),
        failure("rm -f $MAINSPRING_OUTPUT; mkdir $MAINSPRING_OUTPUT"),
        failure("rm -f $MAINSPRING_OUTPUT; mkfifo $MAINSPRING_OUTPUT"),
        failure("rm -f $MAINSPRING_OUTPUT; ln -s /etc/hostname $MAINSPRING_OUTPUT"),
        failure("rm -f $MAINSPRING_OUTPUT; ln -s /dev/zero $MAINSPRING_OUTPUT"),
        success("printf '{\"\\\\u0000\": 1e99}' > $MAINSPRING_OUTPUT", &json!({ "\0": 1e99 })),
        failure("head -c 2000000 /dev/zero | tr '\\0' ' ' > $MAINSPRING_OUTPUT"),
        success("head -c 300000 /dev/urandom > $MAINSPRING_PROGRESS; sleep 0.3", &nothing),
        success("head -c 300000 /dev/zero | tr '\\0' '9' > $MAINSPRING_PROGRESS; sleep 0.3", &nothing),
        success(
            "seq 20000 > $MAINSPRING_PROGRESS; sleep 0.3; rm $MAINSPRING_PROGRESS; mkdir $MAINSPRING_PROGRESS",
            &nothing,
        ),
        success(
            "printf 'nan\\n-inf\\n1e999%%\\n{\"fraction\": \"x\"}\\n' > $MAINSPRING_PROGRESS; sleep 0.3",
            &nothing,
        ),
        success("rm -f $MAINSPRING_PROGRESS; mkfifo $MAINSPRING_PROGRESS; sleep 0.3", &nothing),
    ];
    let submit = |(number, (script, ..)): (usize, &(String, &str, Value))| {
        world.submit_job(&job(&format!("unfit-{number}"), script))
    };
    let runs: Vec<String> = cases.iter().enumerate().map(submit).collect();
    for (run, (script, state, result)) in runs.iter().zip(&cases) {
        world.wait(run);
        let run = &world.run(run)["run"];
        assert_eq!((run["state"].as_str(), &run["result"]), (Some(*state), result), "{script}: {run}");
    }
    let failed = runs.iter().zip(&cases).filter(|(_, (_, state, _))| *state == "final_failed");
    let classes = failed.map(|(run, _)| world.run(run)["run"]["cause"]["class"].clone());
    let mut expected = vec!["result_not_json"; 4];
    expected.extend(["result_unreadable"; 4]);
    expected.push("result_too_large");
    assert_eq!(classes.collect::<Vec<_>>(), expected);
    let after = world.submit(&[], "echo '{\"still\": \"here\"}' > $MAINSPRING_OUTPUT");
    assert_eq!(world.wait(&after), Some(0));
    assert_eq!(world.run(&after)["run"]["result"]["still"], "here");
    assert!(world.agent_lives("one"), "{}", world.logs());
}

fn a_task_ended_by_a_signal_says_so(store: Store) {
    let world = World::new(store);
    for (script, signal) in [("kill -SEGV $$", 11), ("kill -KILL 0", 9)] {
        let run = world.submit(&["--retries", "0"], script);
        assert_eq!(world.wait(&run), Some(128 + signal), "{}", world.logs());
        let run = &world.run(&run)["run"];
        assert_eq!(run["cause"]["kind"], "signal", "{run}");
        assert_eq!(run["cause"]["signal"], signal, "{run}");
    }
}

fn a_task_in_another_process_group_is_ended(store: Store) {
    let world = World::new(store);
    // The first process joins the group of its child: the group that it was started in is empty.
    let script = format!(
        "$SIG{{TERM}} = 'IGNORE'; my $child = fork; if (!$child) {{ setpgrp(0, 0); sleep 1 while 1 }} \
         select(undef, undef, undef, 0.01) until getpgrp($child) == $child; setpgrp(0, $child) or die; \
         open(my $file, '>', '{}'); print $file \"$$\\n$child\\n\"; close $file; sleep 1 while 1",
        world.path("moved").display()
    );
    let mut job = job("mover", "");
    job["process"] = json!({ "command": "perl", "args": ["-e", script] });
    let run = world.submit_job(&job);
    let moved = world.until_file("moved");
    assert!(moved.lines().all(lives));
    world.text(&["cancel", &run]);
    world.wait(&run);
    assert!(!moved.lines().any(lives));
    assert_eq!(world.state(&run), "cancelled");
}

fn a_task_that_eats_memory_is_ended_alone(store: Store) {
    let mut world = World::new(store);
    let (begun, go) = (world.path("begun"), world.path("go"));
    let patient = format!(
        "echo $$ > {}; while [ ! -e {} ]; do sleep 0.05; done; exit 5",
        begun.display(),
        go.display()
    );
    let neighbour = world.submit(&["--retries", "0", "--memory", "64Mi"], &patient);
    world.until_file("begun");
    let eats = "exec perl -e '$x = \"x\" x 400_000_000; print length $x'";
    let hog = world.submit(&["--retries", "0", "--memory", "64Mi"], eats);
    world.wait(&hog);
    let hog = &world.run(&hog)["run"];
    assert_eq!(hog["cause"]["kind"], "oom", "{hog}");
    let tiny = world.submit(&["--retries", "0", "--memory", "1"], "echo it starts");
    assert_eq!(world.wait(&tiny), Some(0), "{}", world.run(&tiny));
    std::fs::write(go, "").unwrap();
    assert_eq!(world.wait(&neighbour), Some(5), "{}", world.logs());
    assert!(world.agent_lives("one"));
}

fn a_bomb_of_processes_is_cleared_away(store: Store) {
    const DEPTH: u32 = 5;
    let mut world = World::new(store);
    let (begun, go, bomb) = (world.path("begun"), world.path("go"), world.path("bomb"));
    let patient = format!(
        "echo $$ > {}; while [ ! -e {} ]; do sleep 0.05; done; exit 5",
        begun.display(),
        go.display()
    );
    let neighbour = world.submit(&["--retries", "0"], &patient);
    world.until_file("begun");
    // Each in a session of its own, deaf, and the parent of two more: 63 of them.
    let pids = world.path("pids");
    let text = format!(
        "trap '' TERM; [ $1 = 0 ] || for i in 1 2; do setsid sh {} $(($1 - 1)) & done; echo $$ >> {}; sleep 1000",
        bomb.display(),
        pids.display()
    );
    std::fs::write(&bomb, text).unwrap();
    let run = world.submit_job(&job("bomb", &format!("sh {} {DEPTH}", bomb.display())));
    let all = world.until("all of it is there", |world| {
        let pids = world.until_file("pids");
        (pids.lines().count() == (2 << DEPTH) - 1).then_some(pids)
    });
    world.text(&["cancel", &run]);
    world.wait(&run);
    assert_eq!(all.lines().filter(|pid| lives(pid)).count(), 0);
    assert_eq!(world.state(&run), "cancelled");
    std::fs::write(go, "").unwrap();
    assert_eq!(world.wait(&neighbour), Some(5), "{}", world.logs());
    assert!(world.agent_lives("one"));
}
