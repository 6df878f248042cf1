//! The check itself: schemathesis with every role at once, and its words when something is wrong.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::PYTHON;
use super::ground::{Ground, Token};
use super::role::{ROLES, Role};
use crate::interrupt::Interrupted;
use crate::process::{self, Captured};
use crate::python::Environment;
use crate::workspace::Workspace;

/// All roles together; the environment may have to be fetched before that.
const LIMIT: Duration = Duration::from_secs(180);
/// The same requests each time.
const SEED: &str = "20260101";
/// A single answer.
const ANSWER_LIMIT_SECONDS: &str = "20";

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
    process::run(&mut workspace.cargo(&["build", "--package", "mainspring-cli"]))
        .context("the program does not build")?;
    let target = workspace.target_directory()?;
    let python = Environment::ensure(&target, &PYTHON)?;
    let mut ground = Ground::start(&target.join("debug").join("mainspring"))?;
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
    for (role, answer) in ROLES.iter().zip(answers) {
        match answer {
            Ok(summary) => println!("    {}, {}: {summary}", role.name, role.phases),
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) => {
                println!("\n--- {}\n{error:#}\n", role.name);
                failed.push(role.name);
            }
        }
    }
    if !failed.is_empty() {
        bail!("the API and docs/openapi.json differ, seen as {}", failed.join(", "));
    }
    println!("    all roles: {} s", begun.elapsed().as_secs());
    Ok(())
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
        let Captured { status, stdout, stderr } = process::capture_within(&mut command, LIMIT)?;
        if !status.success() {
            bail!("schemathesis ended with {status}\n{stdout}{stderr}");
        }
        summary(&stdout).with_context(|| format!("schemathesis made no requests:\n{stdout}"))
    }
}

/// The line with the number of requests.
fn summary(words: &str) -> Option<String> {
    let line = words.lines().skip_while(|line| *line != "Test cases:").nth(1)?;
    Some(line.trim().to_owned())
}
