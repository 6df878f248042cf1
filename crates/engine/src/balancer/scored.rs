//! Balancers that look at candidates until none can be better.

use super::{Balancer, Candidates, NodeIx, Order};

/// Keeps attempts of one job apart: the node with the fewest of them, then the least busy.
#[derive(Debug, Clone, Copy)]
pub struct Spread;

impl Balancer for Spread {
    fn name(&self) -> &'static str {
        "spread"
    }
    fn orders(&self) -> &'static [Order] {
        &[Order::Active]
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        // A node that holds none of the job cannot be beaten, so the search ends at the first such: it is among the first if
        // there is one.
        let looked_at_max = candidates.ask.job_nodes.len() + 1;
        let mut best: Option<(u32, NodeIx)> = None;
        for ix in candidates.by(Order::Active).filter(|ix| candidates.fits(*ix)).take(looked_at_max) {
            let held = candidates.same_job(ix);
            if best.is_none_or(|(fewest, _)| held < fewest) {
                best = Some((held, ix));
            }
            if held == 0 {
                break;
            }
        }
        best.map(|(_, ix)| ix)
    }
}
