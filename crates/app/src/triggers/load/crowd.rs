//! Seconds in which many triggers fire. What happens every day in the same minute is one crowd, and a crowd that is part of
//! another is not told.

use std::cmp::Reverse;

use mainspring_model::Timestamp;
use mainspring_wire::api::{Crowd, CrowdTrigger};

use super::SECOND_US;
use super::spread::spread;
use super::tally::Walk;

/// Crowds that are told.
const CROWDS_MAX: usize = 10;
/// Minutes of the day that are looked at to find so many.
const MINUTES_MAX: usize = 60;
/// Triggers of one crowd that are told.
const TRIGGERS_MAX: usize = 20;
const DAY_S: i64 = 86_400;
const DAY_MINUTES: usize = 1_440;

/// A minute of the day.
#[derive(Debug, Clone, Copy, Default)]
struct Minute {
    /// The most that fire in one of its seconds.
    most: u32,
    /// The first second in which so many do.
    at: i64,
    /// In how many of its seconds several do.
    times: u64,
}

/// The largest crowds. `seconds` has how many fire in each second from `from` on.
pub(super) fn crowds(walks: &[Walk<'_>], seconds: &[u32], from: i64) -> Vec<Crowd> {
    let mut told: Vec<Vec<usize>> = Vec::new();
    let mut crowds = Vec::new();
    for minute in crowded(seconds, from) {
        let within: Vec<usize> = (0..walks.len()).filter(|walk| walks[*walk].crowds_in(minute.at)).collect();
        let is_part_of = |other: &Vec<usize>| within.iter().all(|walk| other.binary_search(walk).is_ok());
        if told.iter().any(is_part_of) {
            continue;
        }
        crowds.push(Crowd {
            at: Timestamp::from_micros(minute.at.saturating_mul(SECOND_US)).into(),
            count: minute.most.into(),
            times: minute.times,
            triggers: within.iter().take(TRIGGERS_MAX).map(|walk| member(&walks[*walk])).collect(),
        });
        told.push(within);
        if crowds.len() == CROWDS_MAX {
            break;
        }
    }
    crowds
}

/// Minutes of the day in which several fire in one second, the most crowded first.
fn crowded(seconds: &[u32], from: i64) -> Vec<Minute> {
    let mut minutes = vec![Minute::default(); DAY_MINUTES];
    for (second, fires) in (from..).zip(seconds).filter(|(_, fires)| **fires > 1) {
        let minute = &mut minutes[(second.rem_euclid(DAY_S) / 60) as usize];
        if *fires > minute.most {
            (minute.most, minute.at) = (*fires, second);
        }
        minute.times += 1;
    }
    minutes.retain(|minute| minute.most > 1);
    minutes.sort_by_key(|minute| (Reverse(minute.most), Reverse(minute.times), minute.at));
    minutes.truncate(MINUTES_MAX);
    minutes
}

fn member(walk: &Walk<'_>) -> CrowdTrigger {
    let plan = walk.plan;
    CrowdTrigger {
        namespace: plan.namespace.clone(),
        job_name: plan.job.to_string(),
        name: plan.trigger.name.to_string(),
        when: plan.when(),
        spread: spread(&plan.trigger, plan.seed),
    }
}
