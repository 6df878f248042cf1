//! A store that is away for a while, as in a managed failover: tasks on connected nodes go on.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::crashes::{executions, patient};
use crate::world::{Store, World, free_port, lives};

/// Longer than nodes may be silent, and than a scheduler's own lease lasts.
const AWAY: Duration = Duration::from_secs(45);

/// The way to the database. While it is shut, every connection is refused and the open ones are reset.
struct Gate {
    passing: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Gate {
    fn open(port: u16, real: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let passing = Arc::new(Mutex::new(Some(Vec::new())));
        let gate = Self { passing: Arc::clone(&passing) };
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Some(streams)) = (client, &mut *passing.lock().unwrap()) else { continue };
                let server = TcpStream::connect(&real).unwrap();
                streams.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || pass(from, to));
                std::thread::spawn(move || pass(server, client));
            }
        });
        gate
    }

    fn shut(&self) {
        for stream in self.passing.lock().unwrap().take().unwrap_or_default() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn reopen(&self) {
        *self.passing.lock().unwrap() = Some(Vec::new());
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn a_store_that_is_away_for_45_s_ends_no_task() {
    let mut world = World::empty(Store::Postgres);
    let (real, port) = (world.store_address(), free_port());
    let gate = Gate::open(port, real.clone());
    world.set_store(world.store_with(&real, &format!("127.0.0.1:{port}")));
    world.add_server("server", None);
    world.add_agent("one");
    let run = world.submit(&["--retries", "0"], &patient(&world));
    let pid = world.until_file("begun");
    gate.shut();
    std::thread::sleep(AWAY);
    assert!(lives(&pid), "{}", world.logs());
    gate.reopen();
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert_eq!(executions(&world), 1);
    let row = world.run(&run);
    assert_eq!((&row["run"]["attempt"], &row["run"]["losses"]), (&1.into(), &0.into()), "{row}");
    assert!(world.logs().contains("the store is away and the lease is over"), "{}", world.logs());
}
