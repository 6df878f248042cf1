//! Webhooks with the server killed between a call and its answer: a delivery is one run, however often it is sent.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::world::{Store, World, on_every_store};

on_every_store! {
    a_delivery_is_one_run_whoever_dies
}

const DELIVERIES: usize = 6;

/// The bytes of a call.
fn request(path: &str, delivery: usize) -> String {
    let body = format!(r#"{{"id": {delivery}}}"#);
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// A call whose answer nobody waits for.
fn send(world: &World, request: &str) -> TcpStream {
    send_to(&world.url(), request)
}

fn send_to(url: &str, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// What a call is answered; none when the connection was cut.
fn answer(mut stream: TcpStream) -> Option<(u16, Value)> {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, serde_json::from_str(body).ok()?))
}

/// Sends it again until it is answered, as senders do.
fn deliver(world: &World, request: &str) -> (u16, String) {
    deliver_to(world, &world.url(), request)
}

fn deliver_to(world: &World, url: &str, request: &str) -> (u16, String) {
    world.until("the call is answered", |world| {
        let (status, body) = answer(send_to(url, request))?;
        assert!(matches!(status, 200 | 201 | 503), "{status} {body}\n{}", world.logs());
        (status != 503).then(|| (status, body["id"].as_str().unwrap().to_owned()))
    })
}

fn a_delivery_is_one_run_whoever_dies(store: Store) {
    let mut world = World::new(store);
    let done = world.path("done");
    let job = format!(
        "name: deploy\nscript: echo $MAINSPRING_PARAM_ID >> {}\nretry: 0\nparameters: {{id: integer}}\n\
         triggers:\n- webhook: {{dedupe: '{{{{ payload.id }}}}'}}\n  parameters: {{id: '{{{{ payload.id }}}}'}}\n",
        done.display()
    );
    let file = world.path("job.yaml");
    std::fs::write(&file, job).unwrap();
    world.text(&["apply", file.to_str().unwrap(), "--yes"]);
    let made = world.json(&["trigger", "token", "deploy"]);
    let path = made["path"].as_str().unwrap();
    let mut runs = BTreeMap::new();
    for delivery in 0..DELIVERIES {
        let request = request(path, delivery);
        let cut = send(&world, &request);
        if delivery % 2 == 1 {
            // This time it has certainly come through.
            let (status, body) = answer(cut).unwrap();
            assert_eq!(status, 201, "{body}");
        }
        world.kill_server();
        world.start_server();
        let (_, run) = deliver(&world, &request);
        assert_eq!(deliver(&world, &request), (200, run.clone()), "it is the same for ever");
        runs.insert(run, delivery);
    }
    assert_eq!(runs.len(), DELIVERIES);
    let listed = world.json(&["runs", "--job", "deploy", "--limit", "1000"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), DELIVERIES, "{listed}");
    for run in runs.keys() {
        assert_eq!(world.wait(run), Some(0), "{}", world.logs());
    }
    let mut executed: Vec<usize> =
        world.until_file("done").lines().map(|line| line.trim().parse().unwrap()).collect();
    executed.sort_unstable();
    assert_eq!(executed, (0..DELIVERIES).collect::<Vec<_>>(), "each was executed once\n{}", world.logs());
    let history = world.json(&["trigger", "history", "deploy", "--limit", "1000"]);
    let lines = history["items"].as_array().unwrap();
    let mut fired: Vec<&str> = lines
        .iter()
        .filter(|line| line["outcome"] == "fired")
        .map(|line| line["run"].as_str().unwrap())
        .collect();
    fired.sort_unstable();
    assert_eq!(fired, runs.keys().collect::<Vec<_>>(), "each has one line that says so");
    world.text(&["trigger", "token", "deploy", "--revoke"]);
    assert_eq!(answer(send(&world, &request(path, 0))).unwrap().0, 401);
}

#[test]
fn a_call_reaches_the_owner_by_any_server() {
    let mut world = World::empty(Store::Postgres);
    world.add_server("server", None);
    world.add_server("second", None);
    let file = world.path("job.yaml");
    let job = "name: deploy\nscript: 'true'\ntriggers:\n- webhook: {dedupe: '{{ payload.id }}'}\n";
    std::fs::write(&file, job).unwrap();
    world.text(&["apply", file.to_str().unwrap(), "--yes"]);
    let made = world.json(&["trigger", "token", "deploy"]);
    let request = |delivery| request(made["path"].as_str().unwrap(), delivery);
    let second = world.url_of("second");
    let (status, run) = deliver_to(&world, &second, &request(1));
    assert_eq!(status, 201);
    assert_eq!(deliver(&world, &request(1)), (200, run.clone()));
    let wrong = request(1).replace("/v1/hooks/msh_", "/v1/hooks/msh_x");
    assert_eq!(answer(send_to(&second, &wrong)).unwrap().0, 401);
    world.kill_server_named("server");
    assert_eq!(deliver_to(&world, &second, &request(1)), (200, run.clone()), "whoever owns the cell");
    let (_, other) = deliver_to(&world, &second, &request(2));
    assert_ne!(other, run);
    let (logs, token) = (world.logs(), made["token"].as_str().unwrap());
    assert!(logs.contains("a request was not passed on"), "{logs}");
    assert!(!logs.contains(token), "the token is a secret\n{logs}");
}
