//! Expressions with hashes, and the same with the numbers that they stand for. How a number is drawn is written down here a
//! second time, and a third time in the oracle.

use super::expressions::Chance;

/// A field: what it is from and to, and the last value that a hash without a range draws.
#[derive(Clone, Copy)]
struct Bounds {
    place: u64,
    first: u64,
    last: u64,
    drawn_last: u64,
}

const FIELDS: [Bounds; 6] = [
    Bounds { place: 0, first: 0, last: 59, drawn_last: 59 },
    Bounds { place: 1, first: 0, last: 59, drawn_last: 59 },
    Bounds { place: 2, first: 0, last: 23, drawn_last: 23 },
    Bounds { place: 3, first: 1, last: 31, drawn_last: 28 },
    Bounds { place: 4, first: 1, last: 12, drawn_last: 12 },
    Bounds { place: 5, first: 0, last: 6, drawn_last: 6 },
];

/// An expression with hashes, and with what they stand for.
pub(crate) struct Hashed {
    pub(crate) text: String,
    pub(crate) literal: String,
    /// Whether it follows elapsed time, which numbers in its place do not.
    pub(crate) is_elapsed: bool,
}

pub(crate) fn hashed(chance: &mut Chance, seed: u64) -> Hashed {
    let (mut text, mut literal, mut is_elapsed) = (Vec::new(), Vec::new(), false);
    for field in FIELDS {
        let is_day = field.place >= 3;
        let (with, without) = match chance.below(if is_day { 8 } else { 5 }) {
            0 => field.any(seed),
            1 => field.ranged(chance, seed),
            2 => {
                is_elapsed |= !is_day;
                field.stepped(chance, seed)
            }
            3 => field.ranged_and_stepped(chance, seed),
            _ if is_day => ("*".to_owned(), "*".to_owned()),
            _ => {
                let number = chance.within(field.first, field.last).to_string();
                (number.clone(), number)
            }
        };
        text.push(with);
        literal.push(without);
    }
    Hashed { text: text.join(" "), literal: literal.join(" "), is_elapsed }
}

impl Bounds {
    fn hash(&self, seed: u64) -> u64 {
        Chance(seed ^ Chance(self.place).draw()).draw()
    }

    fn any(self, seed: u64) -> (String, String) {
        let drawn = self.first + self.hash(seed) % (self.drawn_last - self.first + 1);
        ("H".to_owned(), drawn.to_string())
    }

    fn range(self, chance: &mut Chance) -> (u64, u64) {
        let first = chance.within(self.first, self.last);
        (first, chance.within(first, self.last))
    }

    fn ranged(self, chance: &mut Chance, seed: u64) -> (String, String) {
        let (first, last) = self.range(chance);
        let drawn = first + self.hash(seed) % (last - first + 1);
        (format!("H({first}-{last})"), drawn.to_string())
    }

    fn stepped(self, chance: &mut Chance, seed: u64) -> (String, String) {
        let step = chance.within(1, (self.last - self.first).min(30));
        (format!("H/{step}"), list(self.first + self.hash(seed) % step, self.last, step))
    }

    fn ranged_and_stepped(self, chance: &mut Chance, seed: u64) -> (String, String) {
        let (first, last) = self.range(chance);
        let step = chance.within(1, (last - first + 1).min(self.last));
        (format!("H({first}-{last})/{step}"), list(first + self.hash(seed) % step, last, step))
    }
}

fn list(first: u64, last: u64, step: u64) -> String {
    let numbers = (first..=last).step_by(step as usize).map(|number| number.to_string());
    numbers.collect::<Vec<_>>().join(",")
}
