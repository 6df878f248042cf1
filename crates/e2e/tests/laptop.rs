//! `mainspring up`: everything in one process, stopped and started as people do it on their own machine.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;

use crate::world::{World, find, lives};

#[test]
fn the_first_job_runs_and_a_stop_leaves_nothing_behind() {
    let mut world = World::laptop();
    world.until("it says hello", |world| world.logs().contains("Ctrl-C stops it").then_some(()));
    let said = world.logs();
    for part in ["Mainspring is up at http://", "Sign in once with http://", "submit --wait -- echo hello"] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(world.text(&["submit", "--wait", "-q", "--", "echo", "hello"]), "hello\n");
    let status = world.stop_server();
    assert!(status.success(), "{}", world.logs());
    let said = world.logs();
    assert!(said.contains("cell=0") && !said.contains("cell=cell"), "{said}");
    world.until_nobody_lives("server");
    // What it kept is found again.
    world.start_server();
    assert_eq!(world.json(&["runs"])["items"][0]["state"], "success");
    assert_eq!(world.text(&["submit", "--wait", "-q", "--", "echo", "again"]), "again\n");
}

#[test]
fn a_server_may_open_many_files_and_its_tasks_as_many_as_before() {
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(900), maximum: hard }).unwrap();
    let world = World::laptop();
    // The limit is set just after the start; on a busy machine the shell may be there first.
    let script = "for i in $(seq 200); do [ $(ulimit -Sn) = 900 ] && break; sleep 0.05; done; ulimit -Sn";
    assert_eq!(world.text(&["submit", "--wait", "-q", "--", "sh", "-c", script]), "900\n");
    let hard = hard.map_or("unlimited".to_owned(), |count| count.to_string());
    assert_eq!(world.open_files_max("server"), hard);
}

#[test]
fn a_task_goes_on_after_a_stop_and_is_found_again() {
    let mut world = World::laptop();
    let (run, pid) = begin(&world);
    let status = world.stop_server();
    assert!(status.success(), "{}", world.logs());
    assert_found_again(world, &run, &pid);
}

#[test]
fn a_task_that_ends_after_a_stop_leaves_nothing_but_its_result() {
    let mut world = World::laptop();
    let (run, _) = begin(&world);
    let status = world.stop_server();
    assert!(status.success(), "{}", world.logs());
    std::fs::write(world.path("go"), "").unwrap();
    world.until_nobody_lives("server");
    world.start_server();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert_only_once(&world, &run);
}

#[test]
fn a_task_survives_a_kill_of_everything_else() {
    let mut world = World::laptop();
    let (run, pid) = begin(&world);
    world.kill_server();
    assert_found_again(world, &run, &pid);
}

#[test]
fn a_node_that_is_gone_is_given_up_when_somebody_says_so() {
    let mut world = World::laptop();
    let (run, _) = begin(&world);
    let old = world.run(&run)["run"]["node"].as_str().unwrap().to_owned();
    let refused = world.mainspring(&["node", "lose", &old]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("it may not be gone"), "{refused:?}");
    // The machine loses everything but the store.
    world.kill_server();
    world.kill_rest("server");
    std::fs::remove_dir_all(world.path("server/agent")).unwrap();
    world.start_server();
    let another = |world: &World| {
        let nodes = world.json(&["nodes"]);
        let is_another = |node: &&Value| node["connected"] == true && node["id"] != old.as_str();
        nodes["items"].as_array().unwrap().iter().find(is_another).map(drop)
    };
    world.until("it joins as another node", another);
    world.outlast_leases();
    assert_eq!(world.state(&run), "running", "the old node might still have it");
    world.text(&["node", "lose", &old]);
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert_eq!(world.run(&run)["run"]["attempt"], 2);
    world.text(&["node", "rm", &old]);
    let nodes = world.json(&["nodes"]);
    assert!(find(&nodes["items"], "id", &old).is_none(), "{nodes}");
}

#[test]
fn a_node_that_was_removed_is_back_after_the_next_start() {
    let mut world = World::laptop();
    let (run, _) = begin(&world);
    let node = world.run(&run)["run"]["node"].as_str().unwrap().to_owned();
    let asked = world.mainspring(&["node", "rm", &node]);
    let said = String::from_utf8_lossy(&asked.stderr);
    assert!(asked.status.code() == Some(2) && said.contains("is up and has 1 run"), "{asked:?}");
    world.text(&["node", "rm", "--yes", &node]);
    let found = |world: &World| {
        let doctor: Value =
            serde_json::from_slice(&world.mainspring(&["doctor", "-o", "json"]).stdout).ok()?;
        let findings = doctor["findings"].as_array()?.iter();
        let mut said = findings.filter_map(|finding| finding["message"].as_str());
        said.find(|text| text.contains(&node) && text.contains("is silent and has 1 run")).map(drop)
    };
    world.until("the doctor finds a silent node with a run", found);
    let status = world.stop_server();
    assert!(status.success(), "{}", world.logs());
    world.start_server();
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert_only_once(&world, &run);
    let audit = world.json(&["audit"]);
    assert!(audit.to_string().contains("its own server lets it in again"), "{audit}");
}

/// A run that waits for a file, and its process.
fn begin(world: &World) -> (String, String) {
    let (begun, go) = (world.path("begun"), world.path("go"));
    let script = format!(
        "echo $$ >> {begun}; while [ ! -e {go} ]; do sleep 0.1; done; echo done; exit 5",
        begun = begun.display(),
        go = go.display()
    );
    let run = world.submit(&["--retries", "0"], &script);
    (run, world.until_file("begun"))
}

/// The task goes on for longer than others may, since nobody else could have taken the run, and the next `up` has it.
fn assert_found_again(mut world: World, run: &str, pid: &str) {
    world.outlast_leases();
    assert!(lives(pid), "{}", world.logs());
    world.start_server();
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(run), Some(5), "{}", world.logs());
    assert_only_once(&world, run);
}

fn assert_only_once(world: &World, run: &str) {
    assert_eq!(world.until_file("begun").lines().count(), 1);
    assert_eq!(world.run(run)["run"]["attempt"], 1);
    assert_eq!(world.text(&["logs", run]), "done\n");
}
