//! Ending tasks: by a person, by a timeout, by a drain; the whole tree of them, however it forked.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mainspring_model::time;
use serde_json::{Value, json};

use crate::world::{Store, World, find, lives, on_every_store};

on_every_store! {
    a_cancel_ends_a_daemonizing_tree
    a_cancel_ends_what_forked_beside_a_living_neighbour
    a_timeout_ends_the_attempt
    every_limit_in_time_is_kept_and_told
    a_drained_node_takes_nothing_and_moves_the_rest
    a_server_that_is_asked_to_end_does_so_at_once
    an_agent_that_is_asked_to_end_leaves_nothing_behind
    a_label_acts_at_once
}

fn a_cancel_ends_a_daemonizing_tree(store: Store) {
    let world = World::new(store);
    let script = format!(
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; sh -c \"echo \\$\\$ > {child}; exec sleep 1000\" & \
         echo $$ > {middle}; sleep 1000' & echo $$ > {own}; sleep 1000",
        child = world.path("child").display(),
        middle = world.path("middle").display(),
        own = world.path("own").display(),
    );
    std::fs::write(
        world.path("stubborn.yaml"),
        format!(
            "name: stubborn\nprocess: {{command: sh, args: ['-c', {}]}}\ntimeout: {{stop_grace: 1s}}\n",
            serde_json::json!(script)
        ),
    )
    .unwrap();
    let run = world.text(&["submit", "-q", "-o", "name", "stubborn.yaml"]).trim().to_owned();
    let tree: BTreeSet<String> = ["child", "middle", "own"].map(|name| world.until_file(name)).into();
    assert!(tree.len() == 3 && tree.iter().all(|pid| lives(pid)), "{tree:?}");
    world.text(&["cancel", &run]);
    world.wait(&run);
    assert!(!tree.iter().any(|pid| lives(pid)), "nothing of it lives when it is over\n{}", world.logs());
    let run = world.run(&run);
    assert_eq!(run["run"]["state"], "cancelled");
    assert_eq!(run["run"]["cause"]["by"], "admin");
    let took = between(&run, "cancel_requested", "ended");
    assert!(took >= Duration::from_secs(1), "it has its grace: {took:?} {}", run["timeline"]);
}

/// The time between two events of a run's own timeline.
fn between(run: &Value, from: &str, to: &str) -> Duration {
    let at = |kind: &str| {
        let event =
            find(&run["timeline"], "kind", kind).unwrap_or_else(|| panic!("{kind}: {}", run["timeline"]));
        time::text::parse(event["at"].as_str().unwrap()).unwrap()
    };
    at(to).since(at(from))
}

fn a_cancel_ends_what_forked_beside_a_living_neighbour(store: Store) {
    let world = World::new(store);
    let pids = world.path("pids").display().to_string();
    // It forgets its surroundings, its session and its output: nothing of it tells whose it is.
    let stray = format!("sh -c 'echo $$ > {pids}; exec env -i setsid sleep 4321'");
    let stray = format!("({stray} </dev/null >/dev/null 2>&1 &); sleep 30");
    let submit = |script: String| world.submit(&["--retries", "0"], &script);
    let (run, neighbour) = std::thread::scope(|scope| {
        let neighbour = scope.spawn(|| submit("sleep 600".to_owned()));
        let run = scope.spawn(|| submit(stray));
        (run.join().unwrap(), neighbour.join().unwrap())
    });
    let pid = world.until_file("pids");
    world.until("it has forgotten all", |_| {
        let line = std::fs::read(format!("/proc/{}/cmdline", pid.trim())).ok()?;
        line.starts_with(b"sleep\x004321").then_some(())
    });
    world.text(&["cancel", &run]);
    world.wait(&run);
    assert_eq!(world.state(&run), "cancelled");
    assert!(!lives(&pid), "{}", world.logs());
    assert_eq!(world.state(&neighbour), "running");
}

fn a_timeout_ends_the_attempt(store: Store) {
    let world = World::new(store);
    let run = world.submit(&["--retries", "0", "--timeout", "1s"], "echo begun; sleep 1000");
    world.wait(&run);
    let described = world.run(&run);
    assert_eq!(described["run"]["state"], "final_failed");
    assert_eq!(described["run"]["cause"]["kind"], "timeout", "{described}");
    assert_eq!(world.text(&["logs", &run]), "begun\n");
}

fn every_limit_in_time_is_kept_and_told(store: Store) {
    let mut world = World::bare(store);
    world.set("AGENT__ALLOWED_NETWORKS", "127.0.0.0/8");
    world.add_agent("one");
    // It is connected to and never answers, so what it was asked for never comes.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let page = format!("http://{}/page", silent.local_addr().unwrap());
    let cases = [
        ("queue", json!({ "placement": { "selector": "name=nowhere" }, "timeout": { "queue": "1s" } })),
        ("start", json!({ "inputs": { "page": page }, "timeout": { "start": "1s" } })),
        ("heartbeat", json!({ "timeout": { "heartbeat": "1s", "stop_grace": "1s" } })),
        ("total", json!({ "timeout": { "total": "1s", "stop_grace": "1s" } })),
    ];
    for (limit, mut job) in cases {
        job["name"] = json!(limit);
        job["script"] = json!("sleep 1000");
        job["retry"] = json!(0);
        std::fs::write(world.path("job.json"), job.to_string()).unwrap();
        let begun = Instant::now();
        let ended = world.mainspring(&["submit", "--wait", "job.json"]);
        assert_eq!(ended.status.code(), Some(124), "{limit}: {ended:?}\n{}", world.logs());
        assert!(begun.elapsed() >= Duration::from_secs(1), "{limit}");
        let runs = world.json(&["runs", "--limit", "10"]);
        let run = world.run(find(&runs["items"], "job_name", limit).unwrap()["id"].as_str().unwrap());
        assert_eq!(run["run"]["state"], "final_failed", "{run}");
        let cause = &run["run"]["cause"];
        assert_eq!((&cause["kind"], &cause["limit"]), (&json!("timeout"), &json!(limit)), "{run}");
    }
}

fn a_drained_node_takes_nothing_and_moves_the_rest(store: Store) {
    let mut world = World::new(store);
    let script = format!("echo $$ >> {}; sleep 1000", world.path("begun").display());
    let run = world.submit(&["--retries", "0"], &script);
    world.until_file("begun");
    world.text(&["node", "drain", "one", "--patience", "1s"]);
    let held = world.submit(&["--selector", "name=one"], "true");
    assert_eq!(world.json(&["why", &held])["reason"]["kind"], "no_node");
    world.add_agent("two");
    world.until("it executes elsewhere", |world| {
        (world.until_file("begun").lines().count() == 2).then_some(())
    });
    world.text(&["cancel", "--kill", &run]);
    world.text(&["node", "resume", "one"]);
    assert_eq!(world.wait(&held), Some(0), "{}", world.logs());
}

fn a_server_that_is_asked_to_end_does_so_at_once(store: Store) {
    let mut world = World::new(store);
    let (begun, go) = (world.path("begun"), world.path("go"));
    let script = format!(
        "echo $$ >> {}; while [ ! -e {} ]; do sleep 0.05; done; exit 5",
        begun.display(),
        go.display()
    );
    let run = world.submit(&["--retries", "0"], &script);
    world.until_file("begun");
    let status = world.stop_server();
    assert!(status.success(), "{status}\n{}", world.logs());
    let logs = world.logs();
    assert!(!logs.contains("did not finish in time"), "a connected node does not hold it up\n{logs}");
    world.start_server();
    world.until_connected("one");
    std::fs::write(go, "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert_eq!(world.until_file("begun").lines().count(), 1);
}

fn an_agent_that_is_asked_to_end_leaves_nothing_behind(store: Store) {
    let mut world = World::new(store);
    let run = world.submit(&[], "true");
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    let status = world.stop_agent("one");
    assert!(status.success(), "{status}\n{}", world.logs());
    world.until_nobody_lives("one");
    world.start_agent("one");
    world.until_connected("one");
    assert_eq!(world.json(&["nodes"])["items"].as_array().unwrap().len(), 1, "it is the same node");
    let run = world.submit(&[], "true");
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
}

fn a_label_acts_at_once(store: Store) {
    let mut world = World::empty(store);
    // Nothing but the label brings news of the node in time.
    world.set("SERVER__HEARTBEAT_EVERY", "1h");
    world.set("SERVER__LOST_AFTER", "3h");
    world.add_server("server", None);
    world.add_agent("one");
    let run = world.submit(&["--selector", "disk=fast"], "true");
    assert_eq!(world.json(&["why", &run])["reason"]["kind"], "no_node");
    world.text(&["node", "label", "one", "disk=fast"]);
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    world.text(&["node", "label", "one", "disk-"]);
    // What was placed before the node said hello again is not taken back.
    world.until("nothing more is placed there", |world| {
        let next = world.submit(&["--selector", "disk=fast"], "true");
        (world.json(&["why", &next])["reason"]["kind"] == "no_node").then_some(())
    });
}
