//! `mainspring export`: jobs as files that `apply` reads.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::Job;
use mainspring_model::JobSpec;
use mainspring_model::spec;

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{count, yaml};

/// What `export` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mainspring export nightly-report > nightly-report.yaml\n  mainspring export -d jobs/"
)]
pub(crate) struct Export {
    /// The jobs, by name or id; without any, all
    #[arg(value_name = "JOB")]
    jobs: Vec<String>,
    /// Write one file for each job below this directory, in folders by namespace
    #[arg(short, long)]
    directory: Option<PathBuf>,
}

impl Export {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let mut jobs = Vec::new();
        for job in &self.jobs {
            jobs.push(context.job(job).await?);
        }
        if self.jobs.is_empty() {
            jobs = context.client.jobs(context.namespace(), true).all().await?;
        }
        let specs = jobs.iter().map(whole_spec).collect::<Result<Vec<JobSpec>, Failure>>()?;
        match &self.directory {
            None if context.output.format.is_for_programs() => {
                let items =
                    serde_json::to_value(&specs).map_err(|error| Failure::failed(error.to_string()))?;
                context.output.value(&serde_json::json!({ "items": items }))?;
            }
            None => {
                let texts = specs.iter().map(yaml).collect::<Result<Vec<String>, Failure>>()?;
                context.output.line(texts.join("---\n").trim_end())?;
            }
            Some(directory) => {
                let bar = context.output.things_bar(Some(specs.len() as u64), "jobs written");
                for (job, spec) in jobs.iter().zip(&specs) {
                    bar.inc(1);
                    let file = directory.join(job.namespace.as_str()).join(format!("{}.yaml", job.name));
                    let cannot = |error| Failure::failed(format!("cannot write {}: {error}", file.display()));
                    fs::create_dir_all(file.parent().unwrap_or(directory)).map_err(cannot)?;
                    fs::write(&file, yaml(spec)?).map_err(cannot)?;
                }
                bar.finish_and_clear();
                context.output.say(format!(
                    "{} written below {}",
                    count(specs.len(), "job"),
                    directory.display()
                ));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The specification with its namespace, so that the file says all.
fn whole_spec(job: &Job) -> Result<JobSpec, Failure> {
    let value = job
        .spec
        .as_ref()
        .ok_or_else(|| Failure::failed(format!("{} came without its specification", job.name)))?;
    let mut spec = spec::from_value(value).map_err(|errors| {
        Failure::failed(format!("{} cannot be read by this version:\n{errors}", job.name))
    })?;
    spec.namespace = Some(job.namespace.clone());
    Ok(spec)
}
