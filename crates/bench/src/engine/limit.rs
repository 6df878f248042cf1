//! What the machine allows: the least that a scheduler with a queue in order must do for each run.

use std::collections::BTreeMap;
use std::hint::black_box;

use mainspring_model::{RunId, Timestamp, hash};

use crate::cpu_time;

/// The seconds of inserting one run into an ordered map of `waiting` runs and removing the first.
pub(super) fn ordered_map(waiting: usize, cycles: usize) -> f64 {
    let key = |n: usize| {
        let id = RunId::new(Timestamp::from_micros(n as i64), u128::from(hash::mix(n as u64)));
        ((hash::mix(n as u64) >> 20) as i64, id)
    };
    let mut map: BTreeMap<(i64, RunId), usize> = (0..waiting).map(|n| (key(n), n)).collect();
    let spent = cpu_time::spent_on(|| {
        for n in waiting..waiting + cycles {
            map.insert(key(n), n);
            black_box(map.pop_first());
        }
    });
    spent.as_secs_f64() / cycles as f64
}
