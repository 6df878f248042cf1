//! Several servers on one store: one dies, another goes on with its work, and each of them answers for all.

use crate::world::{Store, World, find};

/// Two servers that share a place for logs and files; the first is the owner of all cells.
fn two_servers(cells: &str) -> World {
    let mut world = World::empty(Store::Postgres);
    // As by default: the lease of a dead server runs out, and tasks survive that.
    world.set("SERVER__HEARTBEAT_EVERY", "5s");
    world.set("SERVER__LOST_AFTER", "15s");
    world.set("SERVER__CELLS", cells);
    for place in ["logs", "artifacts"] {
        let url = format!("file://{}", world.path(place).display());
        world.set(&format!("SERVER__{}", place.to_uppercase()), &url);
    }
    world.add_server("server", None);
    world.add_server("second", None);
    world
}

/// A command at one of the servers, and what it prints.
fn text_at(world: &World, server: &str, args: &[&str]) -> String {
    let output = world.at(server).args(args).output().unwrap();
    assert!(output.status.success(), "{server} {args:?}: {output:?}\n{}", world.logs());
    String::from_utf8(output.stdout).unwrap()
}

fn the_second_server_takes_over(cells: &str) {
    let mut world = two_servers(cells);
    // It is told of the server that owns nothing, and finds the other.
    world.add_agent_at("one", "second");
    if cells != "1" {
        // Chance puts nodes into cells; a run without one in its own goes to another only after a while.
        for name in ["two", "three", "four"] {
            world.add_agent_at(name, "second");
        }
    }
    let (begun, go) = (world.path("begun"), world.path("go"));
    let script = format!(
        "echo $MAINSPRING_RUN_ID >> {}; while [ ! -e {} ]; do sleep 0.1; done; echo done; exit 5",
        begun.display(),
        go.display()
    );
    let before: Vec<String> = ["server", "second"]
        .iter()
        .map(|server| {
            let words = ["submit", "-q", "-o", "name", "--retries", "0", "--", "sh", "-c", &script];
            text_at(&world, server, &words).trim().to_owned()
        })
        .collect();
    world.until("both execute", |world| (world.until_file("begun").lines().count() == 2).then_some(()));
    let waits = ["submit", "-q", "-o", "name", "--selector", "name=nowhere", "--", "true"];
    let waits = text_at(&world, "second", &waits).trim().to_owned();
    world.kill_server_named("server");
    let key = ["submit", "-q", "-o", "name", "--retries", "0", "--key", "during", "--", "true"];
    let during = text_at(&world, "second", &key);
    assert_eq!(text_at(&world, "second", &key), during, "once is once, whoever owns the cell");
    std::fs::write(go, "").unwrap();
    for run in &before {
        let ended = world.at("second").args(["wait", "--timeout", "15m", run]).output().unwrap();
        assert_eq!(ended.status.code(), Some(5), "{ended:?}\n{}", world.logs());
    }
    text_at(&world, "second", &["wait", "--timeout", "15m", during.trim()]);
    world.start_server_named("server");
    assert_eq!(world.state(&waits), "waiting");
    let mut executed: Vec<String> = world.until_file("begun").lines().map(str::to_owned).collect();
    executed.sort();
    let mut expected = before.clone();
    expected.sort();
    assert_eq!(executed, expected, "nothing is lost, nothing is done twice");
    for server in ["server", "second"] {
        for run in &before {
            assert_eq!(text_at(&world, server, &["logs", run]), "done\n", "at {server}");
            assert_eq!(text_at(&world, server, &["logs", "-f", run]), "done\n", "at {server}");
        }
        let runs: serde_json::Value =
            serde_json::from_str(&text_at(&world, server, &["runs", "-o", "json"])).unwrap();
        assert_eq!(runs["items"].as_array().unwrap().len(), 4, "{runs}");
        let nodes: serde_json::Value =
            serde_json::from_str(&text_at(&world, server, &["nodes", "-o", "json"])).unwrap();
        assert_eq!(find(&nodes["items"], "name", "one").unwrap()["state"], "up", "{nodes}");
    }
}

/// A server that people reach, and one that owns the cells.
#[test]
fn the_roles_can_be_apart() {
    let mut world = World::empty(Store::Postgres);
    world.set("SERVER__ROLES", "api");
    world.add_server("front", None);
    world.set("SERVER__ROLES", "scheduler");
    world.add_server("back", None);
    let (status, problem) = world.get_at("back", "/v1/me");
    assert_eq!((status, problem["code"].as_str()), (404, Some("not_found")), "{problem}");
    assert_eq!(world.get_at("back", "/nowhere").0, 404);
    // It is told of the one without cells, and finds the other.
    world.add_agent_at("one", "front");
    let said = text_at(&world, "front", &["submit", "--wait", "-q", "--", "echo", "hello"]);
    assert_eq!(said, "hello\n");
    let nodes: serde_json::Value =
        serde_json::from_str(&text_at(&world, "front", &["nodes", "-o", "json"])).unwrap();
    assert_eq!(nodes["items"][0]["connected"], true, "who owns the cells knows that: {nodes}");

    let waits = ["submit", "-q", "-o", "name", "--selector", "name=nowhere", "--", "true"];
    let waits = text_at(&world, "front", &waits).trim().to_owned();
    let why = text_at(&world, "front", &["why", &waits]);
    assert!(why.contains("nowhere"), "who owns the cell says it: {why}");
    text_at(&world, "front", &["cancel", &waits]);
    assert_eq!(world.state(&waits), "cancelled");
    let long = world.submit(&["--retries", "0"], "echo begun; sleep 600");
    let follower = {
        let mut command = world.at("front");
        command.args(["logs", "-f", &long]).stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    world.until("its output has come", |world| (world.text(&["logs", &long]) == "begun\n").then_some(()));
    text_at(&world, "front", &["cancel", &long]);
    assert_eq!(follower.wait_with_output().unwrap().stdout, b"begun\n", "{}", world.logs());

    world.kill_server_named("back");
    let key = ["submit", "-q", "-o", "name", "--key", "during", "--", "echo", "still"];
    let during = text_at(&world, "front", &key);
    assert_eq!(text_at(&world, "front", &key), during, "taken, once, although nobody owns the cell");
    world.start_server_named("back");
    text_at(&world, "front", &["wait", "--timeout", "15m", during.trim()]);
    assert_eq!(text_at(&world, "front", &["logs", during.trim()]), "still\n");
}

#[test]
fn the_second_server_takes_over_the_only_cell() {
    the_second_server_takes_over("1");
}

#[test]
fn the_second_server_takes_over_both_cells() {
    the_second_server_takes_over("2");
}

#[test]
fn either_server_follows_a_run() {
    let mut world = two_servers("1");
    world.add_agent("one");
    let go = world.path("go");
    let script =
        format!("echo begun; while [ ! -e {} ]; do sleep 0.1; done; echo done; exit 5", go.display());
    let run = world.submit(&["--retries", "0"], &script);
    let start = |server: &str, args: &[&str]| {
        let mut command = world.at(server);
        command.args(args).stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let waiting = ["server", "second"].map(|server| start(server, &["wait", "--timeout", "15m", &run]));
    let following = ["server", "second"].map(|server| start(server, &["logs", "-f", &run]));
    world.until("its output has come", |world| (world.text(&["logs", &run]) == "begun\n").then_some(()));
    std::fs::write(go, "").unwrap();
    for waiting in waiting {
        assert_eq!(waiting.wait_with_output().unwrap().status.code(), Some(5), "{}", world.logs());
    }
    for following in following {
        assert_eq!(following.wait_with_output().unwrap().stdout, b"begun\ndone\n", "{}", world.logs());
    }
}

#[test]
fn a_watcher_at_either_server_hears_of_all_cells() {
    let mut world = two_servers("2");
    world.add_agent("one");
    let at_other = world.watch("second", None);
    let first = world.submit(&["--retries", "0"], "true");
    world.until("the one that owns nothing tells its end", |_| {
        at_other.has(&[&first, r#""state":"success""#]).then_some(())
    });
    assert!(!at_other.has(&["event: reset"]), "{at_other:?}");
    world.kill_server_named("server");
    let mark = world.until("what the dead one left untold is to be read anew", |_| {
        let owns_both = |mark: &String| mark.starts_with("0.2.") && mark.contains(",1.2.");
        at_other.mark().filter(|mark| at_other.has(&["event: reset"]) && owns_both(mark))
    });
    world.start_server_named("server");
    // Whoever was cut off goes on at the other, which asks the owner.
    let missed = text_at(&world, "second", &["submit", "-q", "-o", "name", "--", "true"]);
    world.until("it is there before the other asks", |_| at_other.has(&[missed.trim()]).then_some(()));
    let at_first = world.watch("server", Some(&mark));
    world.until("what was missed is told", |_| at_first.has(&[missed.trim()]).then_some(()));
    world.until("and its end", |_| at_first.has(&[missed.trim(), r#""state":"success""#]).then_some(()));
    assert!(!at_first.has(&["event: reset"]), "from {mark}: {at_first:?}");
    let told = at_first.pieces();
    let distinct: std::collections::BTreeSet<&String> = told.iter().collect();
    assert_eq!(distinct.len(), told.len(), "each is told once: {told:?}");
}
