//! What seeds were about, in numbers: each has to show that it was not about nothing, and all of them together that every kind
//! of thing was seen.

macro_rules! sums {
    ($($name:ident,)*) => {
        /// Sums over seeds.
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct Tally {
            $(pub $name: u64,)*
            /// The smallest.
            pub acknowledged_percent: u64,
        }

        impl Tally {
            fn sum(&mut self, other: &Self) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

sums! {
    seeds,
    steps,
    faults,
    dropped,
    fenced,
    unknown,
    takeovers,
    tasks,
    continued,
    firings,
    goodbyes,
    passed,
    follows,
    anew,
    delays,
    spent,
    self_paused,
    moves,
    trigger_pauses,
    by_hand,
    backfills,
    made_up,
    left_alone,
    stopped,
    calls,
    calls_repeated,
    calls_spent,
    calls_cancelled,
    needs_waited,
    needs_fired,
    needs_missed,
    calendar_changes,
    left_out,
    poisoned,
    judged,
    puts,
    changes_confirmed,
    changes_outlived,
    changes_followed,
    wall_clock_jumps,
    suspends,
    stranded,
    days_asleep,
    crowds,
    virtual_seconds,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.acknowledged_percent = if self.seeds == 0 {
            other.acknowledged_percent
        } else {
            self.acknowledged_percent.min(other.acknowledged_percent)
        };
        self.sum(other);
    }

    /// What many seeds together must have seen of triggers, and have not.
    pub(crate) fn unseen(&self) -> Vec<&'static str> {
        let seen = [
            (self.passed, "a moment that passed"),
            (self.anew, "a line that was told anew"),
            (self.follows, "an end that was followed"),
            (self.delays, "a run of a delay"),
            (self.spent, "a trigger at the end of its count"),
            (self.self_paused, "a trigger that paused itself"),
            (self.moves, "a cursor that was moved"),
            (self.trigger_pauses, "a trigger that was paused"),
            (self.by_hand, "a trigger that was fired by hand"),
            (self.made_up, "a run of a backfill"),
            (self.left_alone, "a moment that a backfill left alone"),
            (self.stopped, "a backfill that was stopped"),
            (self.calls, "a call of a webhook"),
            (self.calls_repeated, "a delivery that came again"),
            (self.calls_spent, "a delivery that was one too many"),
            (self.calls_cancelled, "a delivery that was cancelled before it began"),
            (self.needs_waited, "a moment that waited for another job"),
            (self.needs_fired, "a moment that fired when another job had succeeded"),
            (self.needs_missed, "a moment that waited for too long"),
            (self.calendar_changes, "a calendar that changed"),
            (self.left_out, "a moment that a calendar left out"),
            (self.poisoned, "a moment whose templates could not be rendered"),
            (self.judged, "a run of a moment that one version of a calendar leaves out"),
            (self.puts, "a job that was put anew"),
            (self.changes_confirmed, "a change that its owner confirmed"),
            (self.changes_outlived, "a change that outlived the owner"),
            (self.changes_followed, "an end after an acknowledged change that follows it"),
            (self.wall_clock_jumps, "a wall clock that jumped"),
            (self.suspends, "a machine that was suspended"),
            (self.stranded, "an owner that was cut off from the store"),
            (self.days_asleep, "ninety days without anybody"),
            (self.crowds, "a crowd of triggers"),
        ];
        seen.into_iter().filter(|(count, _)| *count == 0).map(|(_, what)| what).collect()
    }

    /// What a seed lacks to count as proof.
    pub(crate) fn vacuous(&self) -> Option<&'static str> {
        if self.takeovers == 0 {
            return Some("no takeover");
        }
        if self.fenced == 0 {
            return Some("no fenced write");
        }
        if self.unknown == 0 {
            return Some("no unknown commit");
        }
        if self.firings == 0 {
            return Some("no trigger fired");
        }
        (self.acknowledged_percent < 90).then_some("fewer than 90 % acknowledged")
    }
}
