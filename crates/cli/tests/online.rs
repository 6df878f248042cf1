//! What talks to a server.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::api::{Api, answer, events, problem, problem_later};
use crate::binary::{Ended, Home};

const RUN: &str = "run_01hf7yat00000000000000000a";
const JOB: &str = "job_00000000000000000000000001";

/// What a preview of a bulk action says.
fn counted(matched: u32) -> Value {
    let counts =
        json!({ "matched": matched, "exact": true, "states": {"waiting": matched}, "namespaces": [] });
    json!({ "counts": counts, "sample": [RUN] })
}

/// A bulk operation: how many matched, were done, and could not be.
fn operation(state: &str, (matched, done, failed): (u32, u32, u32)) -> Value {
    let failure = json!({ "id": RUN, "code": "conflict", "detail": "it moved" });
    json!({
        "id": "blk_00000000000000000000000001", "action": "cancel", "q": "job:etl", "by": "ann", "state": state,
        "created_at": "2026-01-01T00:00:00Z", "matched": matched, "exact": true, "done": done, "failed": failed,
        "failures": if failed > 0 { json!([failure]) } else { json!([]) },
    })
}

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
fn attempts_that_were_lost_are_told_apart() {
    let mut lost = failed();
    (lost["attempt"], lost["attempts_max"], lost["losses"]) = (json!(3), json!(3), json!(2));
    let api = Api::start(move |line| match line {
        line if line.starts_with("GET /v1/runs?") => answer(200, &json!({ "items": [lost.clone()] })),
        _ => answer(200, &lost),
    });
    let home = Home::new();
    check(&home, &api, &["runs"], 0, &["3 of 3, 2 lost"], &[]);
    check(&home, &api, &["wait", RUN], 3, &[], &["(attempt 3 of 3, 2 lost)"]);
}

#[test]
fn why_speaks_the_persons_language() {
    let reason = json!({ "kind": "overflow", "message": "too many", "remedy": "wait", "message_zh": "太多", "remedy_zh": "等待" });
    let old = json!({ "kind": "overflow", "message": "too many", "remedy": "wait" });
    let home = Home::new();
    for (language, reason, words) in [
        ("en_US.UTF-8", &reason, ["too many", "wait"]),
        ("zh_CN.UTF-8", &reason, ["太多", "等待"]),
        ("zh_CN.UTF-8", &old, ["too many", "wait"]),
    ] {
        let why = json!({ "id": RUN, "state": "waiting", "summary": "", "live": true, "reason": reason });
        let api = Api::start(move |_| answer(200, &why));
        let mut command = home.command();
        command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").env("LC_ALL", language);
        Ended::of(command.args(["why", RUN]).output().unwrap()).check(0, &words, &[]);
    }
}

#[test]
fn a_node_that_leaves_takes_none() {
    let node = json!({
        "id": "node_01hf7yat00000000000000000a", "name": "worker-1", "pool": "default", "cell": 0, "state": "draining",
        "labels": {}, "capacity": { "cpu": 4 }, "slots": 0, "weight": 1, "revision": 1,
        "joined_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "connected": true, "running": 1,
    });
    let api = Api::start(move |_| answer(200, &json!({ "items": [node.clone()] })));
    let home = Home::new();
    let ended = check(&home, &api, &["nodes"], 0, &["worker-1", "draining"], &[]);
    assert!(!ended.stdout.contains("of 0"), "{}", ended.stdout);
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
    let data = check(
        &home,
        &api,
        &[&words[..4], &["-o", "json"], &words[4..]].concat(),
        3,
        &[],
        &["one\n", "oops\n", "two\n"],
    );
    assert_eq!(serde_json::from_str::<Value>(&data.stdout).expect("nothing but JSON")["id"], RUN);
    let asked = &api.asked()[0];
    assert_eq!(asked.header("authorization"), Some("Bearer ms_test"));
    assert_eq!(asked.body["spec"]["process"], json!({ "command": "sh", "args": ["-c", "exit 3"] }));
    assert_eq!(asked.body["spec"]["retry"], json!({ "max": 1 }));
    check(&home, &api, &["submit", "--", "true"], 0, &[&format!("{RUN}\n")], &["next: mainspring logs -f"]);
    check(&home, &api, &["wait", RUN], 3, &[], &["exit code 3"]);
}

#[test]
fn a_query_without_a_word_is_not_every_run() {
    let api = Api::start(|_| answer(200, &counted(0)));
    let home = Home::new();
    for verb in ["cancel", "rerun", "retry"] {
        for empty in ["", "  "] {
            let refused = ["--query", "next: name at least one word", "--all"];
            check(&home, &api, &[verb, "-Q", empty, "--yes"], 2, &[], &refused);
            check(&home, &api, &[verb, "-n", "acme", "-Q", empty, "--yes"], 2, &[], &refused);
        }
        check(&home, &api, &[verb, "--all", "-Q", "job:etl"], 2, &[], &["cannot be used with"]);
    }
    assert!(api.asked().is_empty(), "{:?}", api.asked());
    check(&home, &api, &["cancel", "--all", "--yes"], 0, &[], &["no run matches"]);
    check(&home, &api, &["cancel", "--all", "-n", "acme", "--yes"], 0, &[], &["no run matches"]);
    let bodies: Vec<Value> = api.asked().into_iter().map(|asked| asked.body).collect();
    assert_eq!(bodies[0], json!({ "action": "cancel", "all": true, "preview": true }));
    assert_eq!(bodies[1], json!({ "action": "cancel", "q": "namespace:acme", "preview": true }));
}

#[test]
fn a_version_is_as_old_as_it_is_whenever_its_job_was_paused() {
    let job = json!({
        "id": JOB, "namespace": "default", "name": "etl", "version": 2, "revision": 9,
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-03-03T00:00:00Z",
    });
    let version = json!({ "job": JOB, "version": 2, "created_at": "2026-02-02T00:00:00Z", "created_by": "ann", "spec": {} });
    let api = Api::start(move |line| answer(200, if line.contains("/versions/2") { &version } else { &job }));
    check(&Home::new(), &api, &["describe", "etl"], 0, &["Version:     2 (since 2026-02-02T00:00:00"], &[]);
}

#[test]
fn every_mistake_in_the_options_of_a_calendar_is_told() {
    let api = Api::start(|line| panic!("{line}"));
    let words = ["calendar", "set", "bad", "--off", "2026-13-40", "--weekend", "sat,funday"];
    let said =
        ["bad cannot be a calendar:", "weekend: `funday` is not a day of the week; write sun", "off[0]: "];
    let ended = check(&Home::new(), &api, &words, 2, &[], &said);
    assert!(!ended.stderr.contains('^') && !ended.stderr.contains('{'), "{}", ended.stderr);
}

#[test]
fn a_role_in_a_namespace_with_nothing_in_it_gets_a_remark() {
    let member = json!({ "subject": "bob", "role": "viewer", "namespace": "acme", "revision": 1, "granted_by": "ann", "granted_at": "2026-01-01T00:00:00Z" });
    for (described, remark) in [(json!([]), true), (json!(["acme/data"]), false), (json!(["acme2"]), true)] {
        let member = member.clone();
        let api = Api::start(move |line| match line {
            line if line.starts_with("PUT") => answer(200, &member),
            line if line.starts_with("GET /v1/namespaces") => {
                let one = |path: &Value| {
                    json!({ "path": path, "description": "", "created_by": "ann",
                    "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "revision": 1 })
                };
                answer(
                    200,
                    &json!({ "items": described.as_array().unwrap().iter().map(one).collect::<Vec<_>>() }),
                )
            }
            _ => answer(200, &json!({ "items": [] })),
        });
        let words = ["member", "set", "bob", "viewer", "-n", "acme"];
        let ended = check(&Home::new(), &api, &words, 0, &[], &["bob is viewer in acme"]);
        assert_eq!(ended.stderr.contains("nothing is in acme yet"), remark, "{}", ended.stderr);
    }
}

#[test]
fn the_doctor_of_a_server_without_its_store_says_so() {
    let api = Api::start(|line| match line {
        "GET /readyz" => answer(503, &json!({ "ready": false, "waits_for": ["store"] })),
        _ => problem_later(503, "store_unavailable"),
    });
    let said =
        ["failure: the server is not ready: it waits for store", "next: look whether the database is up"];
    check(&Home::new(), &api, &["doctor"], 1, &said, &[]);
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
        (404, "not_found", 3, "next: a list, such as `mainspring jobs`"),
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
    assert_eq!((last.line.as_str(), last.header("if-match")), ("PUT /v1/jobs/etl?origin=cli", Some("\"7\"")));
    assert_eq!(last.body, "name: etl\nscript: echo\nretry: 5\n");
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
    home.run(&["login", "--list"]).check(0, &["*  127.0.0.1"], &[]);
    let listed = home.run(&["login", "--list", "-o", "json"]).check(0, &[], &[]);
    assert!(!listed.stdout.contains("ms_secret"), "{listed:?}");
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["items"][0]["url"], api.url());
}

#[test]
fn a_field_that_is_wrong_is_told_once() {
    let errors = json!([{ "path": "params.day", "message": "is missing", "hint": "write -p day=…" }]);
    let api = Api::start(move |_| {
        let body = json!({
            "type": "about:blank", "title": "a title", "status": 422, "code": "invalid_parameter",
            "detail": "params.day: is missing", "retry": "never", "errors": errors,
        });
        answer(422, &body)
    });
    let ended =
        check(&Home::new(), &api, &["run", "etl"], 2, &[], &["params.day: is missing; write -p day=…"]);
    assert_eq!(ended.stderr.matches("is missing").count(), 1, "{ended:?}");
}

#[test]
fn a_wrong_value_is_told_with_its_flag() {
    let api = Api::start(|line| panic!("{line}"));
    let home = Home::new();
    for (words, said) in [
        (
            &["nodes", "--state", "bad"][..],
            "invalid value 'bad' for '--state <STATE>'\n  [possible values: up, ",
        ),
        (&["runs", "--state", "bogus"], "for '--state <STATES>': `bogus` is not a state; use ready, "),
        (&["runs", "--since", "2x"], "for '--since <DURATION>': "),
        (&["runs", "--limit", "0"], "for '--limit <LIMIT>': at least 1"),
        (&["jobs", "--limit", "0"], "for '--limit <LIMIT>': at least 1"),
        (&["artifact", "get", "sha256:00"], "`sha256:00` is not a digest: a digest is `sha256:` and 64"),
        (&["artifact", "rm", "-y", "x"], "`x` is not a digest"),
    ] {
        check(&home, &api, words, 2, &[], &[said]);
    }
}

#[test]
fn an_empty_list_says_what_was_looked_for() {
    let api = Api::start(|_| answer(200, &json!({ "items": [] })));
    let home = Home::new();
    for (words, said) in [
        (&["nodes"][..], "no nodes; `mainspring node token`"),
        (&["nodes", "--pool", "gpu", "--state", "lost"], "no nodes in the pool `gpu` in the state `lost`; "),
        (&["jobs"], "no jobs; `mainspring apply FILE`"),
        (&["jobs", "-n", "acme"], "no jobs in `acme`; `mainspring jobs -A`"),
        (&["jobs", "--paused"], "no jobs like that; `mainspring jobs` lists all"),
        (&["runs", "-n", "acme"], "no runs in `acme`; `mainspring runs -A`"),
        (&["runs", "--state", "failed"], "no runs fit `state:failed`"),
    ] {
        check(&home, &api, words, 0, &[], &[said]);
    }
}

#[test]
fn not_more_runs_are_hit_than_were_confirmed_and_all_failures_count() {
    let part = AtomicUsize::new(0);
    let api = Api::start(move |_| match part.fetch_add(1, Ordering::Relaxed) {
        0 => answer(200, &counted(30)),
        // The server lists the first few of those that it could not be done to.
        _ => answer(202, &operation("done", (30, 5, 25))),
    });
    let home = Home::new();
    let mut script = home.of("script");
    script.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").env("TERM", "xterm");
    let line = format!("{} cancel -Q job:etl", env!("CARGO_BIN_EXE_mainspring"));
    let script = script.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = script.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"y\n").unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    ended.check(1, &["Cancel 30 runs? [y/N]", "5 runs done, 25 could not be"], &[]);
    assert_eq!(api.asked()[1].body["expected_max"], 30);
}

#[test]
fn who_does_not_want_to_be_asked_means_all_that_match() {
    let part = AtomicUsize::new(0);
    let api = Api::start(move |_| match part.fetch_add(1, Ordering::Relaxed) {
        0 => answer(200, &counted(30)),
        _ => answer(202, &operation("done", (30, 30, 0))),
    });
    // The runs of a job that keeps submitting are more at each look.
    let words = ["cancel", "-Q", "job:etl", "-y"];
    check(&Home::new(), &api, &words, 0, &[], &["30 runs done, 0 could not be"]);
    assert_eq!(api.asked()[1].body["expected_max"], Value::Null);
}

#[test]
fn a_job_names_its_run_beside_busier_namespaces_below() {
    let below = |_| {
        let mut run = failed();
        (run["id"], run["namespace"]) = (json!("run_01hf7yat00000000000000000b"), json!("default/busy"));
        run
    };
    let many: Vec<Value> = (0..100).map(below).collect();
    let api = Api::start(move |line| match line {
        line if line.contains("cursor=") => answer(200, &json!({ "items": [failed()] })),
        line if line.starts_with("GET /v1/runs?") => {
            answer(200, &json!({ "items": many, "next_cursor": "more" }))
        }
        _ => answer(200, &failed()),
    });
    let said = format!("{RUN} is the newest run of etl");
    check(&Home::new(), &api, &["wait", "etl"], 3, &[], &[&said]);
}

#[test]
fn a_bulk_operation_is_followed_to_its_end_and_is_one_answer_for_programs() {
    let (looks, posts) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let api = Api::start(move |line| {
        if line.starts_with("GET") {
            let is_over = looks.fetch_add(1, Ordering::Relaxed) >= 2;
            let now = if is_over { operation("done", (5, 4, 1)) } else { operation("running", (5, 3, 0)) };
            return answer(200, &now);
        }
        match posts.fetch_add(1, Ordering::Relaxed) {
            0 => answer(200, &counted(5)),
            _ => answer(202, &operation("running", (5, 0, 0))),
        }
    });
    let words = ["cancel", "-Q", "job:etl", "-y", "-o", "json"];
    let ended = check(&Home::new(), &api, &words, 1, &[], &["it moved", "4 runs done, 1 could not be"]);
    let total: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&total["matched"], &total["done"]), (&5.into(), &4.into()), "{total}");
    assert_eq!(total["failures"][0]["id"], RUN);
    assert_eq!(api.asked()[1].body["preview"], false);
}

#[test]
fn a_terminal_is_not_commanded_by_the_words_of_others() {
    let evil = "x\x1b[2J\x07\u{9b}8m\ry\x1b]0;z";
    let tame = "x [2J  8m y ]0;z";
    let mut run = failed();
    (run["job_name"], run["submitted_by"], run["cause"]["message"]) = (json!(evil), json!(evil), json!(evil));
    run["progress"] = json!({ "fraction": 0.5, "message": evil, "at": "2026-01-01T00:00:00Z" });
    let reason = json!({ "kind": "paused", "message": evil, "remedy": evil });
    let why = json!({ "id": RUN, "state": "waiting", "summary": evil, "live": true, "reason": reason });
    let entry = json!({ "at": "2026-01-01T00:00:00Z", "kind": "ended", "message": evil });
    let finding = json!({ "severity": "warning", "check": "x", "message": evil, "remedy": evil });
    let doctor =
        json!({ "at": "2026-01-01T00:00:00Z", "healthy": false, "findings": [finding], "checked": [] });
    let api = Api::start(move |line| match line {
        line if line.starts_with("GET /v1/runs?") => answer(200, &json!({ "items": [run] })),
        line if line.ends_with("/why") => answer(200, &why),
        line if line.ends_with("/timeline") => answer(200, &json!({ "items": [entry] })),
        line if line.ends_with("/attempts") => answer(200, &json!({ "items": [] })),
        line if line.ends_with("/doctor") => answer(200, &doctor),
        line if line.ends_with("/cancel") => {
            let problem = json!({
                "type": "about:blank", "title": evil, "status": 409, "code": "conflict", "detail": evil,
                "retry": "never",
            });
            answer(409, &problem)
        }
        line if line.contains("ready") => answer(200, &json!({ "ready": true, "waits_for": [] })),
        _ => answer(200, &run),
    });
    let home = Home::new();
    for (words, code) in [
        (&["runs", "-o", "wide"][..], 0),
        (&["why", RUN], 0),
        (&["describe", RUN], 0),
        (&["wait", RUN], 3),
        (&["doctor"], 1),
        (&["cancel", RUN], 5),
    ] {
        let ended = check(&home, &api, &[words, &["--color", "always"]].concat(), code, &[], &[]);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains(tame), "{words:?}: {said:?}");
        let commands = ["\x1b[2J", "\x1b]", "\x07", "\u{9b}", "\r"];
        assert!(!commands.iter().any(|command| said.contains(command)), "{words:?}: {said:?}");
    }
    let ended = check(&home, &api, &["why", RUN, "-o", "json"], 0, &[], &[]);
    let why: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(why["reason"]["message"], evil, "programs read it as it is");
}
