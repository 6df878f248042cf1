//! The listener under load and attack: what strangers hold open costs little and stops nobody else.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::channel::Channel;
use hyper::Request;
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::world::{Store, World};

/// A guard against a test that hangs; no verdict.
const HANG: Duration = Duration::from_secs(600);

/// Sockets for the test itself.
fn raise_own_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// So many connections on which this was sent.
fn sockets(world: &World, count: usize, sent: &str) -> Vec<TcpStream> {
    let open = |_| {
        let mut socket = TcpStream::connect(world.address_of("server")).unwrap();
        socket.set_read_timeout(Some(HANG)).unwrap();
        socket.write_all(sent.as_bytes()).unwrap();
        socket
    };
    (0..count).map(open).collect()
}

/// Reads until the text is there.
fn read_until(socket: &mut TcpStream, words: &str) {
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    while !text.contains(words) {
        let read = socket.read(&mut buffer).unwrap();
        assert!(read > 0, "the connection ended: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
}

/// Reads until the server closes the connection.
fn until_closed(socket: &mut TcpStream) {
    let mut buffer = [0; 4096];
    loop {
        match socket.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return,
            Err(error) => panic!("the server keeps the connection: {error}"),
        }
    }
}

/// Tells the cost to whoever reads the output of the tests, which print macros would keep back.
fn tell(what: &str, count: usize, before_kib: u64, after_kib: u64) -> u64 {
    let cost = after_kib.saturating_sub(before_kib);
    let each = cost as f64 / count as f64;
    let line =
        format!("{count} {what}: {cost} KiB more memory, {each:.1} KiB each ({before_kib} KiB before)");
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
    cost
}

#[test]
fn half_headers_are_closed_and_stop_nobody() {
    raise_own_limit();
    let mut world = World::empty(Store::Sqlite);
    world.set("SERVER__HEADER_TIMEOUT", "3s");
    // Not the limit for each address shall close them.
    world.set("SERVER__CONNECTIONS_PER_ADDRESS_MAX", "5000");
    world.add_server("server", None);
    world.add_agent("one");
    let before = world.memory_kib("server");
    let mut half = sockets(&world, 1_000, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
    half.extend(sockets(&world, 100, ""));
    tell("half headers", half.len(), before, world.memory_kib("server"));
    assert_eq!(world.get("/healthz").0, 200);
    let run = world.submit(&[], "true");
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    half.iter_mut().for_each(until_closed);
    assert!(world.logs().contains("closed by the limits of the listener"), "{}", world.logs());
}

#[test]
fn an_address_has_a_limit_until_it_authenticates() {
    raise_own_limit();
    let mut world = World::empty(Store::Sqlite);
    world.set("SERVER__HEADER_TIMEOUT", "10m");
    world.set("SERVER__CONNECTIONS_PER_ADDRESS_MAX", "50");
    world.add_server("server", None);
    world.add_agent("one");
    let mut half = sockets(&world, 1_100, "GET / HTTP/1.1\r\nX-Slow: ");
    // All but the newest made room, though no time limit has passed.
    half.drain(..1_050).for_each(|mut socket| until_closed(&mut socket));
    assert_eq!(world.get("/healthz").0, 200);
    let run = world.submit(&[], "true");
    assert_eq!(world.wait(&run), Some(0), "the node stays connected: {}", world.logs());
}

#[test]
fn five_thousand_idle_connections_are_held() {
    raise_own_limit();
    let mut world = World::empty(Store::Sqlite);
    world.set("SERVER__IDLE_TIMEOUT", "1h");
    world.add_server("server", None);
    let request =
        format!("GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", world.token());
    sockets(&world, 10, &request).iter_mut().for_each(|socket| read_until(socket, "}"));
    let before = world.memory_kib("server");
    let mut idle = Vec::new();
    for _ in 0..100 {
        let mut some = sockets(&world, 50, &request);
        some.iter_mut().for_each(|socket| read_until(socket, "subject"));
        idle.append(&mut some);
    }
    let cost = tell("idle connections", idle.len(), before, world.memory_kib("server"));
    assert!(cost < 5_000 * 64, "{cost} KiB");
    assert_eq!(world.get("/healthz").0, 200);
    for socket in idle.iter_mut().step_by(100) {
        socket.write_all(request.as_bytes()).unwrap();
        read_until(socket, "subject");
    }
}

#[test]
fn a_thousand_watchers_all_hear() {
    raise_own_limit();
    let world = World::new(Store::Sqlite);
    let before = world.memory_kib("server");
    let request = format!(
        "GET /v1/watch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        world.token()
    );
    let mut watchers = sockets(&world, 1_000, &request);
    watchers.iter_mut().for_each(|socket| read_until(socket, "id: "));
    tell("watchers", watchers.len(), before, world.memory_kib("server"));
    let run = world.submit(&[], "true");
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    watchers.iter_mut().for_each(|socket| read_until(socket, &run));
    let cost = tell("watchers after a run", watchers.len(), before, world.memory_kib("server"));
    assert!(cost < 1_000 * 256, "{cost} KiB");
}

#[test]
fn joins_that_are_never_finished_cost_little_and_end() {
    let mut world = World::empty(Store::Sqlite);
    world.set("SERVER__BODY_TIMEOUT", "5s");
    world.add_server("server", None);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let before = world.memory_kib("server");
    let (ended, peak_kib) = runtime.block_on(async {
        // Half of them name a length that is too large, the others one that is allowed, of which the last byte never comes.
        let address = world.address_of("server");
        let length = |number: u32| if number.is_multiple_of(2) { 16 << 20 } else { 60 << 10 };
        let calls: Vec<_> =
            (0..60).map(|number| tokio::spawn(join(address.clone(), length(number)))).collect();
        let (mut ended, mut peak_kib) = (Vec::new(), 0);
        for call in calls {
            ended.push(tokio::time::timeout(HANG, call).await.expect("the server ends it").unwrap());
            peak_kib = peak_kib.max(world.memory_kib("server"));
        }
        (ended, peak_kib)
    });
    let cost = tell("unfinished joins", ended.len(), before, peak_kib);
    assert!(cost < 64 << 10, "{cost} KiB");
    assert!(ended.iter().all(|answer| *answer != "0"), "{ended:?}");
    assert_eq!(world.get("/healthz").0, 200);
}

#[test]
fn who_speaks_http2_is_told_how_many_requests_it_may_have() {
    let mut world = World::empty(Store::Sqlite);
    world.set("SERVER__STREAMS_MAX", "7");
    world.add_server("server", None);
    // The beginning of a connection, and a frame of settings (4) without any.
    let mut socket = sockets(&world, 1, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0").remove(0);
    let mut head = [0; 9];
    socket.read_exact(&mut head).unwrap();
    assert_eq!(head[3], 4, "the server's settings come first");
    let mut settings = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
    socket.read_exact(&mut settings).unwrap();
    // Number 3 is SETTINGS_MAX_CONCURRENT_STREAMS.
    let streams = settings.chunks(6).find(|setting| setting[..2] == [0, 3]).expect("a limit");
    assert_eq!(streams[2..], 7_u32.to_be_bytes());
}

type Client = SendRequest<Channel<Bytes, std::io::Error>>;

async fn connect(address: &str) -> Client {
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    let (client, connection) = builder.handshake(TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A join on a connection of its own.
async fn join(address: String, length: u32) -> String {
    let mut client = connect(&address).await;
    begin_join(&mut client, &address, length).await
}

/// A join of which all but the last byte is sent; it is on its way when this returns. Tells the status that the server ended
/// it with.
fn begin_join(client: &mut Client, address: &str, length: u32) -> impl Future<Output = String> + use<> {
    let (mut sender, body) = Channel::<Bytes, std::io::Error>::new(1);
    let request = Request::post(format!("http://{address}/mainspring.agent.v1.AgentService/Join"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(body)
        .unwrap();
    let answer = client.send_request(request);
    let sending = async move {
        let mut head = vec![0];
        head.extend(length.to_be_bytes());
        let _ = sender.send_data(head.into()).await;
        let mut left = length as usize - 1;
        while left > 0 {
            let part = left.min(16 << 10);
            if sender.send_data(vec![0; part].into()).await.is_err() {
                break;
            }
            left -= part;
        }
        // It stays open.
        sender
    };
    async move {
        let sending = tokio::spawn(sending);
        let answer = answer.await;
        sending.abort();
        match answer {
            Ok(answer) => match answer.headers().get("grpc-status") {
                Some(status) => status.to_str().unwrap().to_owned(),
                None => "none".to_owned(),
            },
            Err(_) => "broken".to_owned(),
        }
    }
}
