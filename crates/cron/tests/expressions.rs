//! Expressions by chance, the same in every run: of six fields, or of seven with the year.

/// Chance from a seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn draw(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// One of the numbers from `first` to `last`.
    pub(crate) fn within(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
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

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Fixed, Self::Elapsed, Self::Several];
}

pub(crate) fn expression(chance: &mut Chance, kind: Kind) -> String {
    let time = time(chance, kind);
    let days = days(chance);
    match year(chance) {
        Some(year) => format!("{time} {days} {year}"),
        None => format!("{time} {days}"),
    }
}

fn time(chance: &mut Chance, kind: Kind) -> String {
    match kind {
        Kind::Fixed => format!("{} {} {}", chance.below(60), chance.below(60), chance.below(24)),
        Kind::Elapsed => match chance.below(5) {
            0 => format!("0 {} *", chance.below(60)),
            1 => format!("0 */{} *", chance.within(1, 30)),
            2 => format!("0 {} */{}", chance.below(60), chance.within(1, 12)),
            3 => format!("*/{} {} {}", chance.within(1, 30), chance.below(60), chance.below(24)),
            _ => format!("0 */{} {}", chance.within(1, 59), chance.below(24)),
        },
        Kind::Several => match chance.below(3) {
            0 => {
                let (first, last) = (chance.below(10), chance.within(12, 23));
                format!("0 {},{} {first}-{last}", chance.below(60), chance.below(60))
            }
            1 => {
                format!("{} {} {},{}", chance.below(60), chance.below(60), chance.below(24), chance.below(24))
            }
            _ => format!("0,30 {}-{}/7 {}", chance.below(20), chance.within(30, 59), chance.below(24)),
        },
    }
}

fn days(chance: &mut Chance) -> String {
    let month = match chance.below(6) {
        0 => format!("{}", chance.within(1, 12)),
        1 => format!("{}-{}", chance.within(1, 6), chance.within(6, 12)),
        2 => "*/3".to_owned(),
        _ => "*".to_owned(),
    };
    let (mut day, mut weekday) = ("*".to_owned(), "*".to_owned());
    let pick = chance.below(8);
    if pick < 3 || pick == 7 {
        day = match chance.below(10) {
            0 => "L".to_owned(),
            1 => format!("{}W", chance.within(1, 31)),
            2 => "LW".to_owned(),
            3 => format!("{}-{}", chance.within(1, 10), chance.within(11, 31)),
            4 => format!("{},{}", chance.within(1, 31), chance.within(1, 28)),
            5 => format!("L-{}", chance.within(1, 30)),
            6 => format!("L-{}W", chance.within(1, 27)),
            7 => format!("{}", chance.within(29, 31)),
            _ => format!("{}", chance.within(1, 31)),
        };
    }
    if (3..6).contains(&pick) || pick == 7 {
        weekday = match chance.below(5) {
            0 => format!("{}L", chance.below(7)),
            1 => format!("{}#{}", chance.below(7), chance.within(1, 5)),
            2 => "MON-FRI".to_owned(),
            3 => format!("{},{}", chance.below(7), chance.below(8)),
            _ => format!("{}", chance.below(8)),
        };
    }
    format!("{day} {month} {weekday}")
}

/// The year, of one expression in four.
fn year(chance: &mut Chance) -> Option<String> {
    let first = chance.within(1970, 2095);
    match chance.below(20) {
        0 => Some(format!("{first}")),
        1 => Some(format!("{first}-{}", first + chance.below(6))),
        2 => Some(format!("{first},{}", chance.within(1970, 2099))),
        3 => Some(format!("*/{}", chance.within(2, 9))),
        4 => Some(format!("{first}-2099/{}", chance.within(2, 9))),
        _ => None,
    }
}
