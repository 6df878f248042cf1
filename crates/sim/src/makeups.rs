//! What operators want to be made up for: backfills of stretches of the past of triggers that follow a clock. Each is asked
//! for, asked for again, and some are stopped.

use std::num::NonZeroU32;

use mainspring_engine::Backfill;
use mainspring_model::{BackfillId, BackfillOrder, Reprocess, Timestamp};

use crate::jobs::{SimJob, has_clock};
use crate::plan::{BUSY_UNTIL, SECOND};
use crate::rng::Rng;

/// How long somebody goes on asking.
const ASKED_FOR: i64 = 30 * SECOND;

/// A backfill that somebody wants.
#[derive(Debug, Clone)]
pub(crate) struct Makeup {
    /// Its trigger, by job and place in it.
    pub of: (usize, usize),
    pub backfill: Backfill,
    /// When it is asked for, once and again, and until when.
    pub asked: Vec<(i64, i64)>,
    pub stopped: Option<(i64, i64)>,
}

impl Makeup {
    pub(crate) fn all(seed: u64, jobs: &[SimJob]) -> Vec<Self> {
        let mut rng = Rng::new(seed, "backfills");
        let clocks: Vec<(usize, usize)> = jobs
            .iter()
            .enumerate()
            .filter(|(_, sim)| !sim.is_of_a_crowd())
            .flat_map(|(n, sim)| (0..sim.spec.triggers.len()).map(move |m| (n, m)))
            .filter(|(n, m)| has_clock(&jobs[*n].spec.triggers[*m]))
            .collect();
        (0..rng.range(1, 5)).map(|_| Self::any(&mut rng, &clocks)).collect()
    }

    fn any(rng: &mut Rng, clocks: &[(usize, usize)]) -> Self {
        let at = rng.range(10 * SECOND, BUSY_UNTIL);
        let from = rng.range(0, at);
        let until = from + rng.range(3 * SECOND, 45 * SECOND);
        let moment = Timestamp::from_micros;
        let id = BackfillId::new(moment(at), rng.bits());
        let backfill = Backfill {
            order: if rng.chance(50) { BackfillOrder::Oldest } else { BackfillOrder::Newest },
            reprocess: [Reprocess::None, Reprocess::Failed, Reprocess::All][rng.index(3)],
            max_active: NonZeroU32::MIN.saturating_add(rng.index(4) as u32),
            ..Backfill::new(id, moment(from), moment(until), "operator", moment(at))
        };
        let span = |at: i64| (at, at + ASKED_FOR);
        let again = rng.chance(40).then(|| span(at + rng.range(0, 30 * SECOND)));
        let stopped = rng.chance(45).then(|| span(at + rng.range(SECOND / 2, 15 * SECOND)));
        let asked = std::iter::once(span(at)).chain(again).collect();
        Self { of: clocks[rng.index(clocks.len())], backfill, asked, stopped }
    }
}
