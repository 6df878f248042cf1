//! `cargo xtask generate`: rewrites the committed files that are made from code.
//!
//! `GENERATED` is the one list of them; `rules::generated_files` compares the same list with what is committed.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::process;
use crate::programs::{MAINSPRING, Program, Programs};
use crate::workspace::Workspace;

/// A committed file that a command writes to its standard output.
pub(crate) struct Generated {
    pub(crate) program: Program,
    /// Arguments for the program.
    pub(crate) arguments: &'static [&'static str],
    /// From the root of the checkout.
    pub(crate) file: &'static str,
}

/// Every file that is made from code.
pub(crate) const GENERATED: &[Generated] = &[
    Generated { program: Program::Example("states_md"), arguments: &[], file: "docs/states.md" },
    Generated { program: Program::Example("job_schema"), arguments: &[], file: "docs/job.schema.json" },
    Generated { program: Program::Example("openapi"), arguments: &[], file: "docs/openapi.json" },
    Generated { program: MAINSPRING, arguments: &["reference"], file: "docs/cli.md" },
];

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    let programs = build(workspace)?;
    for generated in GENERATED {
        let fresh = generated.produce(&programs)?;
        let path = workspace.path(generated.file);
        if fs::read_to_string(&path).is_ok_and(|committed| committed == fresh) {
            println!("{} is unchanged", generated.file);
            continue;
        }
        fs::write(&path, fresh).with_context(|| format!("cannot write {}", generated.file))?;
        println!("{} is rewritten", generated.file);
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the programs that write the files.
pub(crate) fn build(workspace: &Workspace) -> Result<Programs> {
    let programs: Vec<Program> = GENERATED.iter().map(|generated| generated.program).collect();
    Programs::build(workspace, &programs)
}

impl Generated {
    /// What the file should contain.
    pub(crate) fn produce(&self, programs: &Programs) -> Result<String> {
        process::output_of(programs.command(self.program).args(self.arguments))
            .with_context(|| format!("cannot generate {}", self.file))
    }
}
