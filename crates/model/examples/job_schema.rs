//! Prints the JSON Schema of a job file.
//!
//! `cargo run -p mainspring-model --example job_schema > docs/job.schema.json` renews the committed copy; a
//! test compares the two.

fn main() -> Result<(), serde_json::Error> {
    let schema = serde_json::to_string_pretty(&mainspring_model::spec::schema::job_schema())?;
    #[allow(clippy::print_stdout)]
    {
        println!("{schema}");
    }
    Ok(())
}
