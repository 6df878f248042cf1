//! Running one plan to its end, and making a failing one smaller.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::checker::Violation;
use crate::plan::Plan;
use crate::plant::Plant;
use crate::tally::Tally;
use crate::world::World;

/// How a plan ended.
pub(crate) struct Ended {
    pub hash: u64,
    pub tally: Tally,
    pub violation: Option<Violation>,
    /// The story, most of it only when asked for.
    pub story: Vec<String>,
    pub at: i64,
}

/// Runs a plan. A panic of the engine is a violation like any other.
pub(crate) fn run(plan: &Plan, plant: Option<Plant>, verbose: bool) -> Ended {
    let mut world = World::new(plan.clone(), plant, verbose);
    let outcome = catch_unwind(AssertUnwindSafe(|| drive(&mut world)));
    let violation = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(violation)) => Some(violation),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let what = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic").to_owned();
            Some(Violation { invariant: "panic", what, about: Vec::new() })
        }
    };
    let about = violation.as_ref().map(|violation| violation.about.clone()).unwrap_or_default();
    let story = if about.is_empty() || verbose {
        world.trace.lines().map(str::to_owned).collect()
    } else {
        let mut words = about;
        words.extend(["FAULT".into(), " owns ".into()]);
        world.trace.about(&words).into_iter().map(str::to_owned).collect()
    };
    Ended { hash: world.trace.hash(), tally: world.tally(), violation, story, at: world.now }
}

fn drive(world: &mut World) -> Result<(), Violation> {
    while world.step()? {}
    world.check_rest()
}

/// Takes faults away while the plan still fails, and answers the smallest found.
pub(crate) fn shrink(plan: &Plan, plant: Option<Plant>) -> Plan {
    let mut best = plan.clone();
    let mut chunk = best.faults.len().div_ceil(2).max(1);
    loop {
        let mut smaller = false;
        let mut start = 0;
        while start < best.faults.len() {
            let mut fewer = best.clone();
            fewer.faults.drain(start..(start + chunk).min(best.faults.len()));
            if run(&fewer, plant, false).violation.is_some() {
                best = fewer;
                smaller = true;
            } else {
                start += chunk;
            }
        }
        if chunk == 1 && !smaller {
            return best;
        }
        chunk = (chunk / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Fault, FaultKind};

    #[test]
    fn the_same_seed_tells_the_same_story() {
        for seed in [1, 2, 3] {
            let plan = Plan::new(seed);
            let (first, again) = (run(&plan, None, false), run(&plan, None, true));
            assert!(first.violation.is_none(), "seed {seed}: {:?}", first.violation);
            assert_eq!(first.tally.vacuous(), None, "seed {seed}");
            assert_eq!(first.hash, again.hash, "seed {seed}");
        }
        assert_ne!(run(&Plan::new(1), None, false).hash, run(&Plan::new(2), None, false).hash);
    }

    #[test]
    fn a_planted_bug_is_caught_and_its_faults_are_made_fewer() {
        // Half of a clock that goes back and is put right never comes to rest.
        let jumps = |fault: &Fault| matches!(fault.kind, FaultKind::StoreClockJump { .. });
        let caught = (1..=50)
            .map(Plan::new)
            .filter(|plan| !plan.faults.iter().any(jumps))
            .find(|plan| run(plan, Some(Plant::ForgetDrain), false).violation.is_some());
        let plan = caught.expect("an owner that forgets drains is caught within 50 seeds");
        let small = shrink(&plan, Some(Plant::ForgetDrain));
        assert!(small.faults.len() < plan.faults.len(), "{small:?}");
        let violation = run(&small, Some(Plant::ForgetDrain), false).violation;
        assert!(violation.is_some(), "what is left still fails");
        assert!(run(&small, None, false).violation.is_none(), "and only because of the plant");
    }
}
