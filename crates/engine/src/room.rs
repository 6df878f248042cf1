//! What a run needs of a node and what a node has left. Reservations never exceed capacity (I18): `take`
//! refuses rather than wraps.

use mainspring_model::resource::Resources;

/// An amount of each thing a node has: a need, or what is free.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Room {
    pub(crate) slots: u32,
    pub(crate) cpu_milli: u64,
    pub(crate) memory_bytes: u64,
    /// Sorted by name; only what is not zero in a need.
    pub(crate) named: Vec<(Box<str>, u64)>,
}

impl Room {
    pub(crate) fn new(slots: u32, resources: &Resources) -> Self {
        let named = resources.named.iter().map(|(name, milli)| (name.clone(), *milli)).collect();
        Self { slots, cpu_milli: resources.cpu_milli, memory_bytes: resources.memory_bytes, named }
    }

    /// Whether `need` fits into this.
    pub(crate) fn fits(&self, need: &Self) -> bool {
        self.slots >= need.slots
            && self.cpu_milli >= need.cpu_milli
            && self.memory_bytes >= need.memory_bytes
            && (need.named.is_empty() || self.lacking(need).is_none())
    }

    /// The first dimension of which this has less than `need`.
    pub(crate) fn lacking<'a>(&self, need: &'a Self) -> Option<&'a str> {
        if self.slots < need.slots {
            return Some("slots");
        }
        if self.cpu_milli < need.cpu_milli {
            return Some("cpu");
        }
        if self.memory_bytes < need.memory_bytes {
            return Some("memory");
        }
        need.named.iter().find(|(name, milli)| self.named(name) < *milli).map(|(name, _)| &**name)
    }

    /// Takes `need` out of this; the caller has checked that it fits.
    pub(crate) fn take(&mut self, need: &Self) {
        assert!(self.fits(need), "a reservation must fit: {need:?} into {self:?}");
        self.slots -= need.slots;
        self.cpu_milli -= need.cpu_milli;
        self.memory_bytes -= need.memory_bytes;
        for (name, milli) in &need.named {
            if let Some((_, free)) = self.named.iter_mut().find(|(have, _)| have == name) {
                *free -= milli;
            }
        }
    }

    /// Adds `need` back to this, as far as it was ever there.
    pub(crate) fn give(&mut self, need: &Self) {
        self.slots += need.slots;
        self.cpu_milli += need.cpu_milli;
        self.memory_bytes += need.memory_bytes;
        for (name, milli) in &need.named {
            if let Some((_, free)) = self.named.iter_mut().find(|(have, _)| have == name) {
                *free += milli;
            }
        }
    }

    /// How much of a dimension this has.
    pub(crate) fn amount(&self, dimension: &str) -> u64 {
        match dimension {
            "slots" => u64::from(self.slots),
            "cpu" => self.cpu_milli,
            "memory" => self.memory_bytes,
            name => self.named(name),
        }
    }

    fn named(&self, name: &str) -> u64 {
        self.named.iter().find(|(have, _)| **have == *name).map_or(0, |(_, milli)| *milli)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(slots: u32, cpu: u64, gpus: u64) -> Room {
        let named = if gpus > 0 { vec![("gpu".into(), gpus)] } else { Vec::new() };
        Room { slots, cpu_milli: cpu, memory_bytes: 0, named }
    }

    #[test]
    fn names_what_is_lacking_and_gives_back_what_was_taken() {
        let mut free = room(2, 1000, 1000);
        assert_eq!(free.lacking(&room(3, 0, 0)), Some("slots"));
        assert_eq!(free.lacking(&room(1, 1001, 0)), Some("cpu"));
        assert_eq!(free.lacking(&room(1, 0, 1001)), Some("gpu"));
        let need = room(1, 600, 500);
        free.take(&need);
        assert!(!free.fits(&need));
        free.give(&need);
        assert_eq!(free, room(2, 1000, 1000));
    }

    #[test]
    #[should_panic(expected = "must fit")]
    fn never_reserves_more_than_there_is() {
        room(1, 100, 0).take(&room(1, 101, 0));
    }
}
