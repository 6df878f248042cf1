//! kill -9 of everything that can be killed: tasks survive what they must, nothing is lost, nothing is done twice.

use std::process::Stdio;

use crate::world::{Store, World, find, on_every_store};

on_every_store! {
    a_task_survives_its_agent
    work_in_flight_survives_the_server
    who_waits_hears_of_the_end_after_the_server
    a_task_survives_both
    the_run_of_a_lost_node_moves
}

/// Tells its process, waits for a file, and says how it ended; every execution leaves a line.
fn patient(world: &World) -> String {
    let (begun, go) = (world.path("begun"), world.path("go"));
    format!(
        "echo $$ >> {begun}; while [ ! -e {go} ]; do sleep 0.1; done; echo done; exit 5",
        begun = begun.display(),
        go = go.display()
    )
}

fn executions(world: &World) -> usize {
    world.until_file("begun").lines().count()
}

fn a_task_survives_its_agent(store: Store) {
    let mut world = World::new(store);
    let run = world.submit(&["--retries", "0"], &patient(&world));
    let pid = world.until_file("begun");
    world.kill_agent("one");
    assert!(crate::world::lives(&pid));
    world.start_agent("one");
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert_eq!(executions(&world), 1);
    assert_eq!(world.run(&run)["run"]["attempt"], 1);
    assert_eq!(world.text(&["logs", &run]), "done\n");
}

pub(crate) fn work_in_flight_survives_the_server(store: Store) {
    let mut world = World::new(store);
    let run = world.submit(&["--retries", "0"], &patient(&world));
    let waits = world.submit(&["--selector", "name=nowhere"], "true");
    world.until_file("begun");
    world.kill_server();
    std::fs::write(world.path("go"), "").unwrap();
    world.start_server();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert_eq!(executions(&world), 1);
    assert_eq!(world.state(&waits), "waiting");
    assert_eq!(world.json(&["why", &waits])["reason"]["kind"], "no_node");
}

fn who_waits_hears_of_the_end_after_the_server(store: Store) {
    let mut world = World::new(store);
    let script = patient(&world);
    let start = |world: &World, args: &[&str]| {
        world.binary().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut submitting = start(&world, &["submit", "--wait", "--retries", "0", "--", "sh", "-c", &script]);
    world.until_file("begun");
    let run = world.json(&["runs"])["items"][0]["id"].as_str().unwrap().to_owned();
    let mut waiting = start(&world, &["wait", &run]);
    world.until("both listen", |world| {
        let sockets = [submitting.id(), waiting.id()].map(connections);
        (sockets[0] >= 2 && sockets[1] >= 1 && world.state(&run) == "running").then_some(())
    });
    world.kill_server();
    std::fs::write(world.path("go"), "").unwrap();
    world.until("both have lost it", |_| {
        [submitting.id(), waiting.id()].map(connections).iter().all(|sockets| *sockets == 0).then_some(())
    });
    world.start_server();
    for (who, child) in [("submit --wait", &mut submitting), ("wait", &mut waiting)] {
        let status = world.until(who, |_| child.try_wait().unwrap());
        assert_eq!(status.code(), Some(5), "{who}\n{}", world.logs());
    }
    assert_eq!(submitting.wait_with_output().unwrap().stdout, b"done\n");
    assert_eq!(executions(&world), 1);
}

/// How many connections over TCP a process has.
fn connections(process: u32) -> usize {
    let established = |table: &str| -> Vec<String> {
        let lines = std::fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
        let rows = lines.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(|row| row[3] == "01").map(|row| format!("socket:[{}]", row[9])).collect()
    };
    let established = [established("tcp"), established("tcp6")].concat();
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    links.filter(|link| established.iter().any(|socket| link.as_os_str() == socket.as_str())).count()
}

fn a_task_survives_both(store: Store) {
    let mut world = World::new(store);
    let run = world.submit(&["--retries", "0"], &patient(&world));
    world.until_file("begun");
    world.kill_server();
    world.kill_agent("one");
    world.start_server();
    world.start_agent("one");
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert_eq!(executions(&world), 1);
    assert_eq!(world.text(&["logs", &run]), "done\n");
}

fn the_run_of_a_lost_node_moves(store: Store) {
    let mut world = World::new(store);
    let run = world.submit(&["--retries", "0"], &patient(&world));
    world.until_file("begun");
    world.add_agent("two");
    world.kill_machine("one");
    world.until("it executes elsewhere", |world| (executions(world) == 2).then_some(()));
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    let nodes = world.json(&["nodes"]);
    assert_eq!(find(&nodes["items"], "name", "one").unwrap()["state"], "lost", "{nodes}");
    let run = world.run(&run);
    assert_eq!(run["run"]["losses"], 1, "a lost node is none of the task's retries: {run}");
    assert_eq!(run["run"]["node"], find(&nodes["items"], "name", "two").unwrap()["id"]);
}
