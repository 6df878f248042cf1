//! Places for things that come and go, in chunks: growing adds a chunk and never moves what is there, so
//! memory has no slack of a doubled array and no event pays for copying it. An index stays true until its
//! thing is removed; then another may get it.

use std::ops::{Index, IndexMut};

const CHUNK: usize = 256;

#[derive(Debug)]
pub(crate) struct Pool<T> {
    chunks: Vec<Box<[Slot<T>]>>,
    /// The first vacant slot; each names the next.
    vacant: usize,
}

#[derive(Debug)]
enum Slot<T> {
    Vacant { next: usize },
    Taken(T),
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), vacant: 0 }
    }
}

impl<T> Pool<T> {
    pub(crate) fn insert(&mut self, thing: T) -> usize {
        let ix = self.vacant;
        if ix == self.chunks.len() * CHUNK {
            self.chunks.push((ix..ix + CHUNK).map(|ix| Slot::Vacant { next: ix + 1 }).collect());
        }
        let slot = &mut self.chunks[ix / CHUNK][ix % CHUNK];
        match slot {
            Slot::Vacant { next } => self.vacant = *next,
            Slot::Taken(_) => panic!("slot {ix} was on the vacant list"),
        }
        *slot = Slot::Taken(thing);
        ix
    }

    /// Drops a thing where it is; an index that was not given, or was taken back, is a defect.
    pub(crate) fn remove(&mut self, ix: usize) {
        let slot = &mut self.chunks[ix / CHUNK][ix % CHUNK];
        assert!(matches!(slot, Slot::Taken(_)), "slot {ix} was vacant");
        *slot = Slot::Vacant { next: self.vacant };
        self.vacant = ix;
    }

    pub(crate) fn get(&self, ix: usize) -> Option<&T> {
        match self.chunks.get(ix / CHUNK)?.get(ix % CHUNK)? {
            Slot::Taken(thing) => Some(thing),
            Slot::Vacant { .. } => None,
        }
    }

    pub(crate) fn get_mut(&mut self, ix: usize) -> Option<&mut T> {
        match self.slot_mut(ix)? {
            Slot::Taken(thing) => Some(thing),
            Slot::Vacant { .. } => None,
        }
    }

    pub(crate) fn contains(&self, ix: usize) -> bool {
        self.get(ix).is_some()
    }

    fn slot_mut(&mut self, ix: usize) -> Option<&mut Slot<T>> {
        self.chunks.get_mut(ix / CHUNK)?.get_mut(ix % CHUNK)
    }
}

impl<T> Index<usize> for Pool<T> {
    type Output = T;
    fn index(&self, ix: usize) -> &T {
        self.get(ix).expect("an index that was given and not taken back")
    }
}

impl<T> IndexMut<usize> for Pool<T> {
    fn index_mut(&mut self, ix: usize) -> &mut T {
        self.get_mut(ix).expect("an index that was given and not taken back")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_it_was_given() {
        let mut pool = Pool::default();
        let ixs: Vec<usize> = (0..CHUNK * 3 + 7).map(|n| pool.insert(n)).collect();
        for ix in ixs.iter().step_by(2) {
            pool.remove(*ix);
            assert!(!pool.contains(*ix));
        }
        let chunks = pool.chunks.len();
        for n in 0..ixs.len() / 2 {
            let ix = pool.insert(1_000_000 + n);
            assert_eq!(pool[ix], 1_000_000 + n);
        }
        assert_eq!(pool.chunks.len(), chunks, "vacant slots are used before a chunk is added");
        assert!(ixs.iter().skip(1).step_by(2).all(|ix| pool[*ix] == *ix), "the others were not touched");
        assert_eq!(pool.get(usize::MAX), None);
    }
}
