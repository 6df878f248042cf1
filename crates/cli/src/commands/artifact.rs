//! `mainspring artifact`: files for tasks, kept by the digest of their content.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainspring_client::api::Artifact as Entry;
use mainspring_model::spec::Digest;

use crate::ask::confirm;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Column, Row, Table, age, bytes, clock, count};

/// What `artifact` takes.
#[derive(Debug, Args)]
pub(crate) struct Artifact {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Upload a file and print its digest
    Push {
        /// The file
        file: PathBuf,
        /// What it is called; without it, the file's name
        #[arg(long)]
        name: Option<String>,
        /// How long it is kept after this, such as 7d, unless a job or a run names it; without it, for ever
        #[arg(long, value_name = "DURATION")]
        ttl: Option<String>,
    },
    /// List artifacts
    List,
    /// Download an artifact
    Get {
        /// Its digest, `sha256:…`
        digest: String,
        /// Where to put it; without it, its name here; `-` is standard output
        #[arg(short = 'O', long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Write over a file that is there
        #[arg(long)]
        force: bool,
    },
    /// Remove artifacts
    Rm {
        /// Their digests
        #[arg(required = true, value_name = "DIGEST")]
        digests: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

const COLUMNS: &[Column] = &[
    Column::always("NAME"),
    Column::always("SIZE"),
    Column::always("AGE"),
    Column::wide("NAMESPACE"),
    Column::wide("BY"),
    Column::always("DIGEST"),
];

impl Artifact {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        match self.verb {
            Verb::Push { file, name, ttl } => push(context, &file, name, ttl).await?,
            Verb::List => {
                let entries = context.client.artifacts(context.namespace()).all().await?;
                context.output.list(&entries, || table(&entries))?;
            }
            Verb::Get { digest, out, force } => get(context, &digest, out, force).await?,
            Verb::Rm { digests, yes } => {
                digests.iter().try_for_each(|digest| check(digest))?;
                confirm(&format!("Remove {}?", count(digests.len(), "artifact")), yes)?;
                for digest in digests {
                    context.client.delete_artifact(context.namespace(), &digest).await?;
                    context.output.say(format!("{digest} is removed"));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn push(
    context: &Context,
    file: &PathBuf,
    name: Option<String>,
    ttl: Option<String>,
) -> Result<(), Failure> {
    let metadata = std::fs::metadata(file).map_err(|error| {
        Failure::usage(format!("cannot read {}: {error}", file.display())).hint(
            "name a file that is here and may be read; `mainspring artifact list` shows those that are kept",
        )
    })?;
    if metadata.is_dir() {
        return Err(Failure::usage(format!("{} is a directory", file.display()))
            .hint("an artifact is one file: pack the directory, for example with `tar`"));
    }
    let of_file = || file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = name.unwrap_or_else(of_file);
    let bar = context.output.bytes_bar(Some(metadata.len()));
    let told = bar.clone();
    let tell = move |sent| told.inc(sent);
    let entry = context.client.push_artifact(context.namespace(), &name, file, ttl.as_deref(), tell).await?;
    bar.finish_and_clear();
    context.output.one(&entry, || entry.digest.to_string())?;
    context
        .output
        .say(format!("next: name it in a job file: artifacts: [{{ digest: {}, path: … }}]", entry.digest));
    Ok(())
}

async fn get(context: &Context, digest: &str, out: Option<PathBuf>, force: bool) -> Result<(), Failure> {
    check(digest)?;
    let entry = context.client.artifact(context.namespace(), digest).await?;
    // A name from elsewhere is never a path here.
    let plain = Path::new(&entry.name).file_name().map(PathBuf::from);
    let path = out.or(plain).unwrap_or_else(|| PathBuf::from("artifact"));
    if path.as_os_str() == "-" {
        return download(context, digest, |piece| context.output.raw(piece)).await;
    }
    let cannot = |error| Failure::failed(format!("cannot write {}: {error}", path.display()));
    let mut file = create(&path, force)?;
    let done = download(context, digest, |piece| file.write_all(piece).map_err(cannot)).await;
    if done.is_err() && path.is_file() {
        // What is cut short would stand in the way of the next try.
        let _ = std::fs::remove_file(&path);
    }
    done?;
    context.output.say(format!("{} ({})", path.display(), bytes(entry.bytes)));
    Ok(())
}

/// Opens a file that is not there yet; with `force`, one that is.
fn create(path: &Path, force: bool) -> Result<File, Failure> {
    let is_device = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    let opened = if force || is_device { File::create(path) } else { File::create_new(path) };
    opened.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(format!("{} is there already", path.display()))
            .hint("`--force` writes over it, `-O FILE` puts the artifact elsewhere"),
        _ => Failure::failed(format!("cannot write {}: {error}", path.display())),
    })
}

async fn download(
    context: &Context,
    digest: &str,
    mut write: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut download = context.client.fetch_artifact(context.namespace(), digest).await?;
    let bar = context.output.bytes_bar(download.length());
    while let Some(piece) = download.next().await? {
        bar.inc(piece.len() as u64);
        write(&piece)?;
    }
    bar.finish_and_clear();
    Ok(())
}

/// What is no digest is told from one that is not there.
fn check(digest: &str) -> Result<(), Failure> {
    let read: Result<Digest, _> = digest.parse();
    read.map(drop).map_err(|error| {
        Failure::usage(format!("`{digest}` is not a digest: {error}"))
            .hint("`mainspring artifact list` shows the digests there are")
    })
}

fn table(entries: &[Entry]) -> Table {
    let now = clock();
    Table::new(COLUMNS, "no artifacts; `mainspring artifact push FILE` uploads one").rows(entries.iter().map(
        |entry| {
            Row::new(entry.digest)
                .cell(&entry.name)
                .cell(bytes(entry.bytes))
                .cell(age(entry.created_at.0, now))
                .cell(&entry.namespace)
                .cell(&entry.created_by)
                .cell(entry.digest)
        },
    ))
}
