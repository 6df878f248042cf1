//! Submitting: once is once, through cut connections and from many at the same time.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::world::{Store, World, on_every_store};

on_every_store! {
    the_same_key_is_the_same_run_through_a_cut_connection
    many_submit_batches_at_the_same_time
}

fn the_same_key_is_the_same_run_through_a_cut_connection(store: Store) {
    const KEYS: usize = 6;
    let mut world = World::new(store);
    let script = format!("echo $MAINSPRING_RUN_ID >> {}", world.path("done").display());
    let body = json!({ "spec": { "name": "once", "script": script, "retry": 0 } }).to_string();
    let mut runs = BTreeSet::new();
    for key in 0..KEYS {
        let request = format!(
            "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nIdempotency-Key: {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            world.token(),
            body.len()
        );
        let cut = send(&world, &request);
        match key % 3 {
            // Whoever asks goes away before the answer, and nobody knows how far it came.
            0 => drop(cut),
            // It has certainly come through, and the answer is forgotten with the server.
            1 => {
                let (status, answer) = answer(cut).unwrap();
                assert_eq!(status, 201, "{answer}");
                world.kill_server();
                world.start_server();
            }
            // The server dies at any moment of it.
            _ => {
                world.kill_server();
                world.start_server();
            }
        }
        let again = || {
            world.until("it is answered", |world| {
                let (status, body) = answer(send(world, &request))?;
                assert!(matches!(status, 200 | 201 | 503), "{status} {body}\n{}", world.logs());
                (status != 503).then(|| body["id"].as_str().unwrap().to_owned())
            })
        };
        let run = again();
        assert_eq!(again(), run, "once is once");
        runs.insert(run);
    }
    let listed = world.json(&["runs", "--limit", "100"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), KEYS, "{listed}");
    for run in &runs {
        assert_eq!(world.wait(run), Some(0), "{}", world.logs());
    }
    assert_eq!(executed(&world), runs.into_iter().collect::<Vec<_>>(), "each was executed once");
}

/// The runs that were executed, in order, as often as they were.
fn executed(world: &World) -> Vec<String> {
    let mut runs: Vec<String> = world.until_file("done").lines().map(str::to_owned).collect();
    runs.sort_unstable();
    runs
}

fn send(world: &World, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(world.url().trim_start_matches("http://")).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// What is answered; none when the connection was cut.
fn answer(mut stream: TcpStream) -> Option<(u16, Value)> {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, serde_json::from_str(body).ok()?))
}

fn many_submit_batches_at_the_same_time(store: Store) {
    const CALLERS: usize = 64;
    const EACH: usize = 25;
    let world = World::new(store);
    let token = world.token();
    let script = json!(format!("echo $MAINSPRING_RUN_ID >> {}", world.path("done").display()));
    let call = |caller: usize| {
        let run = |n: usize| {
            format!(
                r#"{{"spec": {{"name": "herd", "script": {script}, "retry": 0}}, "idempotency_key": "{caller}-{n}"}}"#
            )
        };
        let runs: Vec<String> = (0..EACH).map(run).collect();
        let body = format!("{{\"runs\": [{}]}}", runs.join(","));
        let request = format!(
            "POST /v1/runs/batch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            token,
            body.len()
        );
        let (status, body) = answer(send(&world, &request)).unwrap();
        assert!(matches!(status, 200 | 201), "{status} {body}");
    };
    let call = &call;
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            scope.spawn(move || call(caller));
        }
        // Half of them come twice.
        for caller in 0..CALLERS / 2 {
            scope.spawn(move || call(caller));
        }
    });
    let runs = world.until("all are over", |world| {
        let runs = world.json(&["runs", "--limit", "10000"]);
        let runs = runs["items"].as_array().unwrap();
        assert_eq!(runs.len(), CALLERS * EACH);
        let over = runs.iter().all(|run| run["state"] == "success");
        over.then(|| runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>())
    });
    assert_eq!(executed(&world), runs.into_iter().collect::<Vec<_>>(), "each was executed once");
}
