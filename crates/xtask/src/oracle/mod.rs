//! What `mainspring-cron` says is due next, against Python: croniter for expressions, zoneinfo for zones, and the rules written
//! down a second time in `oracle.py`.

use std::fs::File;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::python::{Environment, Wanted};
use crate::workspace::Workspace;

/// What the oracle needs.
pub(crate) const PYTHON: Wanted = Wanted {
    name: "oracle-python",
    purpose: "the check of schedules",
    requirements: include_str!("requirements.txt"),
    list: "crates/xtask/src/oracle/requirements.txt",
};

/// Compares what our evaluator says with what the oracle says.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let build = ["build", "--quiet", "--package", "mainspring-cron", "--example", "cases"];
    process::run(&mut workspace.cargo(&build)).context("the example does not build")?;
    let target = workspace.target_directory()?;
    let python = Environment::ensure(&target, &PYTHON)?;
    let cases = target.join("oracle-cases.jsonl");
    let file = File::create(&cases).with_context(|| format!("cannot write {}", cases.display()))?;
    let mut example = process::command(target.join("debug").join("examples").join("cases"));
    let said = example.stdout(file).status().context("the example does not run")?;
    if !said.success() {
        bail!("the example ended with {said}");
    }
    let mut oracle = python.program("python");
    // The zones of the package, not those of the machine.
    oracle.env("PYTHONTZPATH", "").env("PYTHONDONTWRITEBYTECODE", "1");
    process::run(oracle.arg(workspace.path("crates/xtask/src/oracle/oracle.py")).arg(cases))
}
