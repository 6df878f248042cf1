//! Waiting for a run, and following its output: what the person is told meanwhile.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::api::{Api, answer, events, problem_later};
use crate::binary::{Ended, Home};

const RUN: &str = "run_01hf7yat00000000000000000a";
const JOB: &str = "job_00000000000000000000000001";

fn run(state: &str, attempt: u32) -> Value {
    json!({
        "id": RUN, "namespace": "default", "job": JOB, "job_name": "etl", "job_version": 1, "ad_hoc": true,
        "state": state, "version": 1, "attempt": attempt, "attempts_max": 3, "losses": 0, "priority": 0,
        "submitted_by": "ann", "created_at": "2026-01-01T00:00:00Z",
    })
}

fn submitted() -> Value {
    json!({ "id": RUN, "namespace": "default", "job": JOB, "job_version": 1, "duplicate": false })
}

/// Submits and waits beside a server whose run goes through these states, one at each look; the last comes when it was asked
/// why the run waits, if there is an answer to that.
fn wait(language: &str, runs: Vec<Value>, why: Value) -> Ended {
    let (looks, told) = (AtomicUsize::new(0), AtomicBool::new(why.is_null()));
    let api = Api::start(move |line| match line {
        "POST /v1/runs" => answer(201, &submitted()),
        line if line.ends_with("/why") => {
            told.store(true, Ordering::SeqCst);
            answer(200, &why)
        }
        line if line.contains("/logs?") || line.contains("/watch") => events(": keep\n\n"),
        _ => {
            let look = looks.fetch_add(1, Ordering::SeqCst);
            let last = runs.len() - if told.load(Ordering::SeqCst) { 1 } else { 2 };
            answer(200, &runs[look.min(last)])
        }
    });
    let home = Home::new();
    let mut command = home.command();
    command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").env("LC_ALL", language);
    Ended::of(command.args(["submit", "--wait", "--", "true"]).output().unwrap())
}

#[test]
fn an_attempt_that_failed_is_told_with_its_cause_and_the_next() {
    let mut failed = run("failed", 1);
    failed["cause"] = json!({ "kind": "exit", "message": "exit code 3", "exit_code": 3 });
    failed["reason"] = json!({
        "kind": "backoff", "message": "attempt 2 of 3 is due at 2026-01-01T00:00:05Z", "remedy": "it is retried",
        "message_zh": "第 2 次", "remedy_zh": "等待", "until": "2026-01-01T00:00:05Z",
    });
    let runs = vec![run("running", 1), failed.clone(), failed, run("success", 2)];
    let said = "attempt 1 of 3: exit code 3; attempt 2 of 3 is due at 2026-01-01T00:00:05Z (in ";
    let ended = wait("C", runs.clone(), Value::Null).check(0, &[], &[said]);
    assert_eq!(ended.stderr.matches("exit code 3").count(), 1, "{ended:?}");
    // The server has no Chinese words for a cause: they are a line of their own.
    let ended = wait("zh_CN.UTF-8", runs, Value::Null);
    ended.check(0, &[], &["attempt 1 of 3: exit code 3\n第 2 次（还有 "]);
}

#[test]
fn what_a_run_waits_for_is_told_once_in_the_persons_language() {
    let reason = json!({
        "kind": "no_node", "message": "no node matches", "remedy": "add a node", "message_zh": "没有节点",
        "remedy_zh": "添加节点",
    });
    let why = json!({
        "id": RUN, "state": "waiting", "summary": "no node matches; add a node", "live": true, "reason": reason,
    });
    let runs = vec![run("waiting", 0), run("success", 1)];
    let ended = wait("C", runs.clone(), why.clone());
    let ended = ended.check(0, &[], &["waiting: no node matches\n", "next: add a node\n"]);
    assert_eq!(ended.stderr.matches("add a node").count(), 1, "{ended:?}");
    wait("zh_CN.UTF-8", runs, why).check(0, &[], &["等待：没有节点\n", "下一步：添加节点\n"]);
}

#[test]
fn a_server_that_restarts_right_after_the_submit_is_waited_for() {
    let line = json!({ "offset": 0, "at": "2026-01-01T00:00:00Z", "stream": "stdout", "text": "hello\n" });
    let log = format!("event: line\nid: 1\ndata: {line}\n\nevent: end\ndata: {{}}\n\n");
    let (logs, looks, served) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    // More often than one call tries again.
    let is_away = |calls: &AtomicUsize| calls.fetch_add(1, Ordering::SeqCst) < 6;
    let api = Api::start(move |line| match line {
        "POST /v1/runs" => answer(201, &submitted()),
        line if line.contains("/logs?") && is_away(&logs) => problem_later(503, "store_unavailable"),
        line if line.contains("/logs?") => {
            served.store(true, Ordering::SeqCst);
            events(&log)
        }
        line if line.contains("/watch") => events(": keep\n\n"),
        _ if is_away(&looks) => problem_later(503, "store_unavailable"),
        _ => answer(200, &run(if served.load(Ordering::SeqCst) { "success" } else { "running" }, 1)),
    });
    let home = Home::new();
    let mut command = home.command();
    command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test");
    let ended = Ended::of(command.args(["submit", "--wait", "--", "true"]).output().unwrap());
    assert_eq!(ended.check(0, &[], &["the server is away; waiting\n"]).stdout, "hello\n");
}

#[test]
fn a_log_is_not_followed_where_there_is_no_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let home = Home::new();
    let mut command = home.of("timeout");
    command.args(["600", env!("CARGO_BIN_EXE_mainspring"), "logs", "-f", RUN, "--url", &url]);
    Ended::of(command.output().unwrap()).check(6, &[], &["cannot reach", "next: start a server"]);
}
