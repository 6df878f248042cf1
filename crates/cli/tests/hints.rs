//! What is wrong is told with the next step, and with the exit code that fits.

use serde_json::{Value, json};

use crate::api::{Api, answer, problem};
use crate::binary::{Ended, Home};

fn check(api: &Api, words: &[&str], code: i32, stderr: &[&str]) -> Ended {
    let home = Home::new();
    let mut command = home.command();
    command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").args(words);
    Ended::of(command.output().unwrap()).check(code, &[], stderr)
}

#[test]
fn what_is_wrong_here_is_not_sent_and_has_a_next_step() {
    let api = Api::start(|line| panic!("{line}"));
    for (words, said) in [
        (
            &["submit", "echo", "hello"][..],
            "next: a command goes after `--`: `mainspring submit -- echo hello`",
        ),
        (&["submit", "--retries", "-1", "--", "true"], "invalid value '-1' for '--retries <NUMBER>'"),
        (&["apply", "nope.yaml"], "next: name a job file that is here"),
        (&["artifact", "push", "nope"], "next: name a file that is here"),
        (&["wait", "x", "--timeout", "1x"], "write a number and its unit, such as 90s"),
        (&["runs", "-n", "Bad Name"], "next: a namespace is one name or several"),
        (&["namespace", "set", "x y"], "next: a namespace is one name or several"),
        (&["rerun", "-Q", "job:x", "--latest"], "cannot be used with"),
        (&["rerun", "-Q", "job:x", "--force"], "cannot be used with"),
    ] {
        let ended = check(&api, words, 2, &[said]);
        assert!(!ended.stderr.contains("docs/") && !ended.stderr.contains("'-- -1'"), "{ended:?}");
    }
}

#[test]
fn a_malformed_token_is_told_as_one() {
    let home = Home::new();
    let mut command = home.command();
    command.env("MAINSPRING_URL", "http://127.0.0.1:1").env("MAINSPRING_TOKEN", "ms_a\nb").arg("runs");
    let ended = Ended::of(command.output().unwrap());
    ended.check(4, &[], &["the token is malformed", "next: a token is one word"]);
}

#[test]
fn a_plain_port_is_told_from_a_broken_one() {
    let api = Api::start(|_| answer(200, &json!({ "items": [] })));
    let url = api.url().replacen("http:", "https:", 1);
    Home::new().run(&["runs", "--url", &url]).check(6, &[], &["does not speak TLS", &api.url()]);
}

fn node() -> Value {
    json!({
        "id": "node_01hf7yat00000000000000000a", "name": "vm", "pool": "default", "cell": 0, "state": "up",
        "labels": {}, "capacity": {}, "slots": 1, "weight": 1, "revision": 1,
        "joined_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    })
}

#[test]
fn a_node_that_is_named_alone_is_found() {
    let api = Api::start(|line| match line {
        "GET /v1/nodes" => answer(200, &json!({ "items": [node()] })),
        line if line.starts_with("GET /v1/nodes/") => answer(200, &node()),
        line if line.starts_with("GET /v1/jobs?") => answer(200, &json!({ "items": [] })),
        _ => problem(404, "not_found", &json!([])),
    });
    check(&api, &["describe", "vm"], 3, &["next: a node is called so: `mainspring describe node/vm`"]);
    check(&api, &["node", "label", "vm", "foo"], 2, &["next: `foo=VALUE` sets the label, `foo-` removes it"]);
    let logs = ["logs", "run_01hf7yat00000000000000000a", "--attempt", "9"];
    check(&api, &logs, 3, &["next: `mainspring describe run_01hf7yat00000000000000000a` lists its attempts"]);
}

#[test]
fn a_name_means_a_run_of_its_own_namespace_alone() {
    let run = |namespace: &str| {
        json!({
            "id": "run_01hf7yat00000000000000000a", "namespace": namespace, "job": "job_00000000000000000000000001",
            "job_name": "etl", "job_version": 1, "ad_hoc": false, "state": "running", "version": 1, "attempt": 1,
            "losses": 0, "priority": 0, "submitted_by": "ann", "created_at": "2026-01-01T00:00:00Z",
        })
    };
    // A server that lists what is below, and one that lists everything.
    let api = Api::start(move |line| match line {
        line if line.starts_with("GET /v1/jobs?") || line == "GET /v1/jobs" => {
            answer(200, &json!({ "items": [] }))
        }
        line if line.starts_with("GET /v1/runs?") => {
            answer(200, &json!({ "items": [run("default/below"), run("acme")] }))
        }
        other => panic!("{other}"),
    });
    let said = ["there is no run of a job `etl` in `default`", "`mainspring runs -A`", "`-n NAMESPACE`"];
    check(&api, &["cancel", "etl"], 3, &said);
    assert!(api.asked()[0].line.contains("namespace=default"), "{:?}", api.asked()[0]);
}

#[test]
fn a_code_that_was_used_is_told_as_one() {
    let api = Api::start(|_| problem(401, "unauthenticated", &json!([])));
    let link = format!("{}/#login=msl_x", api.url());
    let home = Home::new();
    let ended =
        home.run(&["login", &link]).check(4, &[], &["the code was used already", "prints a new link"]);
    assert!(!ended.stderr.contains("sign in with `mainspring login URL`"), "{ended:?}");
    let mut command = home.command();
    command.env("MAINSPRING_TOKEN", "ms_test").args(["login", &api.url()]);
    let ended = Ended::of(command.output().unwrap()).check(4, &[], &["next: an admin makes one with"]);
    assert!(!ended.stderr.contains("sign in with"), "{ended:?}");
}
