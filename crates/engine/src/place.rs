//! Placement, from both ends.
//!
//! A run that becomes eligible looks for a node ([`Cell::try_group`]); a node that gains room looks for
//! the first run in queue order that fits it ([`Cell::fill_node`]). Because both are always done to the
//! end, whatever is listed fits nowhere: a class that was found full stays so while it is listed, and
//! neither end ever has to look at runs × nodes.

use mainspring_model::spec::{RetryNode, Sticky};
use mainspring_model::{Command, OverlapRule, Place, Shelf, Timestamp, hash};

use crate::balancer::{Ask, Candidates};
use crate::cell::Cell;
use crate::class::{Class, Full, QUEUE_END};
use crate::memory::About;
use crate::message::{Message, Order};
use crate::nodes::NodeEntry;
use crate::preference;
use crate::queue::{Block, Group};
use crate::runs::Phase;

/// Virtual time of the weighted balancer for a node of weight 1.
const TURN_STEP: u64 = 1 << 20;

impl Cell {
    /// Places runs of a group while limits, nodes and runs last.
    pub(crate) fn try_group(&mut self, now: Timestamp, group_ix: usize) {
        while self.pause.is_none() {
            let Some(group) = self.queue.groups.get(group_ix) else { return };
            let Some((_, run)) = group.waiting.first_key_value() else { return };
            let run = *run as usize;
            if group.block.is_some() || self.hold_back(now, group_ix) {
                return;
            }
            if self.gave_up(now, run) {
                continue;
            }
            let Some(node) = self.pick(group_ix, run) else { return };
            self.place(now, run, node);
        }
    }

    /// Places what can be placed, in queue order, when more than one group may go on.
    pub(crate) fn place_waiting(&mut self, now: Timestamp) {
        while self.pause.is_none() {
            let Some(group_ix) = self.first_untried() else { return };
            if self.hold_back(now, group_ix) {
                continue;
            }
            let run = self.queue.groups[group_ix].first();
            if self.gave_up(now, run) {
                continue;
            }
            if let Some(node) = self.pick(group_ix, run) {
                self.place(now, run, node);
            }
        }
    }

    /// The listed group that comes first of those that may find a node.
    fn first_untried(&self) -> Option<usize> {
        let open = |full: &Option<Full>| full.as_ref().is_none_or(|full| full.at != self.room);
        let classes = self.queue.heads.iter().map(|head| &self.queue.classes[head.class]);
        let classes = classes.filter(|class| open(&class.full));
        let first = classes
            .filter_map(|class| class.order.iter().find(|(_, group)| open(&self.queue.groups[**group].full)));
        first.min().map(|(_, group)| *group)
    }

    /// Gives a node's room to the runs that come first, until nothing fits.
    pub(crate) fn fill_node(&mut self, now: Timestamp, node_ix: usize) {
        if self.pause.is_some() {
            self.room += 1;
            return;
        }
        while self.nodes.get(node_ix).is_open() {
            let Some(group_ix) = self.first_for(node_ix) else { break };
            if self.hold_back(now, group_ix) {
                continue;
            }
            let run = self.queue.groups[group_ix].first();
            if !self.gave_up(now, run) {
                self.place(now, run, node_ix);
            }
        }
    }

    /// Gives up a run whose time is over, although its timer was not looked at yet: a step of the clock may have passed over
    /// many deadlines at once.
    fn gave_up(&mut self, now: Timestamp, run: usize) -> bool {
        let is_over = self.last_moment(run).is_some_and(|last| last <= now);
        if is_over {
            self.disarm_run(run);
            self.run_due(now, run);
        }
        is_over
    }

    /// Nodes went or left service: a group that avoids some of them may have to take one of those now.
    pub(crate) fn retry_restricted(&mut self, now: Timestamp) {
        let restricted = self.queue.groups.iter_mut().filter(|(_, group)| group.full.is_some());
        let mut groups: Vec<_> = restricted
            .filter_map(|(ix, group)| {
                group.full = None;
                Some((*group.waiting.first_key_value()?.0, ix))
            })
            .collect();
        groups.sort();
        for (_, group) in groups {
            self.try_group(now, group);
        }
    }

    /// The group whose first run comes first of all that the node can take. A class that the node could take
    /// is not full any more, even if what waits in it may not use this very node.
    fn first_for(&mut self, node_ix: usize) -> Option<usize> {
        let node = self.nodes.get(node_ix);
        let mut best = (QUEUE_END, None);
        let mut reopened = Vec::new();
        for head in &self.queue.heads {
            if head.first >= best.0 {
                break;
            }
            if !head.may_fit(&node.free) {
                continue;
            }
            let class = &self.queue.classes[head.class];
            if !node.free.fits(&class.key.need) || !node.sets.contains(&class.set) {
                continue;
            }
            match class.order.iter().find(|(_, group)| self.allows(**group, node_ix)) {
                Some((key, group)) if *key < best.0 => best = (*key, Some(*group)),
                Some(_) => {}
                None => reopened.push(head.class),
            }
        }
        for class in reopened {
            self.queue.classes[class].full = None;
        }
        best.1
    }

    /// Whether a group may use a node that its class may use.
    pub(crate) fn allows(&self, group_ix: usize, node_ix: usize) -> bool {
        let group = &self.queue.groups[group_ix];
        if self.is_suspect(group.job) && self.suspects.others_on(node_ix, group.job) {
            return false;
        }
        if let Some(bound) = self.bound_to(group) {
            return bound == node_ix;
        }
        group.key.excluded().is_empty()
            || !group.key.excluded().contains(&self.nodes.get(node_ix).node.id)
            || self.is_only_one(group_ix)
    }

    /// The one node that the group may use, while that lives and passes the filter.
    pub(crate) fn bound_to(&self, group: &Group) -> Option<usize> {
        let class = &self.queue.classes[group.class];
        let sticky = match class.key.sticky {
            Some(Sticky::Require) => self.shapes.jobs[group.job].health.sticky,
            Some(Sticky::Prefer) | None => None,
        };
        let ix = self.nodes.find(group.key.pinned().or(sticky)?)?;
        let node = self.nodes.get(ix);
        (node.lives() && node.sets.contains(&class.set)).then_some(ix)
    }

    /// Whether the job prefers another node for a retry but there is none that is large enough.
    pub(crate) fn is_only_one(&self, group_ix: usize) -> bool {
        let group = &self.queue.groups[group_ix];
        if self.shapes.shapes[group.key.shape].spec.retry.node != RetryNode::OtherUnlessOnlyOne {
            return false;
        }
        let class = &self.queue.classes[group.class];
        let need = &class.key.need;
        let avoided = self.excluded_serving(group).filter(|node| node.capacity().fits(need)).count() as u32;
        avoided == self.large_enough(class)
    }

    /// The nodes in service that pass the class's filter and failed the group's runs.
    pub(crate) fn excluded_serving(&self, group: &Group) -> impl Iterator<Item = &NodeEntry> {
        let set = self.queue.classes[group.class].set;
        let known = group.key.excluded().iter().filter_map(|id| self.nodes.find(*id));
        let nodes = known.map(|ix| self.nodes.get(ix));
        nodes.filter(move |node| node.in_service() && node.sets.contains(&set))
    }

    /// How many nodes in service could take a run of the class if they were empty. Counted again only when nodes come or go.
    fn large_enough(&self, class: &Class) -> u32 {
        let (at, count) = class.large_enough.get();
        if at == self.nodes.service {
            return count;
        }
        let members = self.nodes.sets[class.set].members.iter().map(|(_, ix)| self.nodes.get(*ix));
        let fits = |node: &&NodeEntry| node.in_service() && node.capacity().fits(&class.key.need);
        let count = members.filter(fits).count() as u32;
        class.large_enough.set((self.nodes.service, count));
        count
    }

    /// Blocks the group if a pause or a limit holds it back.
    fn hold_back(&mut self, now: Timestamp, group_ix: usize) -> bool {
        let Some(block) = self.block_of(now, &self.queue.groups[group_ix]) else { return false };
        let group = &self.queue.groups[group_ix];
        if block == Block::Concurrency {
            self.concurrency.block(group.job, group.key.concurrency(), group_ix);
        }
        self.queue.block(group_ix, block);
        if let Block::Rate(opens_at) = block {
            self.arm_group(group_ix, opens_at);
        }
        let why = self.why_blocked(&self.queue.groups[group_ix], block);
        self.queue.groups[group_ix].held_by = Some(why);
        true
    }

    fn block_of(&self, now: Timestamp, group: &Group) -> Option<Block> {
        let job = &self.shapes.jobs[group.job];
        if job.pause.is_some() || self.is_quarantined(group.job) {
            return Some(Block::Job);
        }
        let spec = &self.shapes.shapes[group.key.shape].spec;
        if let Some(concurrency) = &spec.concurrency
            && group.key.overlap != OverlapRule::Force
            && self.concurrency.count(group.job, group.key.concurrency()) >= concurrency.limit.get()
        {
            return Some(Block::Concurrency);
        }
        let rate = spec.rate_limit.as_ref()?;
        let opens_at = self.rates.opens_at(job.id, group.key.rate(), rate.limit.get(), rate.per);
        (opens_at > now).then_some(Block::Rate(opens_at))
    }

    /// A node for the run, if one has room. Remembers when none has, so that nobody looks again before
    /// something changed.
    fn pick(&mut self, group_ix: usize, run_ix: usize) -> Option<usize> {
        let group = &self.queue.groups[group_ix];
        let class_ix = group.class;
        let class = &self.queue.classes[class_ix];
        let restricted = self.is_restricted(group);
        let is_full = |full: &Option<Full>| full.as_ref().is_some_and(|full| full.at == self.room);
        if is_full(&class.full) || is_full(&group.full) {
            return None;
        }
        let found = self.choose(group_ix, run_ix);
        if found.is_none() {
            let full = Some(Full { at: self.room, why: self.lack(group_ix) });
            if restricted {
                self.queue.groups[group_ix].full = full;
            } else {
                self.queue.classes[class_ix].full = full;
            }
            self.arm_hand_over(class_ix);
        }
        found
    }

    fn choose(&mut self, group_ix: usize, run_ix: usize) -> Option<usize> {
        self.nodes.freshen();
        let group = &self.queue.groups[group_ix];
        let class = &self.queue.classes[group.class];
        let entry = &self.runs.entries[run_ix];
        let job = &self.shapes.jobs[group.job];
        let has_room = |ix: usize| {
            let node = self.nodes.get(ix);
            node.is_open() && node.free.fits(&class.key.need) && node.sets.contains(&class.set)
        };
        if let Some(bound) = self.bound_to(group) {
            return (has_room(bound) && self.allows(group_ix, bound)).then_some(bound);
        }
        if class.key.sticky == Some(Sticky::Prefer)
            && let Some(last) =
                job.health.sticky.and_then(|id| self.nodes.find(id)).filter(|ix| has_room(*ix))
            && self.allows(group_ix, last)
        {
            return Some(last);
        }
        let excluded: Vec<usize> = if group.key.excluded().is_empty() || self.is_only_one(group_ix) {
            Vec::new()
        } else {
            group.key.excluded().iter().filter_map(|id| self.nodes.find(*id)).collect()
        };
        let chance = hash::mix(entry.head.id.hash64() ^ u64::from(entry.status.attempt));
        let key_hash = entry.head.keys.as_ref().map_or(chance, |keys| hash::bytes(keys.hash.as_bytes()));
        let suspects = self.is_suspect(group.job).then_some((&self.suspects, group.job));
        let ask = Ask { chance, key_hash, job_nodes: &job.nodes, excluded: &excluded, suspects };
        let class = &self.queue.classes[group.class];
        let mut candidates =
            Candidates { nodes: &mut self.nodes, set: class.set, need: &class.key.need, ask };
        if class.is_plain() {
            return class.balancer.pick(&mut candidates).map(|ix| ix.0);
        }
        preference::choose(class, &mut candidates).map(|ix| ix.0)
    }

    /// Makes the next attempt of a waiting run on a node. The order leaves when the attempt is durable.
    pub(crate) fn place(&mut self, now: Timestamp, run_ix: usize, node_ix: usize) {
        let waited_for = self.leave_queue(run_ix);
        self.step(run_ix, Command::Place);
        self.fired_run_placed(run_ix);
        let entry = &mut self.runs.entries[run_ix];
        let waited = entry.since < now;
        let queued_ms = now.since(entry.since).as_millis().min(u128::from(u32::MAX)) as u32;
        entry.queued_ms = entry.queued_ms.saturating_add(queued_ms);
        let rank = entry.queue_key().0;
        let status = &mut entry.status;
        status.attempt += 1;
        status.attempt_epoch = self.epoch;
        status.node = Some(self.nodes.get(node_ix).node.id);
        status.placed_at = Some(now);
        status.started_at = None;
        status.finished_at = None;
        status.cause = None;
        if let Some(extra) = &mut status.extra {
            (extra.progress, extra.result, extra.usage) = (None, None, Default::default());
        }
        if waited {
            status.reason = waited_for.map(Box::new);
        }
        status.place = Some(Place { shelf: Shelf::Flight, rank: now.as_micros() });
        entry.phase = Phase::Ordered { at: self.elapsed };
        entry.spoke_at = self.elapsed;
        entry.since = now;
        self.queue.share.served(rank, entry.priority());
        self.occupy(run_ix, node_ix, true);
        let entry = &self.runs.entries[run_ix];
        let shape = self.shapes.of(entry);
        if let Some(rate) = &shape.spec.rate_limit {
            self.rates.started(entry.head.job, entry.rate_key(), rate.per, now);
            self.outbox.memories.insert(About::Starts(entry.head.job, entry.rate_key().into()));
        }
        self.stats.placed += 1;
        self.mark(run_ix);
        let order = self.order(run_ix, node_ix);
        self.after_commit(run_ix, Message::Start(order));
        self.arm_run(now, run_ix);
    }

    /// The order for the current attempt of a run, as of now.
    pub(crate) fn order(&self, run_ix: usize, node_ix: usize) -> Box<Order> {
        let entry = &self.runs.entries[run_ix];
        let node = self.nodes.get(node_ix);
        let spec = &self.shapes.of(entry).spec;
        Box::new(Order {
            node: node.node.id,
            session: node.session,
            seen_beat: node.seen_beat,
            token: entry.token(),
            head: entry.head.clone(),
            spec: spec.clone(),
            checkpoint: entry.status.extra.as_ref().and_then(|extra| extra.checkpoint.clone()),
            attempts_max: spec.attempts_max(entry.status.losses),
        })
    }

    /// Reserves room on a node for a run and counts it against its keys. With `strict`, it must fit; a new
    /// owner takes over what is there, whether it fits or not.
    pub(crate) fn occupy(&mut self, run_ix: usize, node_ix: usize, strict: bool) {
        let entry = &self.runs.entries[run_ix];
        let shape = self.shapes.of(entry);
        let need = &self.queue.classes[shape.class].key.need;
        self.nodes.turn = self.nodes.turn.max(self.nodes.get(node_ix).turn);
        self.nodes.change(node_ix, |node| {
            node.runs.insert(run_ix);
            node.turn += TURN_STEP / u64::from(node.node.weight.max(1));
            if strict || node.free.fits(need) {
                node.free.take(need);
            } else {
                node.overbooked = true;
            }
        });
        if shape.spec.concurrency.is_some() {
            self.concurrency.start(shape.job, entry.concurrency_key(), run_ix);
        }
        let (job, spreads) = (shape.job, shape.spreads);
        if self.is_suspect(job) {
            self.suspects.placed(run_ix, job, node_ix);
        }
        if spreads {
            self.shapes.count_node(job, node_ix, true);
        }
    }
}
