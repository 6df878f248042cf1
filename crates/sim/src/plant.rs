//! Deliberate bugs, each of a kind that has bitten a real scheduler. They live in the simulation's own
//! shells (the store's door, the scheduler's loop, the agent), never in the product. A checker that does not
//! catch one proves nothing.

macro_rules! plants {
    ($($variant:ident, $name:literal, $what:literal;)*) => {
        /// A deliberate bug.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Plant { $(#[doc = $what] $variant,)* }

        impl Plant {
            /// Every one.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name on the command line.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// What it does.
            pub(crate) const fn what(self) -> &'static str {
                match self { $(Self::$variant => $what,)* }
            }
        }
    };
}

plants! {
    NoUniqueKey, "no-unique-key", "the store does not keep the idempotency keys of submissions unique";
    NoEpochCheck, "no-epoch-check", "the store takes the writes of a deposed owner";
    NoVersionCheck, "no-version-check", "a deposed owner's updates are written whatever the row's version";
    TakeoverAtOnce, "takeover-at-once", "a lease is taken without watching it die, and its holder does not look at its end";
    UnguardedRescue, "unguarded-rescue", "a new owner queues everything that runs again, at once";
    ForgetFlight, "forget-flight", "a new owner does not load what holds a node";
    ActBeforeCommit, "act-before-commit", "orders leave before their attempt is durable";
    AckBeforeCommit, "ack-before-commit", "a submission is acknowledged before it is durable";
    UnknownIsDone, "unknown-is-done", "a commit whose outcome is unknown is taken for done";
    NoNodeLease, "no-node-lease", "a node that hears nothing goes on executing";
    LateOrders, "late-orders", "a node executes orders however long they travelled, of any connection";
    NoOrderMemory, "no-order-memory", "a node executes an order that comes twice twice";
    SendEndingOnce, "send-ending-once", "a node reports an ending once and forgets it";
    LostTooSoon, "lost-too-soon", "the owner gives a node up before the node gives up itself";
    ForgetPatience, "forget-patience", "the owner gives up a node that was told to be waited for longer";
    NeverLost, "never-lost", "a silent node is never given up";
    NoConcurrencyLimit, "no-concurrency-limit", "the owner does not know the concurrency limit";
    NoOverlap, "no-overlap", "the owner lets every run wait, whatever its job says about overlaps";
    NoRateLimit, "no-rate-limit", "the owner does not know the rate limit";
    ForgetStarts, "forget-starts", "a new owner does not know what the old one started under a rate limit";
    Overbooking, "overbooking", "the owner believes that runs need a quarter of what they need";
    EndlessRetries, "endless-retries", "the owner does not know how many retries there are";
    WallClock, "wall-clock", "a scheduler goes by its own wall clock instead of the store's";
    DeafToClock, "deaf-to-clock", "a scheduler reads the store's clock once and never follows it";
    SleepyClock, "sleepy-clock", "a node counts its lease on a clock that stands still while the machine is suspended";
    HastySuccessor, "hasty-successor", "a new owner gives up nodes whose leases the old one may still extend";
    ForgetPause, "forget-pause", "a scheduler does not look at whether a job is paused when it reads or takes its runs";
    ForgetDrain, "forget-drain", "a new owner takes nodes that are being emptied for nodes in service";
    ForgetNode, "forget-node", "a new owner reads that something runs, but not where";
    HastyGoodbye, "hasty-goodbye", "a node leaves with what it holds, and its owner writes at once that it left";
    ForgetCheckpoint, "forget-checkpoint", "orders leave without what the last attempt wrote down";
    ForgetDeadline, "forget-deadline", "an owner does not know the deadline of what it reads";
    ForgetMoments, "forget-moments", "a new owner counts the moments of triggers from when it took the cell";
    ForgetFollow, "forget-follow", "a new owner does not know which ends were not followed";
    HastyDelay, "hasty-delay", "a new owner takes the last run of a delay for ended";
    LoseCount, "lose-count", "a new owner counts the runs of triggers from nothing";
    ForgetMoves, "forget-moves", "a new owner does not know that a cursor was moved, or that a row is behind the ledger";
    FireTwice, "fire-twice", "a new owner goes back twenty seconds, and the store takes a second run of a moment under another id";
    ForgetActive, "forget-active", "a new owner does not know which runs of a backfill are active";
    ForgetStop, "forget-stop", "a new owner does not know that a backfill was stopped";
    LoseTally, "lose-tally", "a new owner counts the runs of a backfill from nothing";
    LoseKeys, "lose-keys", "a call of a webhook reaches its owner without the key of its delivery";
    ForgetCalls, "forget-calls", "a new owner does not load runs of calls that have not begun";
    HastyNeeds, "hasty-needs", "an owner takes the jobs that a trigger needs for done";
    ForgetSuccess, "forget-success", "a new owner does not know which jobs have succeeded that a trigger needs";
    OldCalendar, "old-calendar", "an owner never reads what a calendar says by now";
    DeafToCalendars, "deaf-to-calendars", "an owner does not hear that a calendar changed";
    HastyPut, "hasty-put", "a change of a job is acknowledged when it is written, whether or not its owner knows of it";
    ConfirmUnread, "confirm-unread", "a scheduler confirms a change of a job that it has not read";
    DropReads, "drop-reads", "an answer of the store that is lost is not asked for again";
    SilentPoison, "silent-poison", "a moment whose templates cannot be rendered is passed over without a line";
    DeadlyPoison, "deadly-poison", "an owner dies of a moment whose templates cannot be rendered, and so does the next one";
}

impl Plant {
    /// The bug with this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|plant| plant.name() == name)
    }
}
