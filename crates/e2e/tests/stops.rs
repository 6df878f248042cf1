//! Ending tasks: by a person, by a timeout, by a drain; the whole tree of them, however it forked.

use std::time::{Duration, Instant};

use crate::world::{Store, World, lives, on_every_store};

on_every_store! {
    a_cancel_ends_a_daemonizing_tree
    a_timeout_ends_the_attempt
    a_drained_node_takes_nothing_and_moves_the_rest
    a_server_that_is_asked_to_end_does_so_at_once
    an_agent_that_is_asked_to_end_leaves_nothing_behind
    a_label_acts_at_once
}

fn a_cancel_ends_a_daemonizing_tree(store: Store) {
    let world = World::new(store);
    let script = format!(
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; (echo $$ > {child}; sleep 1000) & sleep 1000' & echo $$ > {own}; sleep 1000",
        child = world.path("child").display(),
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
    let (child, own) = (world.until_file("child"), world.until_file("own"));
    assert!(lives(&child) && lives(&own));
    world.text(&["cancel", &run]);
    world.wait(&run);
    let run = world.run(&run);
    assert_eq!(run["run"]["state"], "cancelled");
    assert_eq!(run["run"]["cause"]["by"], "admin");
    world.until("nothing of it lives", |_| (!lives(&child) && !lives(&own)).then_some(()));
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
    let (status, took) = world.stop_server();
    assert!(status.success(), "{status}\n{}", world.logs());
    assert!(
        took < Duration::from_secs(5),
        "a connected node does not hold it up: {took:?}\n{}",
        world.logs()
    );
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
    world.set("SERVER__HEARTBEAT_EVERY", "30s");
    world.set("SERVER__LOST_AFTER", "90s");
    world.add_server("server", None);
    world.add_agent("one");
    let run = world.submit(&["--selector", "disk=fast"], "true");
    assert_eq!(world.json(&["why", &run])["reason"]["kind"], "no_node");
    let begun = Instant::now();
    world.text(&["node", "label", "one", "disk=fast"]);
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    world.text(&["node", "label", "one", "disk-"]);
    // What was placed before the node said hello again is not taken back.
    world.until("nothing more is placed there", |world| {
        let next = world.submit(&["--selector", "disk=fast"], "true");
        (world.json(&["why", &next])["reason"]["kind"] == "no_node").then_some(())
    });
}
