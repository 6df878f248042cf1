//! A store that is away for a while, as in a managed failover: tasks on connected nodes go on.

use std::time::Duration;

use crate::crashes::{executions, patient};
use crate::world::{Postgres, Store, World, lives};

/// Longer than nodes may be silent, and than a scheduler's own lease lasts.
const AWAY: Duration = Duration::from_secs(45);

#[test]
fn a_postgres_that_is_stopped_for_45_s_ends_no_task() {
    let mut postgres = Postgres::start();
    let mut world = World::empty(Store::Sqlite);
    world.set_store(postgres.url().to_owned());
    world.add_server("server", None);
    world.add_agent("one");
    let run = world.submit(&["--retries", "0"], &patient(&world));
    let pid = world.until_file("begun");
    postgres.stop();
    std::thread::sleep(AWAY);
    assert!(lives(&pid), "{}", world.logs());
    postgres.start_again();
    world.until_ready("server");
    std::fs::write(world.path("go"), "").unwrap();
    assert_eq!(world.wait(&run), Some(5), "{}", world.logs());
    assert_eq!(executions(&world), 1);
    let row = world.run(&run);
    assert_eq!((&row["run"]["attempt"], &row["run"]["losses"]), (&1.into(), &0.into()), "{row}");
    for said in ["the store is away and the lease is over", "the store is back and nobody took the cell"] {
        assert_eq!(world.logs().matches(said).count(), 1, "{}", world.logs());
    }
}
