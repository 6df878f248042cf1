//! What a run tells at its end: faults by kind with recovery times, runs by job and state, violations.

use std::collections::BTreeMap;
use std::fmt;

use crate::checks::Violation;
use crate::conductor::Done;
use crate::evidence::Evidence;
use crate::moment::MicrosSinceEpoch;
use crate::plan::FaultKind;

/// Violations of one rule that are shown.
const SHOWN_PER_RULE: usize = 10;

/// The report.
#[derive(Debug, Default)]
pub struct Report {
    faults: Vec<String>,
    runs: Vec<String>,
    notes: Vec<String>,
    violations: Vec<Violation>,
}

impl Report {
    pub(crate) fn new(
        evidence: &Evidence,
        done: &[Done],
        idle: &BTreeMap<FaultKind, usize>,
        notes: Vec<String>,
        violations: Vec<Violation>,
    ) -> Self {
        Self { faults: faults(evidence, done, idle), runs: runs(evidence), notes, violations }
    }

    /// Whether nothing was found that must not be.
    pub fn is_good(&self) -> bool {
        self.violations.is_empty()
    }
}

/// For each kind: how often, and the time until a run that was asked for or planned after it had been executed.
fn faults(evidence: &Evidence, done: &[Done], idle: &BTreeMap<FaultKind, usize>) -> Vec<String> {
    let asked =
        evidence.acknowledged.submissions.iter().map(|submission| (&submission.run, submission.asked_at));
    let planned = evidence.runs.iter().filter_map(|(id, run)| Some((id, run.logical_time?)));
    let recoveries: Vec<(MicrosSinceEpoch, MicrosSinceEpoch)> = asked
        .chain(planned)
        .filter_map(|(id, at)| Some((at, evidence.witness.runs.get(id)?.last_end()?)))
        .collect();
    let recovery = |from: MicrosSinceEpoch| {
        let after = recoveries.iter().filter(|(at, _)| *at >= from);
        after.map(|(_, end)| end - from).min()
    };
    let row = |kind: FaultKind| {
        let all: Vec<&Done> = done.iter().filter(|done| done.kind == kind).collect();
        let mut times: Vec<MicrosSinceEpoch> =
            all.iter().filter_map(|done| recovery(done.counts_from)).collect();
        times.sort_unstable();
        let seconds = |at: Option<&MicrosSinceEpoch>| {
            at.map_or("-".to_owned(), |at| format!("{:.1} s", *at as f64 / 1e6))
        };
        format!(
            "{:<26} {:>5} {:>8} {:>8}  {}",
            kind.to_string(),
            all.len(),
            seconds(times.get(times.len().saturating_sub(1) / 2)),
            seconds(times.last()),
            idle.get(&kind).map_or(String::new(), |idle| format!("({idle} more had nothing to break)"))
        )
    };
    FaultKind::ALL.into_iter().map(row).collect()
}

fn runs(evidence: &Evidence) -> Vec<String> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for run in evidence.runs.values() {
        *counts.entry((run.job.map_or("?", |job| job.name()), &run.state)).or_default() += 1;
    }
    let mut rows: Vec<String> =
        counts.iter().map(|((job, state), count)| format!("{job:<10} {state:<13} {count:>6}")).collect();
    let attempts: usize = evidence.witness.runs.values().map(|executions| executions.starts().count()).sum();
    rows.push(format!(
        "{} runs, {attempts} executions; {} submissions, {} changes of jobs and {} cancellations acknowledged",
        evidence.runs.len(),
        evidence.acknowledged.submissions.len(),
        evidence.acknowledged.puts.len(),
        evidence.acknowledged.cancels.len()
    ));
    rows
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<26} {:>5} {:>8} {:>8}", "fault", "count", "p50", "max")?;
        self.faults.iter().try_for_each(|row| writeln!(f, "{row}"))?;
        writeln!(f)?;
        self.runs.iter().try_for_each(|row| writeln!(f, "{row}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))?;
        let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
        for violation in &self.violations {
            let count = shown.entry(violation.rule).or_default();
            *count += 1;
            if *count <= SHOWN_PER_RULE {
                writeln!(f, "VIOLATION {violation}")?;
            }
        }
        for (rule, count) in shown.into_iter().filter(|(_, count)| *count > SHOWN_PER_RULE) {
            writeln!(f, "VIOLATION {rule}: {} more", count - SHOWN_PER_RULE)?;
        }
        write!(f, "{} violations", self.violations.len())
    }
}
