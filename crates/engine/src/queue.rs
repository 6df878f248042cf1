//! The queue: groups of runs that wait for the same things, in classes, in order.
//!
//! A group is one job version, priority, set of rendered keys and set of excluded nodes; its runs are
//! interchangeable but for their turn. A group that a limit or a pause holds back is taken off its class's
//! list, so it never stands in the way of others (I20). Where runs go when there are too many is in
//! `overflow`.

use std::collections::BTreeMap;

use mainspring_model::{NodeId, OverlapRule, Reason, Timestamp};
use rustc_hash::FxHashMap;
use slab::Slab;

use crate::class::{Class, ClassKey, Full, QueueKey};
use crate::fairshare::FairShare;
use crate::room::Room;
use crate::timers::Armed;

/// What makes two waiting runs interchangeable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct GroupKey {
    pub(crate) shape: usize,
    priority: u16,
    pub(crate) overlap: OverlapRule,
    /// Not there for most: comparing absent strings costs more than looking the group up.
    apart: Option<Box<Apart>>,
}

/// What sets runs apart from the ordinary ones of their job version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Apart {
    pub(crate) concurrency: Box<str>,
    pub(crate) rate: Box<str>,
    pub(crate) excluded: Vec<NodeId>,
    pub(crate) pinned: Option<NodeId>,
}

impl GroupKey {
    pub(crate) fn new(shape: usize, priority: u16, overlap: OverlapRule, apart: Apart) -> Self {
        let Apart { concurrency, rate, excluded, pinned } = &apart;
        let is_ordinary =
            concurrency.is_empty() && rate.is_empty() && excluded.is_empty() && pinned.is_none();
        Self { shape, priority, overlap, apart: (!is_ordinary).then(|| Box::new(apart)) }
    }

    pub(crate) fn concurrency(&self) -> &str {
        self.apart.as_ref().map_or("", |apart| &apart.concurrency)
    }

    pub(crate) fn rate(&self) -> &str {
        self.apart.as_ref().map_or("", |apart| &apart.rate)
    }

    /// Nodes that failed the runs.
    pub(crate) fn excluded(&self) -> &[NodeId] {
        self.apart.as_ref().map_or(&[], |apart| &apart.excluded)
    }

    /// The node that the runs want again.
    pub(crate) fn pinned(&self) -> Option<NodeId> {
        self.apart.as_ref().and_then(|apart| apart.pinned)
    }
}

/// What holds a whole group back, whatever room there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// Its concurrency key is used up; the end of a run wakes it.
    Concurrency,
    /// Its rate key is used up; a timer wakes it.
    Rate(Timestamp),
    /// Its job is paused or quarantined; a resume wakes it.
    Job,
}

#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) key: GroupKey,
    pub(crate) class: usize,
    pub(crate) job: usize,
    /// It stays in memory as a whole, see `overflow`.
    pub(crate) kept: bool,
    pub(crate) waiting: BTreeMap<QueueKey, u32>,
    pub(crate) block: Option<Block>,
    /// What last held it back.
    pub(crate) held_by: Option<Reason>,
    /// No allowed node has room; only for groups that may not use every node of their class.
    pub(crate) full: Option<Full>,
    pub(crate) armed: Armed,
    /// Runs of the group from here on are in the store, because it had enough in memory.
    pub(crate) spilled_from: Option<QueueKey>,
    /// The last look through the store that left one of its runs there.
    pub(crate) passed_by: u64,
    /// The key under which its class lists it.
    listed: Option<QueueKey>,
}

impl Group {
    /// The run that comes first; a listed group has one.
    pub(crate) fn first(&self) -> usize {
        *self.waiting.first_key_value().expect("a listed group has a run").1 as usize
    }

    /// Whether some nodes that the class allows are not allowed here.
    pub(crate) fn is_restricted(&self) -> bool {
        !self.key.excluded().is_empty() || self.key.pinned().is_some()
    }
}

/// What a freed node looks at of a class in which something is listed: small and side by side, because
/// every end of an attempt may look at all of them.
#[derive(Debug)]
pub(crate) struct Head {
    /// The place of its first run.
    pub(crate) first: QueueKey,
    pub(crate) class: usize,
    cpu_milli: u64,
    memory_bytes: u64,
}

const _: () = assert!(size_of::<Head>() <= 48, "a freed node would look at more memory");

impl Head {
    /// Whether the class may fit; if not, it does not.
    pub(crate) fn may_fit(&self, free: &Room) -> bool {
        self.cpu_milli <= free.cpu_milli && self.memory_bytes <= free.memory_bytes
    }
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) groups: Slab<Group>,
    group_by_key: FxHashMap<GroupKey, usize>,
    pub(crate) classes: Slab<Class>,
    class_by_key: FxHashMap<ClassKey, usize>,
    /// The classes in which something is listed, by their first runs.
    pub(crate) heads: Vec<Head>,
    pub(crate) share: FairShare,
    /// Runs that wait in memory, but for those of kept groups.
    pub(crate) waiting: usize,
    /// Runs that wait in kept groups.
    pub(crate) kept: usize,
    kept_groups: usize,
}

impl Queue {
    pub(crate) fn find_class(&self, key: &ClassKey) -> Option<usize> {
        self.class_by_key.get(key).copied()
    }

    pub(crate) fn insert_class(&mut self, class: Class) -> usize {
        let key = class.key.clone();
        let ix = self.classes.insert(class);
        self.class_by_key.insert(key, ix);
        ix
    }

    pub(crate) fn remove_class(&mut self, ix: usize) -> Class {
        let class = self.classes.remove(ix);
        self.class_by_key.remove(&class.key);
        class
    }

    pub(crate) fn find_group(&self, key: &GroupKey) -> Option<usize> {
        self.group_by_key.get(key).copied()
    }

    pub(crate) fn insert_group(&mut self, key: GroupKey, (class, job): (usize, usize), kept: bool) -> usize {
        self.kept_groups += usize::from(kept);
        let ix = self.groups.insert(Group {
            key: key.clone(),
            class,
            job,
            kept,
            waiting: BTreeMap::new(),
            block: None,
            held_by: None,
            full: None,
            armed: Armed::NOT,
            spilled_from: None,
            passed_by: 0,
            listed: None,
        });
        self.group_by_key.insert(key, ix);
        ix
    }

    /// Takes away a group in which nothing waits.
    pub(crate) fn remove_group(&mut self, ix: usize) -> Group {
        let group = self.groups.remove(ix);
        self.kept_groups -= usize::from(group.kept);
        assert!(group.waiting.is_empty() && group.listed.is_none(), "a group goes when nothing waits in it");
        self.group_by_key.remove(&group.key);
        group
    }

    /// How many groups may leave runs to the store.
    pub(crate) fn loose_groups(&self) -> usize {
        self.groups.len() - self.kept_groups
    }

    pub(crate) fn push(&mut self, group: usize, key: QueueKey, run: usize) {
        self.groups[group].waiting.insert(key, run as u32);
        *self.count_of(group) += 1;
        self.relist(group);
    }

    pub(crate) fn remove(&mut self, group: usize, key: QueueKey) {
        if self.groups[group].waiting.remove(&key).is_some() {
            *self.count_of(group) -= 1;
            self.relist(group);
        }
    }

    fn count_of(&mut self, group: usize) -> &mut usize {
        if self.groups[group].kept { &mut self.kept } else { &mut self.waiting }
    }

    pub(crate) fn block(&mut self, group: usize, block: Block) {
        self.groups[group].block = Some(block);
        self.relist(group);
    }

    pub(crate) fn unblock(&mut self, group: usize) {
        self.groups[group].block = None;
        self.relist(group);
    }

    /// Makes the class's list say what is true of the group.
    fn relist(&mut self, ix: usize) {
        let group = &mut self.groups[ix];
        let first =
            if group.block.is_none() { group.waiting.first_key_value().map(|(key, _)| *key) } else { None };
        if first == group.listed {
            return;
        }
        let class = &mut self.classes[group.class];
        if let Some(old) = group.listed.take() {
            class.order.remove(&old);
        }
        match first {
            Some(new) => {
                class.order.insert(new, ix);
                group.listed = Some(new);
            }
            None => group.full = None,
        }
        let class = group.class;
        self.set_head(class);
    }

    /// Makes the heads say what is true of the class.
    fn set_head(&mut self, ix: usize) {
        let class = &mut self.classes[ix];
        let first = class.order.first_key_value().map(|(key, _)| *key);
        if first == class.head {
            return;
        }
        let place = |key: QueueKey| self.heads.partition_point(|head| head.first < key);
        let (old, new) = (class.head.map(place), first.map(place));
        class.head = first;
        match (old, new, first) {
            (Some(old), Some(new), Some(first)) => {
                self.heads[old].first = first;
                if new > old {
                    self.heads[old..new].rotate_left(1);
                } else {
                    self.heads[new..=old].rotate_right(1);
                }
            }
            (None, Some(new), Some(first)) => {
                let (cpu_milli, memory_bytes) = (class.key.need.cpu_milli, class.key.need.memory_bytes);
                self.heads.insert(new, Head { first, class: ix, cpu_milli, memory_bytes });
            }
            (Some(old), ..) => {
                self.heads.remove(old);
                // Room that is freed from now on is not offered to the class.
                class.full = None;
            }
            (None, ..) => {}
        }
    }
}
