//! The audit: its chain is whole, and every acknowledged change is in it.

use std::collections::BTreeMap;

use super::Violation;
use crate::evidence::Evidence;

pub(super) fn the_chain_is_whole(evidence: &Evidence) -> Vec<Violation> {
    let breaks = evidence.findings.iter().filter(|(check, _)| check == "audit");
    breaks.map(|(_, message)| Violation::new("the audit chain is broken", message)).collect()
}

pub(super) fn every_change_is_recorded(evidence: &Evidence) -> Vec<Violation> {
    let mut recorded: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (operation, target) in &evidence.audit {
        *recorded.entry((operation, target)).or_default() += 1;
    }
    let count = |operation: &str, target: &str| recorded.get(&(operation, target)).copied().unwrap_or(0);
    let acknowledged = &evidence.acknowledged;
    let submitted = acknowledged.submissions.iter().map(|submission| ("run.submit", submission.run.as_str()));
    let cancelled = acknowledged.cancels.iter().map(|run| ("run.cancel", run.as_str()));
    let missing = submitted.chain(cancelled).filter(|(operation, target)| count(operation, target) == 0);
    let missing = missing.map(|(operation, target)| format!("{operation} of {target}"));
    let mut puts: BTreeMap<&str, usize> = BTreeMap::new();
    for put in acknowledged.puts.iter().filter(|put| !put.is_pause) {
        *puts.entry(put.job.name()).or_default() += 1;
    }
    let fewer = puts.into_iter().filter(|(job, puts)| count("job.put", job) < *puts);
    let fewer = fewer.map(|(job, puts)| {
        format!("job.put of {job}: {puts} acknowledged, {} recorded", count("job.put", job))
    });
    missing
        .chain(fewer)
        .map(|detail| Violation::new("the audit lacks an acknowledged change", detail))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, check, put};
    use super::*;
    use crate::jobs::Job;

    #[test]
    fn what_the_audit_lacks_is_found() {
        check(every_change_is_recorded, &sample::good(), 0);
        let mut lost = sample::good();
        lost.audit.clear();
        check(every_change_is_recorded, &lost, 1);
        let mut changed = sample::good();
        changed.acknowledged.puts = vec![put(Job::Changing, 1, true, 10), put(Job::Changing, 2, true, 20)];
        changed.audit.push(("job.put".into(), "changing".into()));
        check(every_change_is_recorded, &changed, 1);
        changed.audit.push(("job.put".into(), "changing".into()));
        check(every_change_is_recorded, &changed, 0);
    }

    #[test]
    fn a_broken_chain_is_found() {
        let mut broken = sample::good();
        broken.findings.push(("nodes".into(), "one is silent".into()));
        check(the_chain_is_whole, &broken, 0);
        broken.findings.push(("audit".into(), "one or more before it are missing".into()));
        check(the_chain_is_whole, &broken, 1);
    }
}
