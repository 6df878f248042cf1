//! Nodes and pools: listed with what their owners know, emptied, taken back, labelled.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use mainspring_model::{
    CellId, ErrorCode, Labels, Namespace, Node, NodeId, Resources, duration_text, limits as model_limits,
};
use mainspring_store::{Outcome, Record, RecordKey, Write};
use mainspring_wire::api::{self, DrainRequest, NodeLabels, Page, Pool};

use crate::app::App;
use crate::audit;
use crate::error::{Error, Result};
use crate::limits::{DRAIN_PATIENCE_DEFAULT, LOAD_NODES_MAX};
use crate::operation::Operation;
use crate::paging::{PageRequest, page};
use crate::ports::{Command, LiveNode, LoadSample, NodeLoad};
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::record;

/// Which nodes, and what of them.
#[derive(Debug, Clone, Default)]
pub struct NodesQuery {
    /// Only of this pool.
    pub pool: Option<String>,
    /// Only in this state.
    pub state: Option<api::NodeState>,
    /// As viewers of this namespace may see them.
    pub namespace: Option<Namespace>,
    /// With what they used in the last hour.
    pub load: bool,
}

impl App {
    /// Nodes, in the order in which they joined.
    pub async fn list_nodes(
        &self,
        caller: &Caller,
        query: &NodesQuery,
        request: &PageRequest,
    ) -> Result<Page<api::Node>> {
        let reduced = self.allow_view(caller, Operation::NodeList, query.namespace.as_ref()).await?;
        let rows = request.rows()?;
        if query.load && rows > LOAD_NODES_MAX {
            let message = format!("a page with load has at most {LOAD_NODES_MAX} items");
            return Err(Error::field(ErrorCode::InvalidRequest, "limit", message));
        }
        let part = self.store.all_nodes(request.after()?, rows).await?;
        let next_cursor = part.rows.last().filter(|_| part.more).map(|node| node.id.to_string());
        let mut live = LiveNodes::default();
        let mut items = Vec::new();
        for node in &part.rows {
            let wanted = query.pool.as_deref().is_none_or(|pool| pool == &*node.pool)
                && query.state.is_none_or(|state| state == api::NodeState::of(node));
            if wanted {
                let seen = self.describe_node(node, &mut live).await?;
                items.push(if reduced { seen.reduced() } else { seen });
            }
        }
        if query.load && !reduced {
            self.add_loads(&mut items).await;
        }
        Ok(Page { next_cursor, ..page(items, false, |_| String::new()) })
    }

    /// A node, with what it used in the last hour.
    pub async fn node(&self, caller: &Caller, node: NodeId) -> Result<api::Node> {
        self.allow(caller, Operation::NodeGet, None).await?;
        let found = self.find_node(node).await?;
        let mut seen = self.describe_node(&found, &mut LiveNodes::default()).await?;
        self.add_loads(std::slice::from_mut(&mut seen)).await;
        Ok(seen)
    }

    /// Goes on if the caller may look at nodes, or, with a namespace, at what its viewers may see. Tells whether it is only
    /// that: a name, a pool, the state and the room do not say who runs what, and people have to know why their runs wait.
    async fn allow_view(
        &self,
        caller: &Caller,
        operation: Operation,
        namespace: Option<&Namespace>,
    ) -> Result<bool> {
        if caller.principal.may(operation, None) {
            return Ok(false);
        }
        let operation = if namespace.is_some() { Operation::NodeGlance } else { operation };
        self.allow(caller, operation, namespace).await?;
        Ok(true)
    }

    /// Adds what nodes used in the last hour, where their owners answer.
    async fn add_loads(&self, nodes: &mut [api::Node]) {
        let mut by_cell: BTreeMap<u16, Vec<NodeId>> = BTreeMap::new();
        for node in nodes.iter() {
            by_cell.entry(node.cell).or_default().push(node.id);
        }
        for (cell, ids) in by_cell {
            let loads = self.cells.loads(CellId(cell), &ids).await.unwrap_or_default();
            let mut loads: BTreeMap<NodeId, NodeLoad> =
                loads.into_iter().map(|load| (load.node, load)).collect();
            for node in nodes.iter_mut().filter(|node| node.cell == cell) {
                node.load = loads.remove(&node.id).map(describe_load);
            }
        }
    }

    /// Pools, by name, with their nodes added up.
    pub async fn list_pools(&self, caller: &Caller, namespace: Option<&Namespace>) -> Result<Vec<Pool>> {
        self.allow_view(caller, Operation::PoolList, namespace).await?;
        let mut pools: BTreeMap<Box<str>, Pool> = BTreeMap::new();
        let mut live = LiveNodes::default();
        let mut after = None;
        loop {
            let part = self.store.all_nodes(after, model_limits::PAGE_ROWS_MAX).await?;
            for node in &part.rows {
                let pool = pools.entry(node.pool.clone()).or_insert_with(|| empty_pool(&node.pool));
                let known = live.find(self, node).await;
                add_to_pool(pool, node, known.as_ref());
            }
            match part.rows.last().filter(|_| part.more) {
                Some(last) => after = Some(last.id),
                None => return Ok(pools.into_values().collect()),
            }
        }
    }

    /// Empties a node: nothing new starts there, and what runs may go on as long as patience lasts.
    pub async fn drain_node(
        &self,
        caller: &Caller,
        node: NodeId,
        request: DrainRequest,
        condition: Precondition,
    ) -> Result<api::Node> {
        self.allow(caller, Operation::NodeDrain, None).await?;
        let patience = match request.patience.as_deref() {
            None => DRAIN_PATIENCE_DEFAULT,
            Some(text) => duration_text::parse(text)
                .map_err(|error| Error::field(ErrorCode::InvalidRequest, "patience", error.to_string()))?,
        };
        let command = Command::Drain { node, deadline: Some(self.now() + patience) };
        let entry = audit::Entry {
            detail: Some(duration_text::format(patience).into()),
            ..caller.entry(self.now(), Operation::NodeDrain, None)
        };
        self.command_node(node, command, entry, condition).await
    }

    /// Takes a node back into service.
    pub async fn resume_node(
        &self,
        caller: &Caller,
        node: NodeId,
        condition: Precondition,
    ) -> Result<api::Node> {
        self.allow(caller, Operation::NodeResume, None).await?;
        let entry = caller.entry(self.now(), Operation::NodeResume, None);
        self.command_node(node, Command::Drain { node, deadline: None }, entry, condition).await
    }

    /// Gives up a silent node before its lease is over: somebody knows that it is gone.
    pub async fn lose_node(
        &self,
        caller: &Caller,
        node: NodeId,
        condition: Precondition,
    ) -> Result<api::Node> {
        self.allow(caller, Operation::NodeLose, None).await?;
        let entry = caller.entry(self.now(), Operation::NodeLose, None);
        self.command_node(node, Command::Lose { node }, entry, condition).await
    }

    async fn command_node(
        &self,
        node: NodeId,
        command: Command,
        entry: audit::Entry,
        condition: Precondition,
    ) -> Result<api::Node> {
        let entry = audit::Entry { target: Some(node.to_string().into()), ..entry };
        let found = match self.find_node(node).await {
            Ok(found) => found,
            Err(error) => return self.refused(entry, error).await,
        };
        let (_, assigned) = self.assigned(node).await?;
        if let Err(error) = condition.check(Some(found.revision + assigned)) {
            return self.refused(entry, error).await;
        }
        let loses = matches!(command, Command::Lose { .. });
        let command = condition.bind(found.revision, command);
        match self.command(found.cell, command, entry).await {
            // Its owner has forgotten it, because nothing is left of it.
            Err(error) if loses && found.is_gone() && error.code == ErrorCode::NotFound => {}
            commanded => commanded.map(drop)?,
        }
        let found = self.find_node(node).await?;
        self.describe_node(&found, &mut LiveNodes::default()).await
    }

    /// Lays labels over those that a node gives itself.
    pub async fn label_node(
        &self,
        caller: &Caller,
        node: NodeId,
        request: NodeLabels,
        condition: Precondition,
    ) -> Result<api::Node> {
        self.allow(caller, Operation::NodeLabel, None).await?;
        let entry = audit::Entry {
            target: Some(node.to_string().into()),
            ..caller.entry(self.now(), Operation::NodeLabel, None)
        };
        let found = match self.find_node(node).await {
            Ok(found) => found,
            Err(error) => return self.refused(entry, error).await,
        };
        let (before, assigned) = self.assigned(node).await?;
        if let Err(error) = condition.check(Some(found.revision + assigned)) {
            return self.refused(entry, error).await;
        }
        // Of two who saw the same labels, one is written.
        let write = Write::PutRecord(Box::new(Record {
            kind: record::NODE_LABELS,
            key: RecordKey::from(&node.as_bytes()[..]),
            revision: assigned + 1,
            expires_at: None,
            value: record::encode(&request.labels).into(),
        }));
        let outcomes = self.journal.commit(vec![write], entry).await?;
        if outcomes.iter().any(|outcome| *outcome != Outcome::Applied) {
            return Err(Error::new(ErrorCode::Conflict, "the labels changed meanwhile"));
        }
        self.cells.relabelled(node).await;
        // The row follows with the node's next hello; whoever changed the labels is told what they will be.
        let labels = laid_over(&found.labels, &before, &request.labels);
        let found = self.find_node(node).await?;
        let seen = self.describe_node(&found, &mut LiveNodes::default()).await?;
        Ok(api::Node { labels, ..seen })
    }

    /// The labels that were laid over a node's own: whoever takes its hello puts them on top.
    pub async fn labels_of(&self, node: NodeId) -> Result<Labels> {
        Ok(self.assigned(node).await?.0)
    }

    /// The labels that were laid over a node's own, and how often that was done. A node's tag is the sum of that and of its
    /// row's revision: neither ever goes back, so no two states have the same.
    pub(crate) async fn assigned(&self, node: NodeId) -> Result<(Labels, u64)> {
        match self.store.record(record::NODE_LABELS, &RecordKey::from(&node.as_bytes()[..])).await? {
            Some(found) => Ok((record::decode(&found)?, found.revision)),
            None => Ok((Labels::new(), 0)),
        }
    }

    async fn find_node(&self, node: NodeId) -> Result<Node> {
        self.store.node(node).await?.ok_or_else(|| Error::not_found(node))
    }

    async fn describe_node(&self, node: &Node, live: &mut LiveNodes) -> Result<api::Node> {
        let mut seen = api::Node::from(node);
        let (labels, assigned) = self.assigned(node.id).await?;
        seen.assigned_labels = labels;
        seen.revision += assigned;
        if let Some(known) = live.find(self, node).await {
            seen.connected = Some(known.connected);
            seen.running = Some(known.running);
            seen.seen_at = known.seen_at.map(Into::into);
            seen.cpu_used_milli = Some(known.cpu_milli);
            seen.memory_used_bytes = Some(known.memory_bytes);
            seen.reserved = Some(known.reserved);
            seen.agent_version = known.agent.as_deref().map(Into::into);
        }
        Ok(seen)
    }
}

fn empty_pool(name: &str) -> Pool {
    Pool {
        name: name.to_owned(),
        nodes: BTreeMap::new(),
        slots: 0,
        capacity: Resources::ZERO,
        running: 0,
        reserved: Resources::ZERO,
        cpu_used_milli: 0,
        memory_used_bytes: 0,
    }
}

fn add_to_pool(pool: &mut Pool, node: &Node, live: Option<&LiveNode>) {
    *pool.nodes.entry(node.state_name().to_owned()).or_default() += 1;
    if node.takes_work() {
        pool.slots += u64::from(node.slots);
        if let Some(sum) = pool.capacity.checked_add(&node.capacity) {
            pool.capacity = sum;
        }
    }
    let Some(live) = live else { return };
    pool.running += live.running;
    pool.cpu_used_milli += live.cpu_milli;
    pool.memory_used_bytes += live.memory_bytes;
    if node.takes_work()
        && let Some(sum) = pool.reserved.checked_add(&live.reserved)
    {
        pool.reserved = sum;
    }
}

fn describe_load(load: NodeLoad) -> api::NodeLoad {
    let NodeLoad { until, samples, .. } = load;
    let each =
        |pick: fn(&LoadSample) -> u64| samples.iter().map(|sample| sample.as_ref().map(pick)).collect();
    api::NodeLoad {
        until: until.into(),
        cpu_milli: each(|sample| sample.cpu_milli),
        memory_bytes: each(|sample| sample.memory_bytes),
        running: samples.iter().map(|sample| sample.map(|sample| sample.running)).collect(),
    }
}

/// What becomes of the labels in a node's row when `assigned` takes the place of `before`. What the node itself says of a key
/// that was laid over is known with its hello only.
fn laid_over(row: &Labels, before: &Labels, assigned: &Labels) -> Labels {
    let own = row.iter().filter(|(key, _)| before.get(key).is_none());
    let mut labels = Labels::new();
    for (key, value) in own.chain(assigned.iter()) {
        // Those were labels; one beyond the most that there may be is left out.
        let _ = labels.insert(key, value);
    }
    labels
}

/// What owners know, asked once for each cell.
#[derive(Default)]
pub(crate) struct LiveNodes {
    cells: BTreeMap<CellId, BTreeMap<NodeId, LiveNode>>,
}

impl LiveNodes {
    pub(crate) async fn find(&mut self, app: &App, node: &Node) -> Option<LiveNode> {
        let nodes = match self.cells.entry(node.cell) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let overview = app.cells.overview(node.cell).await.ok().flatten();
                let nodes = overview.into_iter().flat_map(|overview| overview.nodes);
                unknown.insert(nodes.map(|live| (live.node.id, live)).collect())
            }
        };
        nodes.get(&node.id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Labels {
        let mut labels = Labels::new();
        for (key, value) in text.split_whitespace().filter_map(|label| label.split_once('=')) {
            labels.insert(key, value).expect("a label");
        }
        labels
    }

    #[test]
    fn labels_are_laid_over_those_that_are_the_nodes_own() {
        let check = |row: &str, before: &str, assigned: &str, expected: &str| {
            assert_eq!(laid_over(&labels(row), &labels(before), &labels(assigned)), labels(expected));
        };
        check("os=linux", "", "zone=a", "os=linux zone=a");
        check("os=linux zone=a", "zone=a", "zone=b", "os=linux zone=b");
        check("os=linux zone=a", "zone=a", "", "os=linux");
        check("os=linux", "", "os=other", "os=other");
        check("os=linux", "zone=a", "zone=a spot=yes", "os=linux zone=a spot=yes");
    }
}
