//! What `mainspring-cron` says is due next, against Python: croniter for expressions, zoneinfo for zones, and the rules written
//! down a second time in `oracle.py`.

use std::fs::File;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::programs::{Program, Programs};
use crate::python::{Environment, Wanted};
use crate::workspace::Workspace;

/// What the oracle needs.
pub(crate) const PYTHON: Wanted = Wanted {
    name: "oracle-python",
    purpose: "the check of schedules",
    requirements: include_str!("requirements.txt"),
    list: "crates/xtask/src/oracle/requirements.txt",
};

/// The example that writes what our evaluator says.
const CASES: Program = Program::Example("cases");

/// Compares what our evaluator says with what the oracle says.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let programs = Programs::build(workspace, &[CASES])?;
    let target = workspace.target_directory()?;
    let python = Environment::ensure(&target, &PYTHON)?;
    let cases = target.join("oracle-cases.jsonl");
    let file = File::create(&cases).with_context(|| format!("cannot write {}", cases.display()))?;
    let said = programs.command(CASES).stdout(file).status().context("the example does not run")?;
    if !said.success() {
        bail!("the example ended with {said}");
    }
    let mut oracle = python.program("python");
    // The zones of the package, not those of the machine.
    oracle.env("PYTHONTZPATH", "").env("PYTHONDONTWRITEBYTECODE", "1");
    process::run(oracle.arg(workspace.path("crates/xtask/src/oracle/oracle.py")).arg(cases))
}
