//! Why a key has no equal, and what comes near it.

/// Beginnings of keys that lock a service in.
const LOCKS: &[&str] = &[
    "Protect",
    "Private",
    "Restrict",
    "SystemCall",
    "Capability",
    "Ambient",
    "ReadOnly",
    "ReadWrite",
    "Inaccessible",
    "NoNewPrivileges",
    "MemoryDenyWriteExecute",
    "LockPersonality",
    "RootDirectory",
    "Bind",
    "Temporary",
];

/// What to say about a key that is not translated.
pub(super) fn reason(key: &str) -> &'static str {
    match key {
        "EnvironmentFile" => "files of variables are not read; write them under `env`",
        "PassEnvironment" | "UnsetEnvironment" => "a task is given only what stands under `env`",
        "Group" | "SupplementaryGroups" | "DynamicUser" => "a task has the groups of its user",
        "Restart" | "RestartSec" | "StartLimitBurst" | "StartLimitIntervalSec" => {
            "`retry` says what happens after a failure; it is 0 here"
        }
        "SuccessExitStatus" => "a rule of `retry` with `then: ignore` counts an exit code as success",
        "MemoryHigh" => "`resources: {memory: …}` reserves memory and is its limit too",
        "CPUQuota" | "CPUWeight" | "CPUShares" => "`resources: {cpu: …}` reserves cores",
        "Nice" | "IOSchedulingClass" | "IOSchedulingPriority" | "IOWeight" | "CPUSchedulingPolicy" => {
            "tasks run with the priority of the agent; `priority` orders those that wait"
        }
        "OnFailure" => "a trigger `after: {job: …, on: failure}` in the other job does this",
        "OnSuccess" => "a trigger `after: …` in the other job does this",
        "After" | "Before" | "Wants" | "Requires" | "Requisite" | "BindsTo" | "PartOf" | "Conflicts" => {
            "nothing orders a task among the units of its machine"
        }
        "RemainAfterExit" => "a run ends with its program",
        "KillMode" => "all that a task started ends with it",
        "StandardOutput" | "StandardError" | "SyslogIdentifier" => "what a task writes is kept as its log",
        "ExecCondition" => "nothing is asked before a start",
        "FixedRandomDelay" => "the `jitter` of a moment is always the same, and another for another moment",
        "WakeSystem" => "no machine is woken",
        _ if key.starts_with("Condition") || key.starts_with("Assert") => "nothing is asked before a start",
        _ if LOCKS.iter().any(|lock| key.starts_with(lock)) => {
            "a task is locked in by its user and no further"
        }
        _ => "there is nothing like it here",
    }
}
