//! `mainspring nodes`: the machines and processes that execute.

use std::process::ExitCode;

use anstyle::Style;
use clap::{Args, ValueEnum};
use mainspring_client::api::Node;
use mainspring_model::{Labels, quantity};

use super::watching::watch;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{BAD, Column, DIM, GOOD, Row, Table, WARN, age, bytes, clock};

/// What `nodes` takes.
#[derive(Debug, Args)]
pub(crate) struct Nodes {
    /// Of this pool
    #[arg(long)]
    pool: Option<String>,
    /// In this state: up, draining, lost or left
    #[arg(long, value_enum, hide_possible_values = true)]
    state: Option<State>,
    /// Draw the list again whenever something changes; with -o json, the whole list on one line each time
    #[arg(short, long)]
    watch: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    Up,
    Draining,
    Lost,
    Left,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Draining => "draining",
            Self::Lost => "lost",
            Self::Left => "left",
        }
    }
}

const COLUMNS: &[Column] = &[
    Column::always("NAME"),
    Column::always("POOL"),
    Column::always("STATE"),
    Column::always("RUNNING"),
    Column::clock("CPU USED"),
    Column::clock("MEMORY USED"),
    Column::clock("SEEN"),
    Column::wide("LABELS"),
    Column::wide("HANDLERS"),
    Column::wide("ID"),
];

impl Nodes {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if self.watch {
            watch(context, || self.list(context), |nodes| self.table(nodes)).await?;
        } else {
            let nodes = self.list(context).await?;
            context.output.list(&nodes, || self.table(&nodes))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn list(&self, context: &Context) -> Result<Vec<Node>, Failure> {
        Ok(context.client.nodes(self.pool.as_deref(), self.state.map(State::name)).all().await?)
    }

    fn table(&self, nodes: &[Node]) -> Table {
        let pool = self.pool.as_ref().map(|pool| format!(" in the pool `{pool}`")).unwrap_or_default();
        let state = self.state.map(|state| format!(" in the state `{}`", state.name())).unwrap_or_default();
        match format!("{pool}{state}") {
            all if all.is_empty() => table(nodes),
            some => table(nodes).when_empty(format!("no nodes{some}; `mainspring nodes` lists all")),
        }
    }
}

/// The table of nodes.
pub(crate) fn table(nodes: &[Node]) -> Table {
    let now = clock();
    Table::new(COLUMNS, "no nodes; `mainspring node token` lets one join").rows(nodes.iter().map(|node| {
        let (state, style) = state(node);
        let cpu = quantity::format_milli(node.capacity.cpu_milli);
        let cpu = match node.cpu_used_milli {
            // A process that runs functions has none to give away.
            _ if node.capacity.cpu_milli == 0 => String::new(),
            Some(used) => format!("{:.1} of {cpu}", used as f64 / 1000.0),
            None => cpu,
        };
        let memory = bytes(node.capacity.memory_bytes);
        let memory = match node.memory_used_bytes {
            _ if node.capacity.memory_bytes == 0 => String::new(),
            Some(used) => format!("{} of {memory}", bytes(used)),
            None => memory,
        };
        Row::new(&node.name)
            .cell(&node.name)
            .cell(&node.pool)
            .styled(state, style)
            .cell(running(node))
            .cell(cpu)
            .cell(memory)
            .cell(node.seen_at.map(|at| age(at.0, now)).unwrap_or_default())
            .cell(labels(&node.labels))
            .cell(node.handlers.join(","))
            .cell(node.id)
    }))
}

/// How many attempts it holds, of how many it takes; one that leaves takes none.
pub(crate) fn running(node: &Node) -> String {
    let running = node.running.map_or_else(|| "?".to_owned(), |running| running.to_string());
    if node.slots == 0 { running } else { format!("{running} of {}", node.slots) }
}

/// The state in a word: a node that is up but not connected is worth a look.
pub(crate) fn state(node: &Node) -> (&str, Style) {
    match (node.state.name(), node.connected) {
        ("up", Some(false)) => ("up, silent", WARN),
        ("up", _) => ("up", GOOD),
        ("draining", _) => ("draining", WARN),
        ("lost", _) => ("lost", BAD),
        (other, _) => (other, DIM),
    }
}

/// Labels on one line.
pub(crate) fn labels(labels: &Labels) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}
