//! The engine's figures: how many whole cycles one core does, whether that depends on the number of nodes, and
//! how much memory a waiting run takes.
//!
//! A cycle is one submission, one placement and one end, with all their rows written and all their messages
//! taken. It is measured in CPU time of the one thread, with a backlog waiting, in two situations: a full
//! cluster, where a new run waits and a freed node takes the first of the backlog; and a cluster with room,
//! where a new run is placed at once, past a backlog that fits nowhere.

mod cluster;
mod limit;

use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::cpu_time;
use crate::live_bytes;
use crate::table::{Bar, Table};
use cluster::{Cluster, Situation};

const CYCLES_PER_SECOND_MIN: f64 = 200_000.0;
const GROWTH_MAX: f64 = 2.0;
const BYTES_PER_RUN_MAX: f64 = 600.0;

/// Cycles whose writes go into one commit.
const CYCLES_PER_COMMIT: usize = 500;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Nodes of the cluster; the growth is measured to ten times as many.
    #[arg(long, default_value_t = 1_000)]
    nodes: usize,
    /// Runs that wait.
    #[arg(long, default_value_t = 100_000)]
    waiting: usize,
    /// Distinct shapes of runs.
    #[arg(long, default_value_t = 100)]
    shapes: usize,
    /// Cycles in one measurement.
    #[arg(long, default_value_t = 100_000)]
    cycles: usize,
    /// Measurements; the fastest is told, because whatever else the machine does only slows down.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Only this situation, for a profiler.
    #[arg(long)]
    only: Option<Situation>,
}

pub(crate) fn run(options: &Options) -> Result<Table> {
    let mut table = Table::new("engine");
    let situations = [Situation::Full, Situation::Roomy];
    for situation in situations.into_iter().filter(|it| options.only.is_none_or(|only| only == *it)) {
        let few = measure(options, situation, options.nodes, &mut table);
        let many = measure(options, situation, options.nodes * 10, &mut table);
        let name = format!("{}, cost of a cycle with ten times the nodes", situation.name());
        table.add(name, many / few, "×", Bar::AtMost(GROWTH_MAX));
        if situation == Situation::Full {
            let limit = limit::ordered_map(options.waiting, options.cycles);
            table.add("limit: insert into and remove from one ordered map", 1.0 / limit, "/s", Bar::None);
            table.add("a cycle in units of that limit", few / limit, "×", Bar::None);
        }
    }
    Ok(table)
}

/// The seconds of one cycle. The memory of the backlog is told on the way.
fn measure(options: &Options, situation: Situation, nodes: usize, table: &mut Table) -> f64 {
    let mut cluster = Cluster::new(situation, nodes, options.shapes);
    cluster.occupy();
    let grown = live_bytes::growth_of(|| cluster.fill(options.waiting));
    let per_run = grown as f64 / cluster.waiting() as f64;
    let rounds = (0..options.rounds.max(1)).map(|_| round(&mut cluster, options.cycles));
    let seconds = rounds.min().unwrap_or_default().as_secs_f64() / options.cycles as f64;
    let name = |what: &str| format!("{}, {nodes} nodes, {what}", situation.name());
    let bar = if nodes == options.nodes { Bar::AtLeast(CYCLES_PER_SECOND_MIN) } else { Bar::None };
    table.add(name("cycles"), 1.0 / seconds, "/s", bar);
    if situation == Situation::Full && nodes == options.nodes {
        table.add(name("memory of a waiting run"), per_run, "bytes", Bar::AtMost(BYTES_PER_RUN_MAX));
    }
    seconds
}

/// CPU time of `cycles` cycles. Making the requests is the callers' work and not counted.
fn round(cluster: &mut Cluster, cycles: usize) -> Duration {
    let mut spent = Duration::ZERO;
    for _ in 0..cycles.div_ceil(CYCLES_PER_COMMIT) {
        let requests = cluster.requests(CYCLES_PER_COMMIT);
        spent += cpu_time::spent_on(|| cluster.cycles(requests));
    }
    cluster.check();
    spent
}
