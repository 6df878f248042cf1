//! A database that starts after its server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::world::{Store, World, free_port};

/// Connections that are told that the database starts, before it is there.
const STARTING_UP: usize = 3;

/// Where the database will be: first it says that it is starting up, then it is the database at `real`.
fn start_database(port: u16, real: String) {
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    std::thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let mut client = client.unwrap();
            if number < STARTING_UP {
                let mut startup = [0; 1024];
                let _ = client.read(&mut startup);
                let _ = client.write_all(&starting_up());
                continue;
            }
            let server = TcpStream::connect(&real).unwrap();
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || pass(from, to));
            std::thread::spawn(move || pass(server, client));
        }
    });
}

/// The answer of PostgreSQL while it recovers: an `ErrorResponse` with the code 57P03.
fn starting_up() -> Vec<u8> {
    let fields = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0";
    let mut message = vec![b'E'];
    message.extend((fields.len() as u32 + 4).to_be_bytes());
    message.extend(fields);
    message
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

#[test]
fn a_server_waits_for_its_store_and_says_so() {
    let mut world = World::empty(Store::Postgres);
    let (real, port) = (world.store_address(), free_port());
    world.set_store(world.store_with(&real, &format!("127.0.0.1:{port}")));
    world.begin_server("server");
    world.until("the server says what it waits for", |world| {
        TcpStream::connect(world.address_of("server")).ok()?;
        let (status, said) = world.get("/readyz");
        assert_eq!((status, &said["waits_for"][0]), (503, &"store".into()), "{said}");
        Some(())
    });
    assert_eq!(world.get("/healthz").0, 200);
    let (status, said) = world.get("/v1/me");
    assert_eq!((status, &said["code"]), (503, &"store_unavailable".into()), "{said}");
    assert!(world.logs().contains("the store is away; the server waits for it"), "{}", world.logs());
    start_database(port, real);
    world.until_ready("server");
    world.add_agent("one");
    let run = world.submit(&[], "true");
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
}

#[test]
fn a_server_that_waits_is_stopped_as_any_other() {
    let mut world = World::empty(Store::Postgres);
    world.set_store(world.store_with(&world.store_address(), &format!("127.0.0.1:{}", free_port())));
    world.begin_server("server");
    world.until("the server waits", |world| world.logs().contains("the store is away").then_some(()));
    assert!(world.stop_server().success());
}

#[test]
fn what_waiting_does_not_change_ends_the_server_at_once() {
    let mut world = World::bare(Store::Sqlite);
    let postgres = World::empty(Store::Postgres);
    let address = postgres.store_address();
    for (url, words) in [
        (postgres.store_with("/e2e_", "/none_"), "does not exist"),
        (postgres.store_with(&address, "no.such.host.invalid"), "cannot connect to PostgreSQL"),
    ] {
        world.set_store(url);
        let mut command = world.binary();
        command.args(["server", "--listen", "127.0.0.1:0", "--data"]).arg(world.path("other"));
        let ended = command.args(["--store", world.store()]).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success() && said.contains(words), "{said}");
    }
}
