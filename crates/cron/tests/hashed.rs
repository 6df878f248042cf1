//! `H` fires as the numbers that it stands for, which croner knows.

use mainspring_cron::{Cron, DayRule, Dst, Zone};

use super::croner::{Compared, compare_with_croner};
use super::expressions::{Chance, Kind};
use super::hashes::{Hashed, hashed};
use super::turns::{END, turns};

const MICROS: i64 = 1_000_000;

#[test]
fn a_hash_fires_as_the_numbers_that_it_stands_for() {
    let names: Vec<String> = Zone::names().collect();
    let turns: Vec<_> = names.iter().map(|name| turns(name)).collect();
    let (mut chance, mut compared, mut by_croner) = (Chance(4), 0, 0);
    for _ in 0..8_000 {
        let seed = chance.draw();
        let Hashed { text, literal, is_elapsed } = hashed(&mut chance, seed);
        let rule = chance.pick(&[DayRule::Or, DayRule::And]);
        let (Ok(ours), Ok(same)) = (Cron::parse(&text, rule, seed), Cron::parse(&literal, rule, 0)) else {
            assert!(Cron::parse(&text, rule, seed).is_err() && Cron::parse(&literal, rule, 0).is_err());
            continue;
        };
        let at = chance.below(names.len() as u64) as usize;
        // Numbers do not say that they follow elapsed time, so those are compared where no clock is turned.
        let is_still = is_elapsed || turns[at].is_empty();
        let name = if is_still { "UTC" } else { names[at].as_str() };
        let zone: Zone = name.parse().unwrap();
        let mut after = match is_still {
            true => chance.below(END as u64) as i64,
            false => chance.pick(&turns[at]).shortly_before(&mut chance),
        };
        for _ in 0..5 {
            let next = ours.next(after * MICROS, &zone, Dst::default());
            let expected = same.next(after * MICROS, &zone, Dst::default());
            assert_eq!(next, expected, "`{text}` of {seed} or `{literal}` in {name} after {after}");
            let Some(next) = next else { break };
            after = next / MICROS;
        }
        compared += 1;
        let compared = compare_with_croner(&literal, rule, Kind::Several, "UTC", after);
        by_croner += usize::from(compared == Compared::Same);
    }
    assert!(compared > 7_000 && by_croner > 6_000, "{compared}, {by_croner} of them with croner");
}

/// What is drawn never changes: every job that uses `H` would move.
#[test]
fn a_hash_draws_the_same_for_ever() {
    let drawn = |seed: u64| {
        let cron = Cron::parse("H H H H H ?", DayRule::Or, seed).unwrap();
        let utc: Zone = "UTC".parse().unwrap();
        cron.next(0, &utc, Dst::default()).map(|next| next / MICROS)
    };
    assert_eq!([1, 2, 0xdead_beef].map(drawn), [29_540_770, 19_906_057, 16_159_772].map(Some));
}
