//! The permission table: every operation there is, the role it needs and where it needs it.
//!
//! A route names one of these or does not compile; a use case asks [`crate::Principal::may`] with the same. Invariant: what
//! changes something is `changes`, and is written to the audit, allowed or denied.

use mainspring_wire::api::Role;

/// Where a role is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the namespace of what is touched.
    Namespace,
    /// Everywhere: what is touched belongs to nobody's namespace.
    Cluster,
    /// Nowhere: it is enough to be signed in. What is touched is the caller's own.
    SignedIn,
    /// Not even that.
    Anyone,
}

macro_rules! operations {
    ($($variant:ident, $name:literal, $role:ident, $place:ident, $changes:literal, $help:literal;)*) => {
        /// Something that can be asked for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Operation { $(#[doc = $help] $variant,)* }

        impl Operation {
            /// Every operation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The operation's word, in the audit and in the schema.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// The role it needs; of no meaning where nobody or anybody signed in may.
            pub const fn role(self) -> Role {
                match self { $(Self::$variant => Role::$role,)* }
            }
            /// Where the role is needed.
            pub const fn place(self) -> Place {
                match self { $(Self::$variant => Place::$place,)* }
            }
            /// Whether it changes something.
            pub const fn changes(self) -> bool {
                match self { $(Self::$variant => $changes,)* }
            }
            /// The operation with this word.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|operation| operation.name() == name)
            }
            /// What it does, in a sentence.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

operations! {
    JobList, "job.list", Viewer, Namespace, false, "Lists jobs.";
    JobGet, "job.get", Viewer, Namespace, false, "Reads a job.";
    JobPut, "job.put", Editor, Namespace, true, "Creates a job or gives it a new version.";
    JobValidate, "job.validate", Viewer, Namespace, false, "Tells what is wrong with a job file.";
    JobDelete, "job.delete", Editor, Namespace, true, "Removes a job; its history stays.";
    JobConfirm, "job.confirm", Editor, Namespace, false, "Waits until what is stored of a job counts.";
    JobVersions, "job.versions", Viewer, Namespace, false, "Lists the versions of a job.";
    JobVersion, "job.version", Viewer, Namespace, false, "Reads a version of a job.";
    JobDiff, "job.diff", Viewer, Namespace, false, "Compares two versions of a job.";
    JobDependents, "job.dependents", Viewer, Namespace, false, "Lists the triggers that follow or need a job.";
    JobPause, "job.pause", Operator, Namespace, true, "Lets a job start no further attempts.";
    JobResume, "job.resume", Operator, Namespace, true, "Lets a paused job go on.";

    TriggerList, "trigger.list", Viewer, Namespace, false, "Lists triggers.";
    JobTriggers, "job.triggers", Viewer, Namespace, false, "Lists the triggers of a job.";
    TriggerGet, "trigger.get", Viewer, Namespace, false, "Reads a trigger.";
    TriggerHistory, "trigger.history", Viewer, Namespace, false, "Lists what became of a trigger's planned moments.";
    OccurrenceList, "occurrence.list", Viewer, Namespace, false, "Lists what became of planned moments of many triggers.";
    OccurrenceCount, "occurrence.count", Viewer, Namespace, false, "Counts what became of planned moments.";
    TriggerPreview, "trigger.preview", Viewer, SignedIn, false, "Tells when a trigger would fire.";
    TriggerLoad, "trigger.load", Viewer, Namespace, false, "Tells what is planned, by hour and pool.";
    TriggerPause, "trigger.pause", Operator, Namespace, true, "Lets a trigger fire no more.";
    TriggerResume, "trigger.resume", Operator, Namespace, true, "Lets a paused trigger go on.";
    TriggerFire, "trigger.fire", Operator, Namespace, true, "Fires a trigger now.";
    TriggerCursor, "trigger.cursor", Operator, Namespace, true, "Has a trigger go on from another moment.";
    TriggerToken, "trigger.token", Editor, Namespace, true, "Makes the token of a webhook; the one before is void.";
    TriggerRevoke, "trigger.revoke", Editor, Namespace, true, "Revokes the token of a webhook.";
    HookCall, "hook.call", Operator, Anyone, true, "Fires a trigger by its webhook.";

    CalendarList, "calendar.list", Viewer, Namespace, false, "Lists calendars.";
    CalendarGet, "calendar.get", Viewer, Namespace, false, "Reads a calendar.";
    CalendarPut, "calendar.put", Editor, Namespace, true, "Makes or replaces a calendar.";
    CalendarDelete, "calendar.delete", Editor, Namespace, true, "Removes a calendar.";

    BackfillList, "backfill.list", Viewer, Namespace, false, "Lists the backfills of a trigger.";
    BackfillListAll, "backfill.list_all", Viewer, Namespace, false, "Lists the backfills of many triggers.";
    BackfillPlan, "backfill.plan", Viewer, Namespace, false, "Tells what a backfill would do.";
    BackfillStart, "backfill.start", Operator, Namespace, true, "Makes up for planned moments of the past.";
    BackfillStop, "backfill.stop", Operator, Namespace, true, "Has a backfill make no more runs.";

    RunSubmit, "run.submit", Operator, Namespace, true, "Submits a run of a job.";
    RunSubmitSpec, "run.submit_spec", Editor, Namespace, true, "Submits a run with a specification of its own.";
    RunBatch, "run.batch", Operator, Namespace, true, "Submits many runs at once.";
    RunBulk, "run.bulk", Operator, Namespace, true, "Does something to every run that a query finds.";
    BulkList, "bulk.list", Operator, Namespace, false, "Lists bulk operations.";
    BulkGet, "bulk.get", Operator, Namespace, false, "Reads a bulk operation and how far it is.";
    BulkStop, "bulk.stop", Operator, Namespace, true, "Has a bulk operation act on no more runs.";
    RunList, "run.list", Viewer, Namespace, false, "Lists runs by a query.";
    RunCounts, "run.counts", Viewer, Namespace, false, "Counts the runs that a query finds.";
    Queue, "queue", Viewer, Namespace, false, "Tells what waits, and for what.";
    RunGet, "run.get", Viewer, Namespace, false, "Reads a run.";
    RunSpec, "run.spec", Viewer, Namespace, false, "Reads the specification that a run pins.";
    RunAttempts, "run.attempts", Viewer, Namespace, false, "Lists the attempts of a run.";
    RunTimeline, "run.timeline", Viewer, Namespace, false, "Tells what happened to a run.";
    RunWhy, "run.why", Viewer, Namespace, false, "Tells why a run is where it is.";
    RunLogs, "run.logs", Viewer, Namespace, false, "Reads the output of a run.";
    RunLogSearch, "run.log_search", Viewer, Namespace, false, "Finds lines in the output of a run.";
    RunLogIndex, "run.log_index", Viewer, Namespace, false, "Tells places in the output of a run, and what is missing of it.";
    RunCancel, "run.cancel", Operator, Namespace, true, "Ends a run.";
    RunRetry, "run.retry", Operator, Namespace, true, "Lets a failed run not wait for its back-off.";
    RunPrioritise, "run.prioritise", Operator, Namespace, true, "Makes a run more or less important.";
    RunRerun, "run.rerun", Operator, Namespace, true, "Submits the same again as a new run.";

    NodeList, "node.list", Viewer, Cluster, false, "Lists nodes.";
    NodeGet, "node.get", Viewer, Cluster, false, "Reads a node.";
    NodeGlance, "node.glance", Viewer, Namespace, false, "Lists nodes and pools without labels, handlers and versions.";
    NodeDrain, "node.drain", Operator, Cluster, true, "Empties a node.";
    NodeResume, "node.resume", Operator, Cluster, true, "Takes a node back into service.";
    NodeLabel, "node.label", Admin, Cluster, true, "Lays labels over those that a node gives itself.";
    NodeInvite, "node.invite", Admin, Cluster, true, "Makes a token with which one node joins once.";
    NodeLose, "node.lose", Operator, Cluster, true, "Gives up a silent node before its lease is over.";
    NodeRemove, "node.remove", Admin, Cluster, true, "Takes a node's credential away, and its row when it is lost or left.";
    PoolList, "pool.list", Viewer, Cluster, false, "Lists pools.";

    ArtifactList, "artifact.list", Viewer, Namespace, false, "Lists artifacts.";
    ArtifactPut, "artifact.put", Editor, Namespace, true, "Uploads an artifact.";
    ArtifactGet, "artifact.get", Viewer, Namespace, false, "Reads what is known about an artifact.";
    ArtifactContent, "artifact.content", Viewer, Namespace, false, "Downloads an artifact.";
    ArtifactDelete, "artifact.delete", Editor, Namespace, true, "Removes an artifact.";

    NamespaceList, "namespace.list", Viewer, Namespace, false, "Lists namespaces.";
    NamespaceGet, "namespace.get", Viewer, Namespace, false, "Reads a namespace.";
    NamespacePut, "namespace.put", Admin, Namespace, true, "Makes a namespace or describes it anew.";
    NamespaceDelete, "namespace.delete", Admin, Namespace, true, "Removes a namespace that holds nothing.";

    MemberList, "member.list", Admin, Namespace, false, "Lists who has which role.";
    MemberGet, "member.get", Admin, Namespace, false, "Reads somebody's role.";
    AccessGet, "access.get", Admin, Namespace, false, "Tells why somebody may do something, or not.";
    MemberPut, "member.put", Admin, Namespace, true, "Gives somebody a role.";
    MemberDelete, "member.delete", Admin, Namespace, true, "Takes somebody's role away.";

    TokenList, "token.list", Viewer, SignedIn, false, "Lists one's own tokens.";
    TokenListAll, "token.list_all", Admin, Cluster, false, "Lists everybody's tokens.";
    TokenGet, "token.get", Viewer, SignedIn, false, "Reads one's own token.";
    TokenGetOther, "token.get_other", Admin, Cluster, false, "Reads somebody else's token.";
    TokenCreate, "token.create", Viewer, SignedIn, true, "Makes a token for oneself.";
    TokenCreateOther, "token.create_other", Admin, Cluster, true, "Makes a token for somebody else.";
    TokenDelete, "token.delete", Viewer, SignedIn, true, "Revokes one's own token.";
    TokenDeleteOther, "token.delete_other", Admin, Cluster, true, "Revokes somebody else's token.";
    Me, "me", Viewer, SignedIn, false, "Tells who asks and what they may do.";
    SessionCreate, "session.create", Viewer, Anyone, true, "Opens a session of the console for a login code or a token.";
    SessionDelete, "session.delete", Viewer, SignedIn, true, "Ends the session.";
    LoginCodeCreate, "login_code.create", Viewer, SignedIn, true, "Makes a code that opens one session for oneself.";

    AuditList, "audit.list", Admin, Namespace, false, "Lists who did what.";
    AuditVerify, "audit.verify", Admin, Cluster, false, "Looks whether the audit is as it was written.";
    Watch, "watch", Viewer, Namespace, false, "Tells news as they happen.";
    Stats, "stats", Viewer, Namespace, false, "Adds up how runs ended, hour by hour.";
    StatsSeries, "stats.series", Viewer, Namespace, false, "Adds up how runs ended, step by step.";
    ClusterGet, "cluster.get", Viewer, Cluster, false, "Tells about schedulers and cells.";
    SettingsGet, "settings.get", Admin, Cluster, false, "Reads the settings in force of a server.";
    CellPause, "cell.pause", Admin, Cluster, true, "Lets a cell start nothing.";
    CellResume, "cell.resume", Admin, Cluster, true, "Lets a paused cell go on.";
    Doctor, "doctor", Operator, Cluster, false, "Looks for what is wrong or odd.";

    Health, "health", Viewer, Anyone, false, "Tells that the process lives.";
    Ready, "ready", Viewer, Anyone, false, "Tells whether the process takes requests.";
    Schema, "schema", Viewer, Anyone, false, "The schema of this API.";
    Manual, "manual", Viewer, Anyone, false, "A page to read the schema of this API.";
    Front, "front", Viewer, Anyone, false, "The page where login links lead.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_say_noun_and_verb() {
        let mut names: Vec<&str> = Operation::ALL.iter().map(|operation| operation.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Operation::ALL.len());
        for operation in Operation::ALL {
            assert!(operation.help().ends_with('.'), "{}", operation.name());
        }
    }

    #[test]
    fn nothing_changes_without_a_caller_but_by_what_brings_a_credential_of_its_own() {
        for operation in Operation::ALL.iter().filter(|operation| operation.place() == Place::Anyone) {
            let brings = matches!(operation, Operation::SessionCreate | Operation::HookCall);
            assert_eq!(operation.changes(), brings, "{operation:?}");
        }
    }

    #[test]
    fn viewers_change_nothing_of_others() {
        for operation in Operation::ALL.iter().filter(|operation| operation.changes()) {
            let own = matches!(operation.place(), Place::SignedIn | Place::Anyone);
            assert!(own || operation.role() > Role::Viewer, "{operation:?}");
        }
    }
}
