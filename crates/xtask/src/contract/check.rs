//! The check itself: schemathesis with every role at once, and its words when something is wrong.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::PYTHON;
use super::ground::{Ground, Token};
use super::role::{ROLES, Role};
use crate::interrupt::Interrupted;
use crate::process::{self, Captured, TimeLimit};
use crate::programs::{MAINSPRING, Programs};
use crate::python::Environment;
use crate::workspace::Workspace;

/// A guard against a hang, for each role. The work is bounded by counts (`Role::examples`, and the cases that the schema implies) and
/// takes one to two minutes; no verdict follows from time.
const HANG_LIMIT: Duration = Duration::from_secs(3600);
/// The same requests each time.
const SEED: &str = "20260101";
/// A guard against a request that is never answered; schemathesis reports it as such.
const ANSWER_LIMIT_SECONDS: &str = "600";

/// Checks that hold. Instead of `negative_data_rejection` and `positive_data_acceptance` there are checks in `hooks.py` that
/// know what a schema cannot say. `missing_required_header` has nothing to look at, as no header is required;
/// `use_after_free` and `ensure_resource_availability` are of a phase that is not run.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,unfit_data_is_refused,fit_data_is_accepted,\
    unsupported_method,allow_header_conformance,ignored_auth,the_token_stays_good";

/// A watcher gets events until it goes: each request that is accepted would run into the limit.
const ENDLESS: &str = "/v1/watch";

/// Checks the API that the workspace builds against the schema that it has committed.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let programs = Programs::build(workspace, &[MAINSPRING])?;
    let python = Environment::ensure(&workspace.target_directory()?, &PYTHON)?;
    let mut ground = Ground::start(&programs.path(MAINSPRING))?;
    let tokens = ROLES.iter().map(|role| ground.token(*role)).collect::<Result<Vec<Token>>>()?;
    let call = Call { workspace, python: &python, url: ground.url(), ids: ids(&tokens) };
    let begun = Instant::now();
    let answers: Vec<Result<String>> = thread::scope(|scope| {
        let calls: Vec<_> =
            ROLES.iter().zip(&tokens).map(|(role, token)| scope.spawn(|| call.run(*role, token))).collect();
        let lost = |_| Err(anyhow::anyhow!("a thread of this command failed"));
        calls.into_iter().map(|call| call.join().unwrap_or_else(lost)).collect()
    });
    ground.check_alive()?;
    let mut failed = Vec::new();
    println!("    all roles: {} s", begun.elapsed().as_secs());
    for (role, answer) in ROLES.iter().zip(answers) {
        match answer {
            Ok(summary) => println!("    {}, {}: {summary}", role.name, role.phases),
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) => {
                println!("\n--- {}, {}\n{error:#}\n", role.name, role.phases);
                failed.push((role.name, Failure::of(&error)));
            }
        }
    }
    if !failed.is_empty() {
        bail!("{}", told(&failed));
    }
    Ok(())
}

/// What really happened when the check with one role did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Failure {
    #[error("the API and docs/openapi.json differ")]
    Difference,
    #[error(
        "the time limit ended schemathesis, which says nothing about the API: the machine is slow, or something hangs"
    )]
    TimeLimit,
    #[error("schemathesis could not make its check, which says nothing about the API")]
    NoCheck,
}

impl Failure {
    fn of(error: &anyhow::Error) -> Self {
        if error.is::<TimeLimit>() {
            return Self::TimeLimit;
        }
        error.downcast_ref::<Self>().copied().unwrap_or(Self::NoCheck)
    }

    /// From what schemathesis wrote: it has one exit code for answers that are wrong and for requests that it could not make.
    fn of_output(stdout: &str) -> Self {
        let differs = stdout.lines().any(|line| line.starts_with("==") && line.contains(" FAILURES "));
        if differs { Self::Difference } else { Self::NoCheck }
    }
}

/// Each kind of failure once, with the roles that met it.
fn told(failed: &[(&str, Failure)]) -> String {
    let kinds = [Failure::Difference, Failure::TimeLimit, Failure::NoCheck];
    let sentences = kinds.iter().filter_map(|kind| {
        let roles: Vec<&str> =
            failed.iter().filter(|(_, found)| found == kind).map(|(role, _)| *role).collect();
        (!roles.is_empty()).then(|| format!("{kind} (seen as {})", roles.join(", ")))
    });
    sentences.collect::<Vec<_>>().join("; ")
}

fn ids(tokens: &[Token]) -> String {
    tokens.iter().map(|token| token.id.as_str()).collect::<Vec<_>>().join(" ")
}

/// What the calls with every role share.
struct Call<'a> {
    workspace: &'a Workspace,
    python: &'a Environment,
    url: &'a str,
    ids: String,
}

impl Call<'_> {
    /// One role; tells how many requests were made.
    fn run(&self, role: Role, token: &Token) -> Result<String> {
        // It leaves files where it runs.
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let mut command = self.python.program("schemathesis");
        command.current_dir(folder.path()).env("HOME", folder.path());
        command.env("PYTHONPATH", self.workspace.path("crates/xtask/src/contract"));
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("SCHEMATHESIS_HOOKS", "hooks");
        command.env("CONTRACT_SECRET", &token.secret).env("CONTRACT_TOKEN_IDS", &self.ids);
        command.args(["run", "--no-color", "--checks", CHECKS, "--exclude-path", ENDLESS, "--seed", SEED]);
        command.args(role.paths.arguments());
        command.args(["--phases", role.phases, "--max-examples", &role.examples.to_string()]);
        command.args(["--request-timeout", ANSWER_LIMIT_SECONDS, "--generation-database", "none"]);
        // Its health checks are about how fast requests are made up, which on a busy machine says nothing.
        command.args(["--suppress-health-check", "all"]);
        // Every failure is told at once, and as it was found: looking for a smaller one takes time that is bounded.
        command.args(["--continue-on-failure", "--no-shrink", "--warnings", "off"]);
        command.args(["--url", self.url, "--header", &format!("Authorization: Bearer {}", token.secret)]);
        command.arg(self.workspace.path("docs/openapi.json"));
        let Captured { status, stdout, stderr } = process::capture_within(&mut command, HANG_LIMIT)?;
        if !status.success() {
            let words = format!("schemathesis ended with {status}\n{stdout}{stderr}");
            return Err(anyhow::Error::new(Failure::of_output(&stdout)).context(words));
        }
        summary(&stdout).with_context(|| format!("schemathesis made no requests:\n{stdout}"))
    }
}

/// The line with the number of requests.
fn summary(words: &str) -> Option<String> {
    let line = words.lines().skip_while(|line| *line != "Test cases:").nth(1)?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_time_limit_is_not_told_as_a_difference() {
        let mut slow = std::process::Command::new("sleep");
        let error = process::capture_within(slow.arg("600"), Duration::from_millis(1)).err().unwrap();
        let words = told(&[("admin", Failure::of(&error)), ("viewer", Failure::of(&error))]);
        assert!(
            words.starts_with("the time limit ended schemathesis")
                && words.ends_with("(seen as admin, viewer)"),
            "{words}"
        );
        assert!(!words.contains("differ"), "{words}");
    }

    #[test]
    fn what_schemathesis_found_is_told_as_it_was() {
        let check = |stdout: &str, expected: Failure| {
            let error = anyhow::Error::new(Failure::of_output(stdout)).context("its words");
            assert_eq!(Failure::of(&error), expected, "{stdout}");
        };
        check("=== FAILURES ===\n", Failure::Difference);
        check("=== ERRORS ===\nNetwork Error\n", Failure::NoCheck);
        check("", Failure::NoCheck);
        let none: Result<()> = None.context("it made no requests");
        assert_eq!(Failure::of(&none.unwrap_err()), Failure::NoCheck);
    }
}
