//! The jobs of the load, and the script by which their tasks witness what happens outside of the system.
//!
//! Each attempt appends lines to a file of its run: `start ATTEMPT PID BORN NANOS`, `end ATTEMPT PID NANOS`, and `overlap ATTEMPT
//! PID OTHER` when an earlier attempt of the same run still lives. A process is recognised by its id and the moment it was born.

use std::path::Path;

use serde_json::{Value, json};

/// Lines that tasks print, by job: a successful attempt has each of them once, in order.
pub(crate) const QUICK_LINES: usize = 20;
pub(crate) const SLOW_LINES: usize = 8;
/// About 250 KB: more than a pipe holds, and more than is kept in memory.
pub(crate) const LOUD_LINES: usize = 4_000;
/// Seconds between the moments of each trigger of [`Job::Tick`].
pub(crate) const TICK_EVERY: [(&str, i64); 2] = [("interval", 2), ("cron", 3)];

/// A job of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Job {
    /// A little output, over at once.
    Quick,
    /// Much output.
    Loud,
    /// Fails twice before it succeeds.
    Flaky,
    /// A few seconds.
    Slow,
    /// Delivered at most once.
    Once,
    /// Followed by [`Job::Follow`].
    Lead,
    Follow,
    /// Fires by two clocks.
    Tick,
    /// Fires each second; its versions change all the time.
    Changing,
    /// Fires each second while it has a trigger, which comes and goes.
    Switched,
}

impl Job {
    pub(crate) const ALL: [Self; 10] = [
        Self::Quick,
        Self::Loud,
        Self::Flaky,
        Self::Slow,
        Self::Once,
        Self::Lead,
        Self::Follow,
        Self::Tick,
        Self::Changing,
        Self::Switched,
    ];

    /// What clients submit, the more often the more often it is here.
    pub(crate) const SUBMITTED: [Self; 10] = [
        Self::Quick,
        Self::Quick,
        Self::Quick,
        Self::Loud,
        Self::Flaky,
        Self::Slow,
        Self::Once,
        Self::Lead,
        Self::Lead,
        Self::Changing,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Loud => "loud",
            Self::Flaky => "flaky",
            Self::Slow => "slow",
            Self::Once => "once",
            Self::Lead => "lead",
            Self::Follow => "follow",
            Self::Tick => "tick",
            Self::Changing => "changing",
            Self::Switched => "switched",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|job| job.name() == name)
    }

    /// How many lines a successful attempt prints.
    pub(crate) fn lines(self) -> usize {
        match self {
            Self::Loud => LOUD_LINES,
            Self::Slow => SLOW_LINES,
            _ => QUICK_LINES,
        }
    }

    /// The specification. `revision` makes versions of a job differ.
    pub(crate) fn spec(self, witness: &Path, revision: u64, with_triggers: bool) -> Value {
        let mut spec = json!({
            "name": self.name(),
            "script": {
                "text": format!("{PRELUDE}{}{EPILOGUE}", self.body()),
                "env": { "WITNESS": witness.display().to_string(), "REVISION": revision.to_string() },
            },
        });
        if self == Self::Once {
            spec["delivery"] = json!("at_most_once");
        } else {
            spec["retry"] = json!({ "max": 200, "backoff": { "kind": "fixed", "base": "300ms" } });
        }
        if with_triggers && let Some(triggers) = self.triggers() {
            spec["triggers"] = triggers;
        }
        spec
    }

    fn triggers(self) -> Option<Value> {
        let misfire = json!({ "policy": "all", "window": "1h", "max": 1000 });
        let each_second = || json!([{ "name": "seconds", "every": "1s", "misfire": misfire.clone() }]);
        match self {
            Self::Tick => {
                let [(interval, seconds), (cron, step)] = TICK_EVERY;
                Some(json!([
                    { "name": interval, "every": format!("{seconds}s"), "misfire": misfire.clone() },
                    { "name": cron, "cron": format!("*/{step} * * * * *"), "misfire": misfire },
                ]))
            }
            Self::Follow => {
                Some(json!([{ "name": "lead", "after": { "job": Self::Lead.name(), "on": "any" } }]))
            }
            Self::Changing | Self::Switched => Some(each_second()),
            _ => None,
        }
    }

    fn body(self) -> String {
        match self {
            Self::Slow => print("line $i", SLOW_LINES, "sleep 0.5"),
            Self::Loud => {
                let filler = "x".repeat(50);
                print(&format!("line $i {filler}"), LOUD_LINES, "[ $((i % 1000)) -ne 0 ] || sleep 0.3")
            }
            Self::Once => print("line $i", QUICK_LINES, "[ $i -ne 10 ] || sleep 1"),
            Self::Flaky => {
                let fail = "if [ $MAINSPRING_ATTEMPT -lt 3 ]; then finish; exit 3; fi\n";
                fail.to_owned() + &print("line $i", QUICK_LINES, ":")
            }
            _ => print("line $i", QUICK_LINES, ":"),
        }
    }
}

fn print(line: &str, count: usize, between: &str) -> String {
    format!("i=0\nwhile [ $i -lt {count} ]; do i=$((i + 1)); echo \"{line}\"; {between}; done\n")
}

/// Field 22 of `/proc/PID/stat` is when a process was born, field 3 its state. A fault may kill `date` alone: it is asked again.
const PRELUDE: &str = r#"w="$WITNESS/$MAINSPRING_RUN_ID"
clock() { at=; until [ -n "$at" ]; do at=$(date +%s%N) || :; done; }
finish() { clock; echo "end $MAINSPRING_ATTEMPT $$ $at" >> "$w"; }
read -r stat < /proc/$$/stat
set -- $stat
born=${22}
if [ -e "$w" ]; then
  while read -r kind attempt pid other rest; do
    if [ "$kind" = start ] && [ -e /proc/$pid/stat ]; then
      stat=
      read -r stat < /proc/$pid/stat
      set -- $stat
      case "$3" in
        Z|X|'') ;;
        *) if [ "${22}" = "$other" ]; then echo "overlap $MAINSPRING_ATTEMPT $$ $attempt" >> "$w"; fi ;;
      esac
    fi
  done < "$w"
fi 2>/dev/null
clock
echo "start $MAINSPRING_ATTEMPT $$ $born $at" >> "$w"
"#;

const EPILOGUE: &str = "finish\n";

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use super::*;
    use crate::witness::Witness;

    fn execute(folder: &Path, job: Job, attempt: u32) -> Output {
        let spec = job.spec(folder, 1, true);
        let mut command = Command::new("sh");
        command.args(["-c", spec["script"]["text"].as_str().unwrap()]).env("WITNESS", folder);
        command.env("MAINSPRING_RUN_ID", "run").env("MAINSPRING_ATTEMPT", attempt.to_string());
        command.output().unwrap()
    }

    #[test]
    fn tasks_witness_and_print_every_line() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(execute(folder.path(), Job::Flaky, 2).status.code(), Some(3));
        let output = execute(folder.path(), Job::Loud, 3);
        assert!(output.status.success() && output.stdout.len() > 190_000, "{output:?}");
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), Job::Loud.lines());
        let witness = Witness::read(folder.path()).unwrap();
        let run = &witness.runs["run"];
        assert_eq!(run.starts().collect::<Vec<_>>(), [2, 3]);
        assert!(run.overlaps.is_empty() && run.last_end().is_some(), "{run:?}");
    }

    #[test]
    fn an_attempt_that_lives_is_an_overlap() {
        let folder = tempfile::tempdir().unwrap();
        let mut other = Command::new("sleep").arg("600").spawn().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", other.id())).unwrap();
        let born = stat.split(' ').nth(21).unwrap();
        std::fs::write(folder.path().join("run"), format!("start 1 {} {born} 5\n", other.id())).unwrap();
        execute(folder.path(), Job::Quick, 2);
        assert_eq!(Witness::read(folder.path()).unwrap().runs["run"].overlaps, [(2, 1)]);
        other.kill().unwrap();
        other.wait().unwrap();
        execute(folder.path(), Job::Quick, 3);
        assert_eq!(Witness::read(folder.path()).unwrap().runs["run"].overlaps, [(2, 1)]);
    }
}
