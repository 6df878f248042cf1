//! Disks that are full, of a node and of a server: what was promised holds, and all goes on when there is room.

use serde_json::json;

use crate::hostile::dropped_bytes;
use crate::world::{Store, World, on_every_store};

on_every_store! {
    a_task_that_fills_the_disk_is_told_of_and_its_log_has_a_mark
    a_full_node_goes_on_when_there_is_room
    logs_are_stored_when_there_is_room
}

fn a_task_that_fills_the_disk_is_told_of_and_its_log_has_a_mark(store: Store) {
    const LINES: u64 = 200_000;
    let mut world = World::bare(store);
    world.add_agent_on("one", "4m");
    let script = format!(
        "echo before; while [ ! -e {} ]; do sleep 0.05; done; head -c 10000000 /dev/zero > filler 2> /dev/null; \
         echo $? > {}; seq {LINES}; rm filler; echo after; exit 3",
        world.path("go").display(),
        world.path("filled").display()
    );
    let run = world.submit(&["--retries", "0"], &script);
    // Its first line is on the disk before that is full.
    world.until("it has begun", |world| {
        let seen = world.mainspring(&["logs", &run]).stdout;
        seen.starts_with(b"before").then_some(())
    });
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(&run), Some(3), "{}\n{}", world.run(&run), world.logs());
    assert_eq!(world.until_file("filled"), "1\n", "the disk was full");
    world.until("the log is whole", |world| world.log_is_whole(&run).then_some(()));
    let (kept, marks) = world.log_and_marks(&run);
    let written: u64 = (1..=LINES).map(|line| u64::from(line.ilog10()) + 2).sum();
    assert!(kept.starts_with("before\n") && kept.ends_with("after\n"), "{kept}");
    let around = "before\nafter\n".len() as u64;
    assert_eq!(kept.len() as u64 + dropped_bytes(&marks), written + around, "{marks}");
    assert!(dropped_bytes(&marks) > 0);
    // One that leaves the disk full at its end gives the room back all the same.
    let full = "head -c 10000000 /dev/zero > filler; exit 4";
    let runs: Vec<String> = (0..3).map(|_| world.submit(&["--retries", "0"], full)).collect();
    assert!(runs.iter().all(|run| world.wait(run) == Some(4)), "{}", world.logs());
    let next = world.submit(&["--retries", "0"], "echo next");
    assert_eq!(world.wait(&next), Some(0), "{}", world.run(&next));
    world.until("there is room for its log", |world| world.log_is_whole(&next).then_some(()));
}

fn a_full_node_goes_on_when_there_is_room(store: Store) {
    let mut world = World::bare(store);
    world.add_agent_on("one", "4m");
    let (begun, go) = (world.path("begun"), world.path("go"));
    let patient = format!(
        "echo $$ > {}; while [ ! -e {} ]; do sleep 0.05; done; echo done; exit 5",
        begun.display(),
        go.display()
    );
    let running = world.submit(&["--retries", "0"], &patient);
    world.until_file("begun");
    world.fill_disk("one");
    let executed = world.path("executed");
    let script = format!("echo $MAINSPRING_RUN_ID >> {}", executed.display());
    let runs: Vec<String> = (0..30).map(|_| world.submit(&["--retries", "0"], &script)).collect();
    std::fs::write(go, "").unwrap();
    assert_eq!(world.wait(&running), Some(5), "an end is told from a full disk: {}", world.logs());
    world.free_disk("one");
    for run in &runs {
        assert_eq!(world.wait(run), Some(0), "{}\n{}", world.run(run), world.logs());
    }
    let executed = world.until_file("executed");
    let mut executed: Vec<&str> = executed.lines().collect();
    let mut expected: Vec<&str> = runs.iter().map(String::as_str).collect();
    executed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(executed, expected, "each was executed, and once");
    assert!(world.agent_lives("one"), "{}", world.logs());
}

fn logs_are_stored_when_there_is_room(store: Store) {
    let mut world = World::empty(store);
    world.add_server("server", Some("24m"));
    world.add_agent("one");
    let first = world.submit(&["--retries", "0"], "echo first");
    assert_eq!(world.wait(&first), Some(0), "{}", world.logs());
    world.until("the log is stored", |world| (world.stored_logs("server", &first) == 1).then_some(()));
    let (begun, go) = (world.path("begun"), world.path("go"));
    let script = format!(
        "echo $$ > {}; while [ ! -e {} ]; do sleep 0.05; done; head -c 20000 /dev/urandom | od",
        begun.display(),
        go.display()
    );
    let run = world.submit(&["--retries", "0"], &script);
    world.until_file("begun");
    world.fill_disk("server");
    std::fs::write(go, "").unwrap();
    // It is short enough for memory; a longer one would stay with the node until there is room.
    world.until("the log is whole", |world| world.log_is_whole(&run).then_some(()));
    assert_eq!(world.stored_logs("server", &run), 0);
    let whole = world.text(&["logs", &run]);
    assert!(whole.len() > 50_000);
    world.free_disk("server");
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    world.until("the log is stored", |world| (world.stored_logs("server", &run) == 1).then_some(()));
    // Neither the node nor the memory of the server is needed for it now.
    world.kill_machine("one");
    world.kill_server();
    world.start_server();
    assert_eq!(world.text(&["logs", &run]), whole);
}

/// The store is on the disk itself.
#[test]
fn a_full_server_acknowledges_nothing_that_it_cannot_keep() {
    let mut world = World::empty(Store::Sqlite);
    world.add_server("server", Some("24m"));
    world.add_agent("one");
    let mut kept = vec![world.submit(&[], "true")];
    world.fill_disk("server");
    let spec = json!({ "name": "late", "process": { "command": "true" }, "description": "x".repeat(4_000) });
    std::fs::write(world.path("late.json"), spec.to_string()).unwrap();
    let refused = world.until("a submission is refused", |world| {
        let answer = world.mainspring(&["submit", "-q", "-o", "name", "late.json"]);
        if answer.status.success() {
            kept.push(String::from_utf8(answer.stdout).unwrap().trim().to_owned());
            return None;
        }
        Some(answer)
    });
    let words = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(6), "{words}");
    assert!(words.contains("store_unavailable"), "{words}");
    // What is there can be read all the while.
    assert_eq!(world.run(&kept[0])["run"]["id"], kept[0].as_str());
    world.free_disk("server");
    world.until("submissions are taken again", |world| {
        let answer = world.mainspring(&["submit", "-q", "-o", "name", "late.json"]);
        kept.extend(
            answer.status.success().then(|| String::from_utf8(answer.stdout).unwrap().trim().to_owned()),
        );
        answer.status.success().then_some(())
    });
    world.kill_server();
    world.start_server();
    for run in &kept {
        assert_eq!(world.wait(run), Some(0), "{}\n{}", world.run(run), world.logs());
    }
}
