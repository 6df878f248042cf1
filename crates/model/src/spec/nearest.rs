//! The nearest known word to one that is not known.
//!
//! Distance counts letters that are added, dropped, changed or swapped with a neighbour. A word is near
//! when it is within a third of its length, so short words need to be almost right.

/// The nearest of `known` to `word`, if one is near.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Distances grow with the product of lengths; no known word is this long.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase().replace('-', "_");
    let most = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Letters to add, drop, change or swap to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let changed = usize::from(one[i - 1] != other[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + changed);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Option<&str>) {
        let known = ["command", "args", "env", "cwd", "stdin", "user", "queue_one"];
        assert_eq!(nearest(word, known), expected, "{word}");
    }

    #[test]
    fn finds_typos_and_nothing_else() {
        check("comand", Some("command"));
        check("commnad", Some("command"));
        check("Command", Some("command"));
        check("queue-one", Some("queue_one"));
        check("arg", Some("args"));
        check("nev", Some("env"));
        check("evn", Some("env"));
        check("image", None);
        check("", None);
        check(&"x".repeat(10_000), None);
    }
}
