//! `--watch` beside a server that goes, hangs and comes back.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::api::{Api, answer, events, problem_later};
use crate::binary::Home;

fn run(name: &str) -> Value {
    json!({
        "id": "run_01hf7yat00000000000000000a", "namespace": "default", "job": "job_00000000000000000000000001",
        "job_name": name, "job_version": 1, "ad_hoc": true, "state": "running", "version": 1, "attempt": 1,
        "losses": 0, "priority": 0, "submitted_by": "ann", "created_at": "2026-01-01T00:00:00Z",
        "started_at": "2026-01-01T00:00:00Z",
    })
}

fn list(name: &str) -> axum::response::Response {
    answer(200, &json!({ "items": [run(name)] }))
}

fn watch(home: &Home, api: &Api) -> Child {
    let mut command = home.command();
    command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").args(["runs", "--watch"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn interrupt(mut child: Child) -> Option<i32> {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    child.wait().unwrap().code()
}

#[test]
fn a_watch_outlives_the_server_and_rows_that_only_grow_older_are_told_once() {
    let looks = AtomicUsize::new(0);
    let api = Api::start(move |line| {
        if line.starts_with("GET /v1/watch") {
            return events(": keep\n\n");
        }
        match looks.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => list("first"),
            // Longer than one call tries again.
            2..=7 => problem_later(503, "store_unavailable"),
            _ => list("second"),
        }
    });
    let home = Home::new();
    let mut child = watch(&home, &api);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut seen = Vec::new();
    for line in lines {
        seen.push(line);
        if seen.last().is_some_and(|line| line.contains("second")) {
            break;
        }
    }
    assert_eq!(seen.len(), 3, "a heading and two rows: {seen:#?}");
    let mut words = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut words).unwrap();
    assert!(words.contains("; waiting"), "{words}");
    assert_eq!(interrupt(child), Some(130));
}

#[test]
fn words_about_a_server_that_was_away_do_not_stay_on_the_screen() {
    let looks = AtomicUsize::new(0);
    let api = Api::start(move |line| {
        if line.starts_with("GET /v1/watch") {
            return events(": keep\n\n");
        }
        match looks.fetch_add(1, Ordering::SeqCst) {
            1..=6 => problem_later(503, "store_unavailable"),
            // Days are all that is told of its age: the same words as before.
            _ => list("first"),
        }
    });
    let home = Home::new();
    let mut script = home.of("timeout");
    script.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").env("TERM", "xterm");
    let line = format!("stty rows 24 cols 120; exec {} runs --watch", env!("CARGO_BIN_EXE_mainspring"));
    let script = script.args(["600", "script", "-qec", &line, "/dev/null"]).stdin(Stdio::null());
    let mut child = script.stdout(Stdio::piped()).spawn().unwrap();
    let (mut screen, mut drawn, mut piece) = (child.stdout.take().unwrap(), String::new(), [0; 512]);
    let is_redrawn =
        |drawn: &str| drawn.split_once("; waiting").is_some_and(|(_, then)| then.contains("run_"));
    while !is_redrawn(&drawn) {
        let read = screen.read(&mut piece).unwrap();
        assert_ne!(read, 0, "{drawn}");
        drawn.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    std::thread::spawn(move || std::io::copy(&mut screen, &mut std::io::sink()));
    interrupt(child);
}

#[test]
fn ctrl_c_ends_a_watch_of_a_server_that_hangs() {
    let (hangs, asked) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let (hangs, released) = (Mutex::new(hangs), Mutex::new(released));
    let looks = AtomicUsize::new(0);
    let api = Api::start(move |line| {
        if line.starts_with("GET /v1/watch") {
            return events(": keep\n\n");
        }
        if looks.fetch_add(1, Ordering::SeqCst) > 0 {
            // The second listener is in place when the second list is asked for.
            let _ = hangs.lock().unwrap().send(());
            let _ = released.lock().unwrap().recv();
        }
        list("first")
    });
    let home = Home::new();
    let child = watch(&home, &api);
    asked.recv().unwrap();
    assert_eq!(interrupt(child), Some(130));
    drop(release);
}
