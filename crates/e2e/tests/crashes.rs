//! kill -9 of everything that can be killed: tasks survive what they must, nothing is lost, nothing is done twice.

use std::process::Stdio;

use serde_json::json;

use crate::world::{Store, World, find, on_every_store};

on_every_store! {
    a_task_survives_its_agent
    work_in_flight_survives_the_server
    who_waits_hears_of_the_end_after_the_server
    a_task_survives_both
    the_run_of_a_lost_node_moves
    a_task_survives_its_sidecar
    a_task_that_does_not_obey_is_gone_before_another_node_has_the_run
}

/// Tells its process, waits for a file, and says how it ended; every execution leaves a line.
pub(crate) fn patient(world: &World) -> String {
    let (begun, go) = (world.path("begun"), world.path("go"));
    format!(
        "echo $$ >> {begun}; while [ ! -e {go} ]; do sleep 0.1; done; echo done; exit 5",
        begun = begun.display(),
        go = go.display()
    )
}

pub(crate) fn executions(world: &World) -> usize {
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
    assert_eq!(run["attempts"][0]["cause"]["message"], "one was lost", "{run}");
    assert_eq!(run["run"]["losses"], 1, "a lost node is none of the task's retries: {run}");
    assert_eq!(run["run"]["node"], find(&nodes["items"], "name", "two").unwrap()["id"]);
}

fn a_task_survives_its_sidecar(store: Store) {
    let world = World::new(store);
    let run = world.submit(&["--retries", "0"], &patient(&world));
    let pid = world.until_file("begun");
    world.kill_sidecar("one");
    world.until("there is another", |world| {
        (world.logs().matches("started a sidecar").count() == 2).then_some(())
    });
    assert!(crate::world::lives(&pid));
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    // An older kernel tells nobody how the task ended: then nobody knows whether it is done.
    assert_eq!(executions(&world), if tells_all_of_ends() { 1 } else { 2 });
    assert!(world.text(&["logs", &run]).ends_with("done\n"));
}

/// Whether the kernel is Linux 6.15 or later.
fn tells_all_of_ends() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let numbers: Vec<u32> = release.split(['.', '-']).map_while(|part| part.parse().ok()).take(2).collect();
    numbers >= vec![6, 15]
}

fn a_task_that_does_not_obey_is_gone_before_another_node_has_the_run(store: Store) {
    let mut world = World::new(store);
    let [begun, go, both] = ["begun", "go", "both"].map(|name| world.path(name).display().to_string());
    let script = format!(
        "trap '' TERM; for other in $(cat {begun} 2>/dev/null); do grep -qs 'State:.[^ZX]' /proc/$other/status && echo $other > {both}; done; \
         echo $$ >> {begun}; while [ ! -e {go} ]; do sleep 0.1; done; exit 5"
    );
    let job =
        json!({"name": "stubborn", "script": script, "timeout": {"stop_grace": "10m"}, "retry": {"max": 0}});
    let run = world.submit_job(&job);
    world.until_file("begun");
    world.add_agent("two");
    world.kill_agent("one");
    world.until("it executes elsewhere", |world| (executions(world) == 2).then_some(()));
    std::fs::write(&go, "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert!(!std::path::Path::new(&both).exists(), "two executed at once\n{}", world.logs());
}
