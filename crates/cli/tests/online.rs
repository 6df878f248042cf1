//! What talks to a server.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::api::{Api, answer, events, problem};
use crate::binary::{Ended, Home};

const RUN: &str = "run_01hf7yat00000000000000000a";
const JOB: &str = "job_00000000000000000000000001";

fn failed() -> Value {
    json!({
        "id": RUN, "namespace": "default", "job": JOB, "job_name": "etl", "job_version": 1, "ad_hoc": true,
        "state": "final_failed", "version": 1, "attempt": 2, "attempts_max": 4, "losses": 0, "priority": 0,
        "submitted_by": "ann", "created_at": "2026-01-01T00:00:00Z", "started_at": "2026-01-01T00:00:00Z",
        "finished_at": "2026-01-01T00:00:02.5Z",
        "cause": { "kind": "exit", "message": "exit code 3", "exit_code": 3 },
    })
}

fn check(home: &Home, api: &Api, words: &[&str], code: i32, stdout: &[&str], stderr: &[&str]) -> Ended {
    let mut command = home.command();
    command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").args(words);
    Ended::of(command.output().unwrap()).check(code, stdout, stderr)
}

#[test]
fn submit_waits_streams_and_ends_as_the_task_did() {
    let line = |text: &str, stream: &str| {
        let data = json!({ "offset": 0, "at": "2026-01-01T00:00:00Z", "stream": stream, "text": text });
        format!("event: line\nid: 1\ndata: {data}\n\n")
    };
    let (one, oops, two) = (line("one\n", "stdout"), line("oops\n", "stderr"), line("two\n", "stdout"));
    let log =
        format!("{one}{oops}event: attempt\ndata: {{\"attempt\":2}}\n\n{two}event: end\ndata: {{}}\n\n");
    let api = Api::start(move |line| match line {
        "POST /v1/runs" => answer(
            201,
            &json!({ "id": RUN, "namespace": "default", "job": JOB, "job_version": 1, "duplicate": false }),
        ),
        line if line.contains("/logs?") => events(&log),
        _ => answer(200, &failed()),
    });
    let home = Home::new();
    let words = ["submit", "--wait", "--retries", "1", "--", "sh", "-c", "exit 3"];
    let ending = "final_failed: exit code 3 (attempt 2 of 4)";
    let ended = check(&home, &api, &words, 3, &[], &["oops", RUN, "--- attempt 2 ---", ending]);
    assert_eq!(ended.stdout, "one\ntwo\n");
    let asked = &api.asked()[0];
    assert_eq!(asked.header("authorization"), Some("Bearer ms_test"));
    assert_eq!(asked.body["spec"]["process"], json!({ "command": "sh", "args": ["-c", "exit 3"] }));
    assert_eq!(asked.body["spec"]["retry"], json!({ "max": 1 }));
    check(&home, &api, &["submit", "--", "true"], 0, &[&format!("{RUN}\n")], &["next: mainspring logs -f"]);
    check(&home, &api, &["wait", RUN], 3, &[], &["exit code 3"]);
}

#[test]
fn what_cannot_run_is_not_sent() {
    let api = Api::start(|line| panic!("{line}"));
    let home = Home::new();
    check(&home, &api, &["submit"], 2, &[], &["there is nothing to run", "next: "]);
    let timeout = ["submit", "--timeout", "5", "--", "true"];
    check(&home, &api, &timeout, 2, &[], &["timeout.run: `5` has no unit"]);
    check(&home, &api, &["submit", "nothing.sh"], 2, &[], &["cannot read nothing.sh"]);
    fs::write(home.directory.path().join("bad.yaml"), "name: x\nscrpt: echo\n").unwrap();
    check(&home, &api, &["submit", "bad.yaml"], 2, &[], &["scrpt: unknown field", "did you mean `script`?"]);
    check(&home, &api, &["describe", "run_short"], 2, &[], &["is not a run's id"]);
}

#[test]
fn lists_are_tables_or_data() {
    let api = Api::start(|_| answer(200, &json!({ "items": [failed()] })));
    let home = Home::new();
    let words = ["runs", "--job", "etl", "--state", "failed,final_failed", "--since", "2h"];
    let cells = ["ID", "etl", "final_failed", "2 of 4", "2.5s", "exit code 3"];
    let table = check(&home, &api, &words, 0, &cells, &[]);
    assert!(!table.stdout.contains('\x1b'), "{table:?}");
    let q = "q=job%3Aetl+state%3Afailed%2Cfinal_failed+created%3E-2h";
    assert_eq!(api.asked()[0].line, format!("GET /v1/runs?{q}&limit=50"));
    let data = check(&home, &api, &["runs", "-o", "json"], 0, &[], &[]);
    let data: Value = serde_json::from_str(&data.stdout).unwrap();
    assert_eq!(data["items"][0]["cause"]["exit_code"], 3);
    let names = check(&home, &api, &["runs", "-o", "name"], 0, &[], &[]);
    assert_eq!(names.stdout, format!("{RUN}\n"));
    let none = Api::start(|_| answer(200, &json!({ "items": [] })));
    check(&home, &none, &["runs"], 0, &[], &["no runs"]);
}

#[test]
fn refusals_say_the_next_step_and_have_their_code() {
    let home = Home::new();
    for (status, code, exit, words) in [
        (401, "unauthenticated", 4, "next: sign in with `mainspring login URL`"),
        (403, "forbidden", 4, "`mainspring whoami`"),
        (404, "not_found", 3, "next: `mainspring explain not_found`"),
        (409, "illegal_state", 5, "mainspring rerun"),
        (500, "internal", 1, "request id req-7"),
    ] {
        let api = Api::start(move |_| problem(status, code, &json!([])));
        check(&home, &api, &["retry", RUN], exit, &[], &[&format!("it is {code}"), words]);
    }
    let errors = json!([{ "path": "params.day", "message": "is missing", "hint": "write -p day=…" }]);
    let api = Api::start(move |_| problem(422, "invalid_parameter", &errors));
    check(&home, &api, &["run", "etl"], 2, &[], &["params.day: is missing; write -p day=…"]);
}

#[test]
fn nobody_there() {
    let home = Home::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    home.run(&["runs", "--url", &url]).check(6, &[], &["cannot reach", "refused", "next: start a server"]);
    home.run(&["runs"]).check(2, &[], &["no server is known", "mainspring up"]);
}

#[test]
fn apply_shows_what_changes_and_asks() {
    let api = Api::start(|_| {
        let time = "2026-01-01T00:00:00Z";
        let job = json!({
            "id": JOB, "namespace": "default", "name": "etl", "version": 2, "revision": 8, "created_at": time,
            "updated_at": time, "outcome": "updated",
            "changes": [{ "path": "retry.max", "before": 3, "after": 5 }],
        });
        answer(200, &job)
    });
    let home = Home::new();
    let jobs = home.directory.path().join("jobs");
    fs::create_dir(&jobs).unwrap();
    fs::write(jobs.join("etl.yaml"), "name: etl\nscript: echo\nretry: 5\n").unwrap();
    let changed = ["~ default/etl (version 1 to 2)", "~ retry.max: 3 → 5"];
    check(&home, &api, &["plan", "jobs"], 0, &changed, &["1 job to change, 0 unchanged"]);
    check(&home, &api, &["apply", "jobs"], 2, &changed, &["Apply 1 change?", "add --yes if you mean it"]);
    assert!(api.asked().iter().all(|asked| asked.line.contains("dry_run=true")), "nothing was changed");
    check(&home, &api, &["apply", "jobs", "--yes"], 0, &changed, &["etl is at version"]);
    let last = api.asked().pop().unwrap();
    assert_eq!((last.line.as_str(), last.header("if-match")), ("PUT /v1/jobs/etl", Some("\"7\"")));
    assert_eq!(last.body["retry"]["max"], 5);
}

#[test]
fn a_sign_in_is_remembered_and_its_token_goes_nowhere_else() {
    let me =
        || json!({ "subject": "ann", "token": "t", "grants": [{ "role": "editor", "namespace": "acme" }] });
    let (api, other) = (Api::start(move |_| answer(200, &me())), Api::start(move |_| answer(200, &me())));
    let home = Home::new();
    fs::write(home.directory.path().join("token"), "ms_secret\n").unwrap();
    home.run(&["login", &api.url(), "--token-file", "token"]).check(0, &[], &["as ann"]);
    let file = home.directory.path().join(".config/mainspring/targets.toml");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    home.run(&["whoami"]).check(0, &["ann at", "editor in acme"], &[]);
    home.run(&["whoami", "--url", &other.url()]).check(0, &[], &[]);
    assert_eq!(api.asked().last().unwrap().header("authorization"), Some("Bearer ms_secret"));
    assert_eq!(other.asked().last().unwrap().header("authorization"), None);
    home.run(&["login", "--list"]).check(0, &["* 127.0.0.1"], &[]);
}
