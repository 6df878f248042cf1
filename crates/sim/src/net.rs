//! The network: every message has a delay; faults lose, double, delay and cut. And the queue of everything
//! that is going to happen.

use std::collections::BTreeMap;

use crate::plan::{Host, SECOND};
use crate::rng::Rng;

/// What is going to happen, in order of time, then of asking.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    items: BTreeMap<(i64, u64), T>,
    asked: u64,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Self {
        Self { items: BTreeMap::new(), asked: 0 }
    }

    pub(crate) fn at(&mut self, time: i64, item: T) {
        self.asked += 1;
        self.items.insert((time, self.asked), item);
    }

    pub(crate) fn pop(&mut self) -> Option<(i64, T)> {
        self.items.pop_first().map(|((time, _), item)| (time, item))
    }
}

/// The state of the network.
#[derive(Debug)]
pub(crate) struct Net {
    rng: Rng,
    cuts: Vec<(Host, Host, i64)>,
    noise_until: i64,
    lost: u64,
    doubled: u64,
    late_max: i64,
    pub dropped: u64,
}

impl Net {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed, "net"),
            cuts: Vec::new(),
            noise_until: 0,
            lost: 0,
            doubled: 0,
            late_max: 1,
            dropped: 0,
        }
    }

    pub(crate) fn cut(&mut self, from: Host, to: Host, until: i64) {
        self.cuts.push((from, to, until));
    }

    pub(crate) fn noise(&mut self, until: i64, lost: u64, doubled: u64, late_max: i64) {
        (self.noise_until, self.lost, self.doubled, self.late_max) = (until, lost, doubled, late_max);
    }

    /// When copies of a message sent now arrive: none when it is lost, two when it is doubled. Messages of
    /// one pair may overtake each other.
    pub(crate) fn arrivals(&mut self, now: i64, from: Host, to: Host) -> [Option<i64>; 2] {
        self.cuts.retain(|(.., until)| *until > now);
        if self.cuts.iter().any(|(cut_from, cut_to, _)| *cut_from == from && *cut_to == to) {
            self.dropped += 1;
            return [None, None];
        }
        let usual = now + self.rng.range(200, 3_000);
        if now >= self.noise_until {
            return [Some(usual), None];
        }
        if self.rng.chance(self.lost) {
            self.dropped += 1;
            return [None, None];
        }
        let late = if self.rng.chance(30) { self.rng.range(0, self.late_max.max(1)) } else { 0 };
        let copy = self.rng.chance(self.doubled).then(|| now + self.rng.range(200, 2 * SECOND));
        [Some(usual + late), copy]
    }
}
