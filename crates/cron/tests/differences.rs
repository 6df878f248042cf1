//! The differences from croner that `DIFFERENCES.md` lists, by their numbers, each as narrow as its reason.

use std::fmt;

use mainspring_cron::Zone;

use super::expressions::Kind;
use super::turns::{Turn, turns};

/// Two answers to one question, in seconds.
pub(crate) struct Difference<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: Kind,
    pub(crate) zone: &'a Zone,
    pub(crate) name: &'a str,
    pub(crate) after: i64,
    pub(crate) ours: Option<i64>,
    pub(crate) theirs: Option<i64>,
}

const DAY: i64 = 86_400;

impl Difference<'_> {
    pub(crate) fn is_listed(&self) -> bool {
        match self.kind {
            Kind::Fixed => {
                self.is_made_up_for_nothing()
                    || self.is_dropped_with_its_day()
                    || self.is_lost_in_a_long_gap()
            }
            Kind::Elapsed => self.is_lost_the_second_time(),
            Kind::Several => false,
        }
    }

    /// 2: croner fires at the end of a gap although the time that was asked for is not in the gap.
    fn is_made_up_for_nothing(&self) -> bool {
        let Some((gap, end)) = self.theirs.and_then(|theirs| self.gap_before(theirs)) else { return false };
        let days = gap.div_euclid(DAY)..=end.div_euclid(DAY);
        days.into_iter().all(|day| !(gap..end).contains(&(day * DAY + self.time())))
    }

    /// 5: a time in a gap that ends on the next day.
    fn is_dropped_with_its_day(&self) -> bool {
        let Some((gap, end)) = self.ours.and_then(|ours| self.gap_before(ours)) else { return false };
        let left_out = gap.div_euclid(DAY) * DAY + self.time();
        (gap..end).contains(&left_out)
            && gap.div_euclid(DAY) < end.div_euclid(DAY)
            && self.theirs.is_none_or(|theirs| Some(theirs) > self.ours)
    }

    /// 6: a gap of more than two hours, near to where the search began.
    fn is_lost_in_a_long_gap(&self) -> bool {
        let is_long =
            |turn: &Turn| turn.after - turn.before > 7_200 && (turn.at - self.after).abs() < 2 * DAY;
        self.theirs.is_none() && turns(self.name).iter().any(is_long)
    }

    /// 7: what comes a second time, asked for in the last second of the first time, or the last there is.
    fn is_lost_the_second_time(&self) -> bool {
        let is_second_time = |turn: &Turn| {
            self.ours.is_some_and(|ours| (turn.at..turn.at + turn.before - turn.after).contains(&ours))
                && (turn.at == self.after + 1 || self.theirs.is_none())
        };
        turns(self.name).iter().any(is_second_time)
    }

    /// The local seconds that are left out just before a second.
    fn gap_before(&self, second: i64) -> Option<(i64, i64)> {
        let (gap, end) = (second + self.zone.offset(second - 1), second + self.zone.offset(second));
        (gap < end).then_some((gap, end))
    }

    /// The time of day of an expression that has one, in seconds.
    fn time(&self) -> i64 {
        let time: Vec<i64> = self.text.split(' ').take(3).map(|field| field.parse().unwrap()).collect();
        time[0] + 60 * time[1] + 3_600 * time[2]
    }
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |second: Option<i64>| second.map_or("never".to_owned(), |at| self.zone.wall_clock(at));
        let (ours, theirs) = (shown(self.ours), shown(self.theirs));
        let after = self.zone.wall_clock(self.after);
        write!(f, "`{}` in {} after {after}: {ours}, by croner {theirs}", self.text, self.name)
    }
}
