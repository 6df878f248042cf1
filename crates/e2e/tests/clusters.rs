//! Several servers on one store: one dies, another goes on with its work, and each of them answers for all.

use crate::world::{Store, World, find};

/// Two servers that share a place for logs and files; the first is the owner of all cells.
fn two_servers(cells: &str) -> World {
    let mut world = World::empty(Store::Postgres);
    // The lease of a dead server has to run out: tasks are to survive that.
    world.set("SERVER__LOST_AFTER", "40s");
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
    let waits =
        text_at(&world, "second", &["submit", "-q", "-o", "name", "--selector", "name=two", "--", "true"]);
    world.kill_server_named("server");
    let key = ["submit", "-q", "-o", "name", "--retries", "0", "--key", "during", "--", "true"];
    let during = text_at(&world, "second", &key);
    assert_eq!(text_at(&world, "second", &key), during, "once is once, whoever owns the cell");
    std::fs::write(go, "").unwrap();
    for run in &before {
        let ended = world.at("second").args(["wait", "--timeout", "60s", run]).output().unwrap();
        assert_eq!(ended.status.code(), Some(5), "{ended:?}\n{}", world.logs());
    }
    text_at(&world, "second", &["wait", "--timeout", "60s", during.trim()]);
    world.start_server_named("server");
    world.add_agent_at("two", "server");
    text_at(&world, "server", &["wait", "--timeout", "60s", waits.trim()]);
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

#[test]
fn the_second_server_takes_over_the_only_cell() {
    the_second_server_takes_over("1");
}

#[test]
fn the_second_server_takes_over_both_cells() {
    the_second_server_takes_over("2");
}
