//! Balancers that are one order: the first node in it that fits.

use super::{Balancer, Candidates, NodeIx, Order};

macro_rules! first_by {
    ($name:ident, $word:literal, $order:expr, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Balancer for $name {
            fn name(&self) -> &'static str {
                $word
            }
            fn orders(&self) -> &'static [Order] {
                &[$order]
            }
            fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
                candidates.first_by($order)
            }
        }
    };
}

first_by!(LeastActive, "least_active", Order::Active, "The node with the fewest attempts.");
first_by!(LeastCpu, "least_cpu", Order::UsedCpu, "The node with the smallest share of its cpu reserved.");
first_by!(
    LeastMemory,
    "least_memory",
    Order::UsedMemory,
    "The node with the smallest share of its memory reserved."
);

/// The fullest node that still has room, so that others stay free for large runs.
#[derive(Debug, Clone, Copy)]
pub struct BestFit;

impl Balancer for BestFit {
    fn name(&self) -> &'static str {
        "best_fit"
    }
    fn orders(&self) -> &'static [Order] {
        &[Order::FreeCpu]
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        candidates.first_from(Order::FreeCpu, candidates.need_cpu_milli())
    }
}
