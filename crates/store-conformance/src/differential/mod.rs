//! The same random calls to a store and to an oracle: every answer must be the same, reads included.
//!
//! The calls come from one seed, over few ids, keys, names and cells, so that most of them meet: conflicts,
//! replays, deposed owners, refused requests. Between them everything that can be read is read. One task makes
//! all calls, so a difference is a difference in meaning, never in timing; races are cases of their own.

mod call;
mod rows;
mod script;
mod seeded;
mod writes;

use std::sync::Arc;

use mainspring_store::{Conflict, Outcome, Store};

use call::{Answer, Call};
use script::Script;

/// Calls between two readings of everything.
const SWEEP_EVERY: u64 = 40;

/// What the calls met: a comparison that met nothing compared nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Answers that were compared.
    pub answers: u64,
    /// Writes that were applied.
    pub applied: u64,
    /// Writes that found a row or a version in their way.
    pub conflicts: u64,
    /// Writes that found their key or name taken.
    pub keys_taken: u64,
    /// Batches that came twice.
    pub replays: u64,
    /// Batches whose fence was lost.
    pub fences_lost: u64,
    /// Requests that were invalid.
    pub invalid: u64,
    /// Writes that were undone for the sake of another.
    pub undone: u64,
    /// Runs and records that retention removed.
    pub removed: u64,
}

/// Plays `steps` calls from `seed` to both and panics at the first difference, with the seed, the step, the
/// call and both answers. Both stores are fresh.
pub async fn run(store: Arc<dyn Store>, oracle: Arc<dyn Store>, seed: u64, steps: u64) -> Summary {
    let mut script = Script::new(seed, Arc::clone(&oracle));
    let mut summary = Summary::default();
    for step in 1..=steps {
        let call = script.next_call().await;
        let repeats = script.repeats(&call);
        let answer = compare(&store, &oracle, &call, (seed, step)).await;
        script.learn(&call, &answer);
        summary.count(&call, &answer, repeats);
        if step.is_multiple_of(SWEEP_EVERY) || step == steps {
            for call in script.read_everything() {
                compare(&store, &oracle, &call, (seed, step)).await;
                summary.answers += 1;
            }
        }
    }
    summary
}

async fn compare(
    store: &Arc<dyn Store>,
    oracle: &Arc<dyn Store>,
    call: &Call,
    (seed, step): (u64, u64),
) -> Answer {
    let (answer, expected) = (call.play(store).await, call.play(oracle).await);
    assert!(
        answer == expected,
        "seed {seed}, step {step}: {call:#?}\nthe store answers  {answer:#?}\nthe oracle answers {expected:#?}"
    );
    answer
}

impl Summary {
    fn count(&mut self, call: &Call, answer: &Answer, repeats: bool) {
        self.answers += 1;
        match answer {
            Answer::Outcomes(outcomes) => {
                self.replays += u64::from(repeats);
                for outcome in outcomes {
                    match outcome {
                        Outcome::Applied => self.applied += 1,
                        Outcome::Conflict(Conflict::KeyTaken(_)) => self.keys_taken += 1,
                        Outcome::Conflict(_) => self.conflicts += 1,
                        Outcome::Undone => self.undone += 1,
                    }
                }
            }
            Answer::FenceLost(..) => self.fences_lost += 1,
            Answer::Invalid => self.invalid += 1,
            Answer::Count(count) if matches!(call, Call::Retain(..) | Call::RetainRecords(..)) => {
                self.removed += count;
            }
            _ => {}
        }
    }

    /// Adds another summary.
    pub fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.applied += other.applied;
        self.conflicts += other.conflicts;
        self.keys_taken += other.keys_taken;
        self.replays += other.replays;
        self.fences_lost += other.fences_lost;
        self.invalid += other.invalid;
        self.undone += other.undone;
        self.removed += other.removed;
    }

    /// Panics unless the calls met everything that they are there to meet.
    pub fn assert_not_vacuous(&self) {
        let met = [
            self.applied,
            self.conflicts,
            self.keys_taken,
            self.replays,
            self.fences_lost,
            self.invalid,
            self.undone,
            self.removed,
        ];
        assert!(met.iter().all(|count| *count > 0), "the calls met too little: {self:?}");
    }
}
