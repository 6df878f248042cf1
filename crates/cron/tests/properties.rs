//! What holds for every expression.

use mainspring_cron::{Cron, DayRule, Dst, Gap, Overlap, Zone};
use proptest::prelude::*;

use super::expressions::{Chance, Kind, expression};

const MICROS: i64 = 1_000_000;

fn zones() -> Vec<String> {
    Zone::names().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whatever is asked in between, the moments are the same, and strictly later than what they follow.
    #[test]
    fn the_next_moment_depends_on_nothing_else(seed: u64, second in 0i64..4_102_444_800, skip in 0u64..100_000) {
        let mut chance = Chance(seed);
        let kind = chance.pick(&[Kind::Fixed, Kind::Elapsed, Kind::Several]);
        let Ok(cron) = Cron::parse(&expression(&mut chance, kind), DayRule::Or, seed) else { return Ok(()) };
        let names = zones();
        let zone: Zone = names[chance.below(names.len() as u64) as usize].parse().unwrap();
        let gap = chance.pick(&[Gap::Once, Gap::Skip]);
        let dst = Dst { gap, overlap: chance.pick(&[Overlap::First, Overlap::Both]) };
        let after = second * MICROS;
        let Some(next) = cron.next(after, &zone, dst) else { return Ok(()) };
        prop_assert!(next > after);
        let between = (second + skip as i64).min(next / MICROS - 1) * MICROS;
        prop_assert_eq!(cron.next(between, &zone, dst), Some(next));
    }
}
