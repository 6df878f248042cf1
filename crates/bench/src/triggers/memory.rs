//! A cell with very many triggers, alone in memory: what each takes, what loading costs, and a tick at which nothing is due.

use std::time::Duration;

use anyhow::{Result, ensure};
use mainspring_engine::{Cell, Config, Event, Message, Now, OwnLease, ShelfRead, Tenure, TriggersRead};
use mainspring_model::{Elapsed, Epoch, Timestamp};
use mainspring_store::{Record, RecordQuery};

use super::jobs::{Jobs, Rhythm, daily};
use super::{BYTES_PER_TRIGGER_MAX, Options};
use crate::table::{Bar, Table};
use crate::{cpu_time, live_bytes};

const MINUTE_US: i64 = 60_000_000;
const TICKS: u32 = 10_000;
/// Nothing is due in this hour of the day.
const NOW: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

pub(super) fn measure(options: &Options, table: &mut Table) -> Result<()> {
    let jobs = Jobs::new()?;
    let mut world = World::new();
    let mut loaded = Ok(());
    let grown = live_bytes::growth_of(|| loaded = world.load(&jobs, options.triggers));
    loaded?;
    let count = options.triggers as f64;
    let name = |what: &str| format!("in memory, {} daily triggers, {what}", options.triggers);
    table.add(name("memory of each"), grown as f64 / count, "bytes", Bar::AtMost(BYTES_PER_TRIGGER_MAX));
    table.add(name("CPU to load all"), world.spent.as_secs_f64(), "s", Bar::None);
    let tick = cpu_time::spent_on(|| world.ticks()).as_secs_f64() / f64::from(TICKS);
    ensure!(world.cell.cut().is_none() && world.cell.take_messages().is_empty(), "something was due");
    table.add(name("CPU of a tick at which nothing is due"), tick * 1e6, "µs", Bar::None);
    Ok(())
}

/// Both clocks: here they never differ.
fn both(now: Timestamp) -> Now {
    Now { elapsed: Elapsed::from_micros(now.as_micros()), store: now }
}

struct World {
    cell: Cell,
    now: Timestamp,
    /// CPU time that the cell took to load.
    spent: Duration,
}

impl World {
    fn new() -> Self {
        let tenure = Tenure {
            epoch: Epoch(1),
            lease: OwnLease { until: Elapsed::MAX, extends_until: Elapsed::MAX },
            succeeds_other: false,
            nodes: Vec::new(),
            pause: None,
            memories: Vec::new(),
        };
        let config = Config { poll_every: Duration::from_secs(86_400), ..Config::default() };
        Self { cell: Cell::new(config, tenure, both(NOW)), now: NOW, spent: Duration::ZERO }
    }

    /// Answers what the cell asks for until it asks for nothing more. Making the rows is the store's work and not counted.
    fn load(&mut self, jobs: &Jobs, count: usize) -> Result<()> {
        let mut given = 0;
        loop {
            let messages = self.cell.take_messages();
            if messages.is_empty() {
                break;
            }
            for message in messages {
                let event = match message {
                    Message::Read(query) => {
                        Event::ShelfRead(Box::new(ShelfRead { query, rows: Vec::new(), more: false }))
                    }
                    Message::ReadTriggers(query) => {
                        let rows = page(jobs, &query, given, count)?;
                        given += rows.len();
                        Event::TriggersRead(Box::new(TriggersRead { query, rows, more: given < count }))
                    }
                    _ => continue,
                };
                self.spent += cpu_time::spent_on(|| self.cell.handle(both(self.now), event));
            }
        }
        ensure!(given == count, "{given} of {count} triggers were asked for");
        Ok(())
    }

    fn ticks(&mut self) {
        for _ in 0..TICKS {
            self.now = self.now + Duration::from_millis(1);
            self.cell.handle(both(self.now), Event::Tick);
        }
    }
}

/// The rows that follow.
fn page(jobs: &Jobs, query: &RecordQuery, from: usize, count: usize) -> Result<Vec<Record>> {
    let rows = from..count.min(from + query.limit);
    rows.map(|n| {
        let minute = 60 + (n as i64 * 7) % (22 * 60);
        let cron = daily(Timestamp::from_micros(NOW.as_micros() + minute * MINUTE_US));
        jobs.record(n, &Rhythm { cron, put_at: NOW, each_counts: false })
    })
    .collect()
}
