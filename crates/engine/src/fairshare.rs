//! Weighted fair share between namespaces, as a number.
//!
//! Start-time fair queueing: a run's tag is the virtual time at which its namespace's turn comes, one step
//! of `1/weight` after the namespace's last. Runs are then simply ordered by (priority, tag, age). Because
//! the tag is fixed at entry it can be stored, so overflow is read back from the store in fair order.

use mainspring_model::Namespace;
use rustc_hash::FxHashMap;

/// Virtual time that a run of weight 1 takes.
const STEP: u64 = 1_000;
/// Tags fit into this many bits of a rank.
const TAG_BITS: u32 = 47;
/// Namespaces remembered at a level before the idle ones are forgotten.
const REMEMBERED_MAX: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct FairShare {
    levels: FxHashMap<u16, Level>,
}

#[derive(Debug, Default)]
struct Level {
    /// The tag of the latest run that was served.
    now: u64,
    /// The last tag of each namespace that may be ahead of `now`.
    last: FxHashMap<Namespace, u64>,
}

impl FairShare {
    /// The rank of a new run: its place in the queue, smallest first.
    pub(crate) fn enter(&mut self, priority: u16, namespace: &Namespace, weight: u32) -> i64 {
        let level = self.levels.entry(priority).or_default();
        let now = level.now;
        let step = STEP / u64::from(weight.clamp(1, STEP as u32));
        let tag = match level.last.get_mut(namespace) {
            Some(last) => {
                *last = (*last).max(now) + step;
                *last
            }
            None => {
                if level.last.len() >= REMEMBERED_MAX {
                    level.last.retain(|_, last| *last > now);
                }
                level.last.insert(namespace.clone(), now + step);
                now + step
            }
        };
        rank(priority, tag)
    }

    /// A run with this rank was read from the store: its namespace has used the turns up to it.
    pub(crate) fn remember(&mut self, rank: i64, priority: u16, namespace: &Namespace) {
        let tag = tag_of(rank);
        let level = self.levels.entry(priority).or_default();
        if level.last.is_empty() {
            level.now = level.now.max(tag.saturating_sub(STEP));
        }
        let last = level.last.entry(namespace.clone()).or_insert(0);
        *last = (*last).max(tag);
    }

    /// A run with this rank was served.
    pub(crate) fn served(&mut self, rank: i64, priority: u16) {
        let level = self.levels.entry(priority).or_default();
        level.now = level.now.max(tag_of(rank));
    }
}

fn rank(priority: u16, tag: u64) -> i64 {
    let importance = i64::from(u16::MAX - priority) << TAG_BITS;
    importance | (tag & ((1 << TAG_BITS) - 1)) as i64
}

fn tag_of(rank: i64) -> u64 {
    rank as u64 & ((1 << TAG_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enters runs of namespaces a and b by turns of `pattern`, then counts how many of each are among
    /// the first `served`.
    fn check(pattern: &[(char, u32, usize)], served: usize, expected: &[(char, usize)]) {
        let mut share = FairShare::default();
        let mut queue = Vec::new();
        for (name, weight, runs) in pattern {
            let namespace: Namespace = name.to_string().parse().unwrap();
            for n in 0..*runs {
                queue.push((share.enter(5, &namespace, *weight), n, *name));
            }
        }
        queue.sort();
        for (name, count) in expected {
            let got = queue.iter().take(served).filter(|(_, _, who)| who == name).count();
            assert_eq!(got, *count, "{name} of {pattern:?}");
        }
    }

    #[test]
    fn a_flood_takes_only_its_share() {
        check(&[('a', 1, 1000), ('b', 1, 10)], 20, &[('a', 10), ('b', 10)]);
        check(&[('a', 1, 1000), ('b', 4, 100)], 100, &[('a', 20), ('b', 80)]);
        check(&[('a', 1, 5)], 3, &[('a', 3)]);
    }

    #[test]
    fn importance_comes_before_turns() {
        let mut share = FairShare::default();
        let namespace = Namespace::default();
        for _ in 0..100 {
            share.enter(9, &namespace, 1);
        }
        assert!(share.enter(9, &namespace, 1) < share.enter(8, &namespace, 1));
        assert!(rank(u16::MAX, 0) >= 0 && rank(0, u64::MAX) > 0);
    }

    #[test]
    fn a_newcomer_does_not_catch_up_on_the_past() {
        let mut share = FairShare::default();
        let (a, b): (Namespace, Namespace) = ("a".parse().unwrap(), "b".parse().unwrap());
        for _ in 0..50 {
            let rank = share.enter(1, &a, 1);
            share.served(rank, 1);
        }
        let (next_a, first_b) = (share.enter(1, &a, 1), share.enter(1, &b, 1));
        assert_eq!(next_a, first_b);
    }
}
