//! `cargo xtask generate`: rewrites the committed files that are made from code.
//!
//! `GENERATED` is the one list of them; `rules::generated_files` compares the same list with what is committed.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::process;
use crate::workspace::Workspace;

/// A committed file that a command writes to its standard output.
pub(crate) struct Generated {
    /// Arguments for `cargo`.
    pub(crate) command: &'static [&'static str],
    /// From the root of the checkout.
    pub(crate) file: &'static str,
}

/// Every file that is made from code.
pub(crate) const GENERATED: &[Generated] = &[
    Generated {
        command: &["run", "--quiet", "--package", "mainspring-model", "--example", "states_md"],
        file: "docs/states.md",
    },
    Generated {
        command: &["run", "--quiet", "--package", "mainspring-model", "--example", "job_schema"],
        file: "docs/job.schema.json",
    },
    Generated {
        command: &["run", "--quiet", "--package", "mainspring-server", "--example", "openapi"],
        file: "docs/openapi.json",
    },
    Generated {
        command: &["run", "--quiet", "--package", "mainspring-cli", "--", "reference"],
        file: "docs/cli.md",
    },
];

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    for generated in GENERATED {
        let fresh = generated.produce(workspace)?;
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

impl Generated {
    /// What the file should contain.
    pub(crate) fn produce(&self, workspace: &Workspace) -> Result<String> {
        process::output_of(&mut workspace.cargo(self.command))
            .with_context(|| format!("cannot generate {}", self.file))
    }
}
