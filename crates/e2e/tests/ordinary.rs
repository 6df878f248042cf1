//! What happens every day: a task, its output, its result, its failure and the reasons for all of it.

use serde_json::json;

use crate::world::{Store, World, find, on_every_store};

on_every_store! {
    output_exit_code_and_result
    a_failing_task_is_retried_and_says_why
    a_job_is_applied_run_and_changed
    a_pushed_file_is_executed
    inputs_and_outputs_are_copied_where_the_node_allows_it
    an_agent_that_was_invited_elsewhere_ends_and_says_so
    nobody_waits_for_the_log_of_a_task_that_says_nothing
}

pub(crate) fn output_exit_code_and_result(store: Store) {
    let world = World::new(store);
    let output = world.mainspring(&[
        "submit",
        "--wait",
        "--retries",
        "0",
        "--env",
        "WHO=world",
        "--",
        "sh",
        "-c",
        "echo hello $WHO; echo wrong >&2; echo '{\"rows\": 7}' > $MAINSPRING_OUTPUT; exit 3",
    ]);
    assert_eq!(output.status.code(), Some(3), "{output:?}\n{}", world.logs());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "hello world\n");
    assert!(String::from_utf8(output.stderr).unwrap().contains("wrong\n"));
    let runs = world.json(&["runs"]);
    let run = runs["items"][0]["id"].as_str().unwrap();
    let run = world.run(run);
    assert_eq!(run["run"]["state"], "final_failed");
    assert_eq!(run["run"]["cause"]["exit_code"], 3);
    assert_eq!(run["run"]["result"]["rows"], 7);
}

fn a_failing_task_is_retried_and_says_why(store: Store) {
    let world = World::new(store);
    let script = format!(
        "echo $MAINSPRING_ATTEMPT >> {}; while [ ! -e {} ]; do sleep 0.05; done; exit 9",
        world.path("begun").display(),
        world.path("go").display()
    );
    let retry = json!({ "max": 1, "backoff": { "kind": "fixed", "base": "30s", "jitter": 0 } });
    let run = world.submit_job(&json!({ "name": "flaky", "script": script, "retry": retry }));
    world.until_file("begun");
    let why = world.until("the server knows that it executes", |world| {
        let why = world.json(&["why", &run]);
        (why["state"] == "running").then_some(why)
    });
    assert_eq!(why["summary"], "attempt 1 runs on one", "{why}");
    std::fs::write(world.path("go"), "").unwrap();
    let why = world.until("it waits for its back-off", |world| {
        let why = world.json(&["why", &run]);
        (why["reason"]["kind"] == "backoff").then_some(why)
    });
    assert_eq!(why["state"], "failed");
    assert!(why["summary"].as_str().unwrap().contains("attempt 2 of 2"), "{why}");
    // The back-off is so long that slow commands see it; nobody waits for its end.
    world.text(&["retry", &run]);
    assert_eq!(world.wait(&run), Some(9));
    let why = world.json(&["why", &run]);
    assert_eq!((&why["state"], &why["cause"]["exit_code"]), (&json!("final_failed"), &json!(9)), "{why}");
    assert!(why["summary"].as_str().unwrap().contains("exit"), "{why}");
    let run = world.run(&run);
    assert_eq!(run["run"]["state"], "final_failed");
    let attempts = run["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{run}");
    assert!(attempts.iter().all(|attempt| attempt["cause"]["exit_code"] == 9));
}

fn a_job_is_applied_run_and_changed(store: Store) {
    let world = World::new(store);
    let file = |text: &str| std::fs::write(world.path("greet.yaml"), text).unwrap();
    file("name: greet\nscript: echo hello $NAME\nparameters: {name: {type: string, default: world}}\n");
    let body = "name: greet\nprocess:\n  command: echo\n  args: ['hello', '{{ params.name }}']\nparameters: {name: {type: string, default: world}}\n";
    file(body);
    world.text(&["apply", "--yes", "greet.yaml"]);
    let said = world.text(&["run", "greet", "--wait", "-q"]);
    assert_eq!(said, "hello world\n");
    assert_eq!(world.text(&["run", "greet", "--wait", "-q", "-p", "name=moon"]), "hello moon\n");
    file(&body.replace("'hello'", "'goodbye'"));
    let plan = world.text(&["plan", "greet.yaml"]);
    assert!(plan.contains("goodbye"), "{plan}");
    world.text(&["apply", "--yes", "greet.yaml"]);
    assert_eq!(world.text(&["run", "greet", "--wait", "-q"]), "goodbye world\n");
    let jobs = world.json(&["jobs"]);
    assert_eq!(find(&jobs["items"], "name", "greet").unwrap()["version"], 2, "{jobs}");
    let refused = world.mainspring(&["run", "greet", "-p", "nam=moon"]);
    assert!(String::from_utf8(refused.stderr).unwrap().contains("name"), "the nearest name is told");
}

fn a_pushed_file_is_executed(store: Store) {
    let world = World::new(store);
    std::fs::write(world.path("tool"), "#!/bin/sh\necho I am $1\n").unwrap();
    let pushed = world.json(&["artifact", "push", "tool"]);
    let digest = pushed["digest"].as_str().unwrap();
    let file = |digest: &str| {
        let artifact = format!("artifacts: [{{digest: '{digest}', path: bin/tool, executable: true}}]");
        let body = "process: {command: bin/tool, args: [here]}";
        std::fs::write(
            world.path("tool.yaml"),
            format!("name: tool\n{artifact}\n{body}\nretry: {{max: 0}}\n"),
        )
        .unwrap();
    };
    file(digest);
    let said = world.text(&["submit", "--wait", "-q", "tool.yaml"]);
    assert_eq!(said, "I am here\n");
    file(&format!("sha256:{}", "0".repeat(64)));
    let refused = world.mainspring(&["submit", "-q", "tool.yaml"]);
    assert_eq!(refused.status.code(), Some(2), "nobody waits for a file that is not there");
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("artifact push"), "{message}");
}

fn inputs_and_outputs_are_copied_where_the_node_allows_it(store: Store) {
    let mut world = World::new(store);
    let out = world.path("out/total");
    std::fs::create_dir(world.path("out")).unwrap();
    let job = format!(
        "name: copies\nscript: cat $MAINSPRING_INPUT_PAGE | tee $MAINSPRING_OUTPUT_TOTAL\nretry: {{max: 0}}\n\
         inputs: {{page: '{}/healthz'}}\noutputs: {{total: 'file://{}'}}\n",
        world.url(),
        out.display()
    );
    std::fs::write(world.path("copies.yaml"), job).unwrap();
    let words = ["submit", "-q", "-o", "name", "--selector", "name=one", "copies.yaml"];
    let refused = world.text(&words).trim().to_owned();
    assert_eq!(world.wait(&refused), Some(125), "it never began");
    let why = world.json(&["why", &refused]);
    assert!(why["summary"].as_str().unwrap().contains("MAINSPRING_AGENT__ALLOWED_NETWORKS"), "{why}");
    world.set("AGENT__ALLOWED_NETWORKS", "127.0.0.0/8");
    world.set("AGENT__ALLOWED_PATHS", out.parent().unwrap().to_str().unwrap());
    world.add_agent("two");
    let said = world.text(&["submit", "--wait", "-q", "--selector", "name=two", "copies.yaml"]);
    assert!(!said.is_empty());
    assert_eq!(std::fs::read_to_string(out).unwrap(), said);
}

fn an_agent_that_was_invited_elsewhere_ends_and_says_so(store: Store) {
    let world = World::bare(store);
    let token = world.json(&["node", "token", "--pool", "gpu"])["token"].as_str().unwrap().to_owned();
    let mut agent = world.binary();
    agent.args(["agent", "--data", "one", "--server", &world.url()]).env("MAINSPRING_JOIN_TOKEN", token);
    let ended = agent.output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("start it with `--pool gpu`"), "{said}");
}

pub(crate) fn nobody_waits_for_the_log_of_a_task_that_says_nothing(store: Store) {
    let world = World::new(store);
    for (command, retries) in [("true", "0"), ("false", "1")] {
        let output = world.mainspring(&["submit", "--wait", "--retries", retries, "--", command]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("has not arrived"), "{said}\n{}", world.logs());
    }
    let run = world.json(&["runs"])["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.text(&["logs", "--follow", &run]), "");
}
