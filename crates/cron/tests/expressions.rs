//! Expressions by chance, the same in every run.

/// Chance from a seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// What the time of day is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One time of day.
    Fixed,
    /// Every minute or hour, or every so many.
    Elapsed,
    /// Several times of day.
    Several,
}

pub(crate) fn expression(chance: &mut Chance, kind: Kind) -> String {
    let time = match kind {
        Kind::Fixed => format!("{} {} {}", chance.below(60), chance.below(60), chance.below(24)),
        Kind::Elapsed => match chance.below(5) {
            0 => format!("0 {} *", chance.below(60)),
            1 => format!("0 */{} *", 1 + chance.below(30)),
            2 => format!("0 {} */{}", chance.below(60), 1 + chance.below(12)),
            3 => format!("*/{} {} {}", 1 + chance.below(30), chance.below(60), chance.below(24)),
            _ => format!("0 */{} {}", 1 + chance.below(59), chance.below(24)),
        },
        Kind::Several => match chance.below(3) {
            0 => format!(
                "0 {},{} {}-{}",
                chance.below(60),
                chance.below(60),
                chance.below(10),
                12 + chance.below(12)
            ),
            1 => {
                format!("{} {} {},{}", chance.below(60), chance.below(60), chance.below(24), chance.below(24))
            }
            _ => format!("0,30 {}-{}/7 {}", chance.below(20), 30 + chance.below(30), chance.below(24)),
        },
    };
    format!("{time} {}", days(chance))
}

fn days(chance: &mut Chance) -> String {
    let month = match chance.below(6) {
        0 => format!("{}", 1 + chance.below(12)),
        1 => format!("{}-{}", 1 + chance.below(6), 6 + chance.below(7)),
        2 => "*/3".to_owned(),
        _ => "*".to_owned(),
    };
    let (mut day, mut weekday) = ("*".to_owned(), "*".to_owned());
    let pick = chance.below(8);
    if pick < 3 || pick == 7 {
        day = match chance.below(7) {
            0 => "L".to_owned(),
            1 => format!("{}W", 1 + chance.below(28)),
            2 => "LW".to_owned(),
            3 => format!("{}-{}", 1 + chance.below(10), 11 + chance.below(21)),
            4 => format!("{},{}", 1 + chance.below(31), 1 + chance.below(28)),
            _ => format!("{}", 1 + chance.below(28)),
        };
    }
    if (3..6).contains(&pick) || pick == 7 {
        weekday = match chance.below(5) {
            0 => format!("{}L", chance.below(7)),
            1 => format!("{}#{}", chance.below(7), 1 + chance.below(4)),
            2 => "MON-FRI".to_owned(),
            3 => format!("{},{}", chance.below(7), chance.below(8)),
            _ => format!("{}", chance.below(8)),
        };
    }
    format!("{day} {month} {weekday}")
}
