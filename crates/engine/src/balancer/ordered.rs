//! Balancers that are one order: the first node in it that fits.

use super::{Balancer, Candidates, NodeIx, Order};
use crate::room::Room;

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

/// A core stands for so much memory when it is asked what a run needs more of.
const MEMORY_OF_A_CORE_BYTES: u64 = 4 << 30;

/// The fullest node that still has room, so that others stay free for large runs: by the reserved share of cpu or memory,
/// whichever the runs need more of. Runs that reserve nothing fill nothing: they go to the node with the fewest attempts.
#[derive(Debug, Clone, Copy)]
pub struct BestFit {
    orders: &'static [Order],
}

impl BestFit {
    pub(crate) fn new(need: &Room) -> Self {
        let cores_bytes = u128::from(need.cpu_milli) * u128::from(MEMORY_OF_A_CORE_BYTES) / 1_000;
        let orders: &'static [Order] =
            if need.cpu_milli == 0 && need.memory_bytes == 0 && need.named.is_empty() {
                &[Order::Active]
            } else if cores_bytes >= u128::from(need.memory_bytes) {
                &[Order::UsedCpu]
            } else {
                &[Order::UsedMemory]
            };
        Self { orders }
    }
}

impl Balancer for BestFit {
    fn name(&self) -> &'static str {
        "best_fit"
    }
    fn orders(&self) -> &'static [Order] {
        self.orders
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        let fits = |ix: &NodeIx| candidates.fits(*ix);
        match self.orders {
            [Order::Active] => candidates.first_by(Order::Active),
            orders => orders.iter().find_map(|order| candidates.fullest_by(*order).find(fits)),
        }
    }
    fn ranked<'a>(&self, candidates: &'a Candidates<'_>) -> Box<dyn Iterator<Item = NodeIx> + 'a> {
        match self.orders {
            [Order::Active] => Box::new(candidates.by(Order::Active)),
            orders => Box::new(orders.iter().flat_map(|order| candidates.fullest_by(*order))),
        }
    }
}
