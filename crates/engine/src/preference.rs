//! What a job itself prefers: affinities first, then few of its own attempts in a node's spread domain, then
//! the balancer's order. Nothing here forbids a node.

use rustc_hash::FxHashMap;

use crate::balancer::{Candidates, NodeIx};
use crate::class::Class;

/// Nodes looked at for affinity, in the balancer's order. Those that match an affinity are looked at apart,
/// so a preferred node is found however far behind it is.
const LOOKED_AT_MAX: usize = 256;

/// The best of the nodes that fit.
pub(crate) fn choose(class: &Class, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
    let best = Taste::of(class, candidates).best(class, candidates)?;
    candidates.set = class.set;
    candidates.taken(best);
    Some(best)
}

/// What cannot be beaten, and how crowded each domain is.
struct Taste {
    wanted_most: i64,
    crowds: FxHashMap<Option<Box<str>>, u32>,
    crowd_least: u32,
}

impl Taste {
    fn of(class: &Class, candidates: &Candidates<'_>) -> Self {
        let weights = class.key.affinity.iter().map(|affinity| i64::from(affinity.weight));
        let mut crowds: FxHashMap<Option<Box<str>>, u32> = FxHashMap::default();
        let mut crowd_least = 0;
        if let Some(label) = &class.key.spread {
            for (node, count) in candidates.ask.job_nodes {
                let domain = candidates.entry(NodeIx(*node)).node.labels.get(label).map(Into::into);
                *crowds.entry(domain).or_insert(0) += count;
            }
            let in_domain = |domain: &Option<Box<str>>| crowds.get(domain).copied().unwrap_or(0);
            let mut least = None;
            for crowd in candidates.domains(label).map(in_domain) {
                least = Some(least.map_or(crowd, |least: u32| least.min(crowd)));
                if crowd == 0 {
                    break;
                }
            }
            crowd_least = least.unwrap_or(0);
        }
        Self { wanted_most: weights.filter(|weight| *weight > 0).sum(), crowds, crowd_least }
    }

    fn best(&self, class: &Class, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        // A job that spreads looks until it finds a domain with the fewest; that is soon unless those are full.
        let looked_at_max = if class.key.spread.is_some() { usize::MAX } else { LOOKED_AT_MAX };
        let mut best: Option<(Score, NodeIx)> = None;
        for set in class.preferred.iter().chain([&class.set]) {
            candidates.set = *set;
            let ranked = class.balancer.ranked(candidates).filter(|ix| candidates.fits(*ix));
            for ix in ranked.take(looked_at_max) {
                let score = self.score(class, candidates, ix);
                if best.is_none_or(|(most, _)| score > most) {
                    best = Some((score, ix));
                }
                if score == (self.wanted_most, -i64::from(self.crowd_least)) {
                    return Some(ix);
                }
            }
        }
        best.map(|(_, ix)| ix)
    }

    fn score(&self, class: &Class, candidates: &Candidates<'_>, ix: NodeIx) -> Score {
        let labels = &candidates.entry(ix).node.labels;
        let matching = class.key.affinity.iter().filter(|affinity| affinity.selector.matches(labels));
        let wanted = matching.map(|affinity| i64::from(affinity.weight)).sum();
        let crowd = class.key.spread.as_ref().map_or(0, |label| {
            let domain: Option<Box<str>> = labels.get(label).map(Into::into);
            self.crowds.get(&domain).copied().unwrap_or(0)
        });
        (wanted, -i64::from(crowd))
    }
}

/// Affinities, then the lack of a crowd; larger is better.
type Score = (i64, i64);
