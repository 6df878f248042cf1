//! Changes of jobs at a server that does not own the cell: an acknowledged change counts at once.

use serde_json::Value;

use crate::world::{Store, World};

/// Two servers; the first owns the only cell.
fn two_servers() -> World {
    let mut world = World::empty(Store::Postgres);
    world.add_server("server", None);
    world.add_server("second", None);
    world.add_agent("one");
    world
}

/// Puts a job at the server that owns nothing.
fn put(world: &World, job: &str) {
    let file = world.path("job.yaml");
    std::fs::write(&file, job).unwrap();
    let output = world.at("second").args(["apply", file.to_str().unwrap(), "--yes"]).output().unwrap();
    assert!(output.status.success(), "{output:?}\n{}", world.logs());
}

fn items(world: &World, words: &[&str]) -> Vec<Value> {
    world.json(&[words, &["--limit", "1000"]].concat())["items"].as_array().unwrap().clone()
}

fn lines(world: &World, job: &str) -> usize {
    items(world, &["trigger", "history", job, "tick"]).len()
}

fn until_fired(world: &World, job: &str, more: usize) {
    let before = lines(world, job);
    world.until("more has fired", |world| (lines(world, job) >= before + more).then_some(()));
}

#[test]
fn an_end_after_a_put_at_either_server_is_followed() {
    let mut world = two_servers();
    for round in 0..3 {
        let (name, go) = (format!("first-{round}"), world.path(&format!("go-{round}")));
        let script = format!("while [ ! -e {} ]; do sleep 0.1; done", go.display());
        put(&world, &format!("name: {name}\nscript: '{script}'\n"));
        let run = world.text(&["run", &name, "-q", "-o", "name"]);
        world.until("it executes", |world| (world.state(run.trim()) == "running").then_some(()));
        put(
            &world,
            &format!("name: next-{round}\nscript: 'true'\ntriggers: [{{name: tick, after: {name}}}]\n"),
        );
        std::fs::write(go, "").unwrap();
        world.until("the end is followed", |world| {
            (lines(world, &format!("next-{round}")) == 1).then_some(())
        });
    }
    // The owner dies: the other confirms by taking the cell.
    world.kill_server_named("server");
    put(&world, "name: later\nscript: 'true'\ntriggers: [{name: tick, every: 1s}]\n");
    let url = world.url_of("second");
    world.until("the one that took over fires it", |world| {
        let history = ["--url", &url, "trigger", "history", "later", "tick"];
        (!world.json(&history)["items"].as_array().unwrap().is_empty()).then_some(())
    });
}

#[test]
fn no_firing_goes_by_an_old_version_or_a_removed_trigger() {
    let world = two_servers();
    put(&world, "name: clock\nscript: 'true'\nretry: 0\ntriggers: [{name: tick, every: 1s}]\n");
    for round in 1..=3 {
        let spec = |version: u32| {
            format!(
                "name: job-{round}\nscript: exit {version}\nretry: 0\ntriggers: [{{name: tick, every: 1s}}]\n"
            )
        };
        let job = format!("job-{round}");
        put(&world, &spec(1));
        until_fired(&world, &job, 1);
        put(&world, &spec(2));
        let old: Vec<Value> = items(&world, &["runs", "--job", &job]);
        until_fired(&world, &job, 2);
        let runs = items(&world, &["runs", "--job", &job]);
        let is_old = |run: &Value| old.iter().any(|old| old["id"] == run["id"]);
        let new: Vec<&Value> = runs.iter().filter(|run| !is_old(run)).collect();
        assert!(!new.is_empty() && new.iter().all(|run| run["job_version"] == 2), "{new:?}");
        let id = new[0]["job"].clone();
        let of_job = |world: &World| items(world, &["runs"]).iter().filter(|run| run["job"] == id).count();
        let removed = world.at("second").args(["delete", &job, "--yes"]).output().unwrap();
        assert!(removed.status.success(), "{removed:?}\n{}", world.logs());
        let before = of_job(&world);
        until_fired(&world, "clock", 3);
        assert_eq!(of_job(&world), before, "nothing fires after the removal was acknowledged");
    }
}
