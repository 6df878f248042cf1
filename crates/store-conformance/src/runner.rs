//! Plays cases one after the other, each in a task of its own, so that one failure hides no other.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crate::case::{Case, Verdict};
use crate::cases::cases;
use crate::harness::Harness;

/// A case that takes longer hangs.
const CASE_TIME_MAX: Duration = Duration::from_secs(120);

/// What became of the cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How many hold.
    pub passed: usize,
    /// Those that need what the harness does not offer.
    pub not_offered: Vec<&'static str>,
    /// Those that do not hold, each with its words.
    pub failed: Vec<(&'static str, String)>,
}

/// Plays every case, prints a line of counts, and panics with the names of those that failed.
pub async fn run_all(harness: Arc<dyn Harness>) -> Report {
    let report = run(harness, |_| true).await;
    print(&report);
    assert!(report.failed.is_empty(), "{}", failures(&report));
    report
}

/// Plays the cases whose name is wanted and reports.
pub async fn run(harness: Arc<dyn Harness>, wanted: impl Fn(&str) -> bool) -> Report {
    let mut report = Report::default();
    for case in cases().filter(|case| wanted(case.name)) {
        match play(*case, Arc::clone(&harness)).await {
            Ok(Verdict::Passed) => report.passed += 1,
            Ok(Verdict::NotOffered) => report.not_offered.push(case.name),
            Err(words) => report.failed.push((case.name, words)),
        }
    }
    report
}

async fn play(case: Case, harness: Arc<dyn Harness>) -> Result<Verdict, String> {
    let mut task = tokio::spawn(async move { case.play(&*harness).await });
    match tokio::time::timeout(CASE_TIME_MAX, &mut task).await {
        Ok(Ok(verdict)) => Ok(verdict),
        Ok(Err(end)) if end.is_panic() => Err(words(&*end.into_panic())),
        Ok(Err(end)) => Err(end.to_string()),
        Err(_) => {
            task.abort();
            Err(format!("no end after {CASE_TIME_MAX:?}"))
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panicked".into())
}

fn failures(report: &Report) -> String {
    let lines = report.failed.iter().map(|(name, words)| format!("\n{name}: {words}"));
    format!("{} cases do not hold:{}", report.failed.len(), lines.collect::<String>())
}

#[allow(clippy::print_stdout, reason = "the line of counts is what a person looks for in the test's output")]
fn print(report: &Report) {
    println!(
        "conformance: {} cases hold, {} do not, {} not offered{}{}",
        report.passed,
        report.failed.len(),
        report.not_offered.len(),
        if report.not_offered.is_empty() { "" } else { ": " },
        report.not_offered.join(", "),
    );
}
