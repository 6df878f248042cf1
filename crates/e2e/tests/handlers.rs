//! Functions in a process of the user's own, against the real server: what they are given and what they say arrives, and
//! whoever is killed, a run is never stuck and its result counts once.

use serde_json::json;

use crate::world::{Store, World, find, on_every_store};

on_every_store! {
    a_function_is_given_its_parameters_and_its_result_is_the_runs
    input_that_does_not_fit_and_a_panic_fail_the_attempt_and_say_why
    a_burst_of_lines_arrives_whole
    a_checkpoint_is_handed_to_the_next_attempt
    the_run_of_a_killed_worker_moves
    a_function_goes_on_while_the_server_is_away_and_counts_once
    a_cancellation_reaches_the_function
    a_worker_waits_for_its_server
    a_removed_worker_joins_again_with_a_fresh_token
}

fn a_function_is_given_its_parameters_and_its_result_is_the_runs(store: Store) {
    let mut world = World::bare(store);
    world.add_worker("one");
    let job = "name: add\nhandler: add\nparameters: {a: integer, b: integer}\nretry: 0\n";
    std::fs::write(world.path("add.yaml"), job).unwrap();
    let said = world.text(&["submit", "--wait", "-q", "-p", "a=40", "-p", "b=2", "add.yaml"]);
    assert_eq!(said, "adding 40 and 2\n");
    let run = world.json(&["runs"])["items"][0]["id"].as_str().unwrap().to_owned();
    let described = world.run(&run);
    assert_eq!(described["run"]["state"], "success");
    assert_eq!(described["run"]["result"], json!({ "sum": 42, "attempt": 1, "namespace": "default" }));
    assert_eq!(world.text(&["logs", "-f", &run]), "adding 40 and 2\n");
    world.until("the log is stored", |world| (world.stored_logs("server", &run) == 1).then_some(()));
}

fn input_that_does_not_fit_and_a_panic_fail_the_attempt_and_say_why(store: Store) {
    let mut world = World::bare(store);
    world.add_worker("one");
    let retry = json!({ "max": 1, "backoff": { "kind": "fixed", "base": "10ms" } });
    let parameters = json!({ "a": { "type": "string", "default": "x" } });
    let unfit = json!({ "name": "unfit", "handler": "add", "retry": retry, "parameters": parameters });
    let panics = json!({ "name": "panics", "handler": "panics", "retry": 0 });
    for (job, attempts, class, words) in
        [(unfit, 2, "invalid_input", "invalid type: string \"x\""), (panics, 1, "panic", "out of cheese")]
    {
        let run = world.submit_job(&job);
        assert_eq!(world.wait(&run), Some(1), "{}\n{}", world.run(&run), world.logs());
        let run = world.run(&run);
        assert_eq!(run["run"]["state"], "final_failed");
        let told = run["attempts"].as_array().unwrap();
        assert_eq!(told.len(), attempts, "{run}");
        for attempt in told {
            assert_eq!(
                (&attempt["cause"]["kind"], &attempt["cause"]["class"]),
                (&json!("error"), &json!(class)),
                "{run}"
            );
            assert!(attempt["cause"]["message"].as_str().unwrap().contains(words), "{attempt}");
        }
    }
    // The worker itself goes on.
    let next = world.submit_job(&json!({ "name": "next", "handler": "burst", "retry": 0 }));
    assert_eq!(world.wait(&next), Some(0), "{}", world.logs());
}

fn a_burst_of_lines_arrives_whole(store: Store) {
    let mut world = World::bare(store);
    world.add_worker("one");
    let neighbour = begin(&world);
    let run = world.submit_job(&json!({ "name": "burst", "handler": "burst", "retry": 0 }));
    assert_eq!(world.wait(&run), Some(0), "{}\n{}", world.run(&run), world.logs());
    let expected: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    assert!(world.text(&["logs", "-f", &run]) == expected);
    assert_eq!(world.run(&neighbour)["run"]["attempt"], 1, "its connection was never given up");
    world.until("the log is stored", |world| (world.stored_logs("server", &run) == 1).then_some(()));
}

fn a_checkpoint_is_handed_to_the_next_attempt(store: Store) {
    let mut world = World::bare(store);
    world.add_worker("one");
    let run = begin(&world);
    world.until("progress is shown", |world| {
        let run = world.run(&run);
        (run["run"]["progress"]["fraction"] == 0.25)
            .then(|| assert_eq!(run["run"]["progress"]["message"], "a quarter"))
    });
    go(&world, &["go", "end"]);
    assert_eq!(world.wait(&run), Some(0), "{}\n{}", world.run(&run), world.logs());
    assert_eq!(world.until_file("begun"), "1 None\n2 Some(101)\n", "the last one counts");
    let run = world.run(&run);
    assert_eq!(run["run"]["result"], json!({ "handed": 101 }));
    assert_eq!(run["attempts"][0]["cause"]["class"], "Again", "{run}");
}

fn the_run_of_a_killed_worker_moves(store: Store) {
    let mut world = World::bare(store);
    world.add_worker("one");
    let run = begin(&world);
    let once = world
        .submit_job(&json!({ "name": "once", "handler": "steps", "delivery": "at_most_once", "retry": 0 }));
    world.until("both have begun", |world| (begun(world) == 2).then_some(()));
    world.add_worker("two");
    world.kill_agent("one");
    assert_eq!(world.wait(&once), Some(125), "{}\n{}", world.run(&once), world.logs());
    let once = world.run(&once);
    assert_eq!(once["run"]["cause"]["kind"], "lost", "{once}");
    world.until("it executes elsewhere", |world| (begun(world) == 3).then_some(()));
    go(&world, &["go", "end"]);
    assert_eq!(world.wait(&run), Some(0), "{}\n{}", world.run(&run), world.logs());
    let run = world.run(&run);
    assert_eq!(run["run"]["result"], json!({ "handed": 1 }), "what the lost attempt kept: {run}");
    assert_eq!(run["attempts"][0]["cause"]["message"], "one was lost", "{run}");
    let nodes = world.json(&["nodes"]);
    assert_eq!(run["run"]["node"], find(&nodes["items"], "name", "two").unwrap()["id"]);
}

fn a_function_goes_on_while_the_server_is_away_and_counts_once(store: Store) {
    let mut world = World::bare(store);
    world.add_worker("one");
    let run = begin(&world);
    world.until("its checkpoint is known", |world| {
        (world.run(&run)["run"]["progress"]["fraction"] == 0.25).then_some(())
    });
    world.kill_server();
    // It keeps another checkpoint while nobody hears it, and fails.
    go(&world, &["go", "end"]);
    world.until_file("kept");
    world.start_server();
    assert_eq!(world.wait(&run), Some(0), "{}\n{}", world.run(&run), world.logs());
    assert_eq!(world.until_file("begun"), "1 None\n2 Some(101)\n", "{}", world.logs());
    let run = world.run(&run);
    assert_eq!(run["attempts"].as_array().unwrap().len(), 2, "{run}");
    assert_eq!(run["run"]["result"], json!({ "handed": 101 }));
}

fn a_cancellation_reaches_the_function(store: Store) {
    let mut world = World::bare(store);
    world.add_worker("one");
    let run = begin(&world);
    world.text(&["cancel", &run]);
    world.wait(&run);
    assert_eq!(world.state(&run), "cancelled");
    assert_eq!(world.until_file("cancelled"), "yes\n");
    assert_eq!(begun(&world), 1);
}

fn a_worker_waits_for_its_server(store: Store) {
    let mut world = World::bare(store);
    let token = world.join_token();
    world.kill_server();
    world.start_worker("one", Some(token));
    world.until("it has tried", |world| world.logs().contains("trying again").then_some(()));
    world.start_server();
    world.until_connected("one");
    let run = world.submit_job(&json!({ "name": "burst", "handler": "burst", "retry": 0 }));
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
}

fn a_removed_worker_joins_again_with_a_fresh_token(store: Store) {
    let mut world = World::bare(store);
    world.add_worker("one");
    world.kill_agent("one");
    let nodes = world.json(&["nodes"]);
    let id = find(&nodes["items"], "name", "one").unwrap()["id"].as_str().unwrap().to_owned();
    world.until("it is given up", |world| {
        let nodes = world.json(&["nodes"]);
        (find(&nodes["items"], "name", "one")?["state"] == "lost").then_some(())
    });
    world.text(&["node", "rm", &id]);
    world.start_worker("one", None);
    world.until("it says what helps", |world| {
        world.logs().contains("this worker is not let in").then_some(())
    });
    world.kill_agent("one");
    let token = world.join_token();
    world.start_worker("one", Some(token));
    world.until_connected("one");
}

/// The documented example, as it is compiled for readers.
#[test]
fn the_documented_worker_does_what_its_page_says() {
    let mut world = World::bare(Store::Sqlite);
    let token = world.join_token();
    let job = "name: greet\nhandler: greet\nparameters: {name: string}\nretry: 0\n";
    std::fs::write(world.path("greet.yaml"), job).unwrap();
    let waits = world.text(&["submit", "-q", "-o", "name", "greet.yaml", "-p", "name=Ada"]);
    world.start_example("documented", "documented", Some(token));
    assert_eq!(world.wait(waits.trim()), Some(0), "{}", world.logs());
    assert_eq!(world.run(waits.trim())["run"]["result"], json!({ "words": "hello Ada" }));
    assert_eq!(world.text(&["logs", "-f", waits.trim()]), "attempt 1 of 1\n");
}

/// A run of the function that goes on with files, and that has begun.
fn begin(world: &World) -> String {
    let retry = json!({ "max": 3, "backoff": { "kind": "fixed", "base": "10ms" } });
    let run = world.submit_job(&json!({ "name": "steps", "handler": "steps", "retry": retry }));
    world.until_file("begun");
    run
}

fn begun(world: &World) -> usize {
    world.until_file("begun").lines().count()
}

fn go(world: &World, files: &[&str]) {
    for file in files {
        std::fs::write(world.path(file), "").unwrap();
    }
}
