//! Submitting: once is once, through cut connections and from many at the same time.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::world::{Store, World, on_every_store};

on_every_store! {
    the_same_key_is_the_same_run_through_a_cut_connection
    many_submit_batches_at_the_same_time
}

fn the_same_key_is_the_same_run_through_a_cut_connection(store: Store) {
    let world = World::new(store);
    let body = r#"{"spec": {"name": "once", "script": "echo once"}}"#;
    let token = world.token();
    let request = format!(
        "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nIdempotency-Key: only\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        token,
        body.len()
    );
    let address = world.url().trim_start_matches("http://").to_owned();
    // Whoever asks goes away before the answer.
    let mut cut = TcpStream::connect(&address).unwrap();
    cut.write_all(request.as_bytes()).unwrap();
    drop(cut);
    let mut whole = TcpStream::connect(&address).unwrap();
    whole.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    whole.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
    let runs = world.json(&["runs"]);
    let runs = runs["items"].as_array().unwrap();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(world.wait(runs[0]["id"].as_str().unwrap()), Some(0));
}

fn many_submit_batches_at_the_same_time(store: Store) {
    const CALLERS: usize = 64;
    const EACH: usize = 25;
    let world = World::bare(store);
    let token = world.token();
    let address = world.url().trim_start_matches("http://").to_owned();
    let call = |caller: usize| {
        let run = |n: usize| {
            format!(r#"{{"spec": {{"name": "herd", "script": "true"}}, "idempotency_key": "{caller}-{n}"}}"#)
        };
        let runs: Vec<String> = (0..EACH).map(run).collect();
        let body = format!("{{\"runs\": [{}]}}", runs.join(","));
        let request = format!(
            "POST /v1/runs/batch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            token,
            body.len()
        );
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
    };
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            scope.spawn(move || call(caller));
        }
        // Half of them come twice.
        for caller in 0..CALLERS / 2 {
            scope.spawn(move || call(caller));
        }
    });
    let runs = world.json(&["runs", "--limit", "10000"]);
    let runs = runs["items"].as_array().unwrap();
    assert_eq!(runs.len(), CALLERS * EACH);
    assert!(runs.iter().all(|run| run["state"] == "waiting"), "there is no node");
}
