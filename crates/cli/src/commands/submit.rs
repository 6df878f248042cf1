//! `mainspring submit`: a command, a script or a job file as one run, without a job.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::{Submit as Request, Time};
use mainspring_model::spec::{self, Format};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::follow;
use crate::literal::literal;
use crate::output::{BOLD, Paint};
use crate::parameter::{Pair, typed};

/// What `submit` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    mainspring submit --wait -- echo hello\n  \
    mainspring submit --timeout 10m --retries 0 nightly.sh\n  \
    mainspring submit -p day=2026-01-31 report.yaml")]
pub(crate) struct Submit {
    /// A job file (.yaml, .json, .toml) or a script; `-` reads a script from standard input
    file: Option<PathBuf>,
    /// The run's name in lists
    #[arg(long)]
    name: Option<String>,
    /// A parameter's value, `key=value`; may be repeated
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    params: Vec<Pair>,
    /// A variable of the task's environment, `KEY=VALUE`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    env: Vec<Pair>,
    /// A label, `key=value`; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE")]
    labels: Vec<Pair>,
    /// The working directory on the node
    #[arg(long, value_name = "DIRECTORY")]
    cwd: Option<String>,
    /// How long one attempt may execute, such as 10m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// Retries after the first attempt
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    retries: Option<u32>,
    /// The pool of nodes
    #[arg(long)]
    pool: Option<String>,
    /// Labels that a node must carry, such as `zone=eu, !spot`
    #[arg(long)]
    selector: Option<String>,
    /// service, standard, deferrable or spare; or a level from 0 to 100
    #[arg(long)]
    priority: Option<String>,
    /// Cores to reserve: 2, 500m
    #[arg(long)]
    cpu: Option<String>,
    /// Memory to reserve: 256Mi
    #[arg(long)]
    memory: Option<String>,
    /// Not before this moment, such as 2026-01-31T08:00:00Z
    #[arg(long, value_name = "TIME")]
    not_before: Option<Time>,
    /// Give up after this moment
    #[arg(long, value_name = "TIME")]
    deadline: Option<Time>,
    /// The same key is the same run, however often it is submitted
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
    /// Stream the output, and end with the task's exit code; with -o json, the output goes to standard error
    #[arg(short, long)]
    wait: bool,
    /// A command with its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Submit {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let spec = self.spec()?;
        if let Err(errors) = spec::from_value(&spec) {
            return Err(Failure::usage(format!(
                "this cannot run:\n  {}",
                errors.to_string().replace('\n', "\n  ")
            ))
            .hint("mend the fields above; a command goes after `--`: `mainspring submit -- echo hello`"));
        }
        let namespace = context.namespace().map(str::parse).transpose();
        let params = (!self.params.is_empty()).then(|| typed(&spec, &self.params));
        let request = Request {
            namespace: namespace.map_err(|error| Failure::usage(format!("--namespace: {error}")))?,
            spec: Some(spec),
            params,
            not_before: self.not_before,
            deadline: self.deadline,
            idempotency_key: self.key,
            ..Request::default()
        };
        let submitted = context.client.submit(&request).await?;
        report(context, &submitted, self.wait).await
    }

    /// The whole specification: the file's or the command's, with the options over it.
    fn spec(&self) -> Result<Value, Failure> {
        let mut spec = match (&self.file, self.command.as_slice()) {
            (None, []) => {
                return Err(Failure::usage("there is nothing to run").hint(
                    "give a command after `--`, a script or a job file: `mainspring submit -- echo hello`",
                ));
            }
            (None, [program, args @ ..]) => self.of_command(program, args),
            (Some(file), args) => match Format::of_file(&file.to_string_lossy()) {
                Some(format) if args.is_empty() => read_spec(file, format)?,
                Some(_) => {
                    return Err(Failure::usage("a job file takes no command after `--`; use -p for values"));
                }
                None => self.of_script(file, args)?,
            },
        };
        self.check_fits(&spec)?;
        self.lay_over(&mut spec);
        Ok(spec)
    }

    fn of_command(&self, program: &str, args: &[String]) -> Value {
        let args: Vec<String> = args.iter().map(|arg| self.literal(arg)).collect();
        let name = self.name.clone().unwrap_or_else(|| name_of(program));
        json!({ "name": name, "process": { "command": self.literal(program), "args": args } })
    }

    fn of_script(&self, file: &Path, args: &[String]) -> Result<Value, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::usage(format!("cannot read {}: {error}", file.display()))
                .hint("a command goes after `--`: `mainspring submit -- COMMAND`")
        };
        let (text, name) = if file == Path::new("-") {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(cannot)?;
            (text, "script".to_owned())
        } else {
            (fs::read_to_string(file).map_err(cannot)?, name_of(&file.to_string_lossy()))
        };
        let args: Vec<String> = args.iter().map(|arg| self.literal(arg)).collect();
        let name = self.name.clone().unwrap_or(name);
        Ok(json!({ "name": name, "script": { "text": text, "args": args } }))
    }

    /// What is typed is meant as it is, unless parameters are given for it.
    fn literal(&self, text: &str) -> String {
        if self.params.is_empty() { literal(text) } else { text.to_owned() }
    }

    /// What a handler would never see is not taken.
    fn check_fits(&self, spec: &Value) -> Result<(), Failure> {
        let is_task = ["process", "script"].iter().any(|kind| spec.get(kind).is_some());
        let unfit = [(!self.env.is_empty(), "--env"), (self.cwd.is_some(), "--cwd")];
        match unfit.into_iter().find(|(is_given, _)| *is_given && !is_task) {
            Some((_, flag)) => {
                Err(Failure::usage(format!("{flag} is for programs and scripts; this job is neither"))
                    .hint("a handler is given values with -p KEY=VALUE"))
            }
            None => Ok(()),
        }
    }

    fn lay_over(&self, spec: &mut Value) {
        let Some(fields) = spec.as_object_mut() else { return };
        if let Some(name) = &self.name {
            fields.insert("name".into(), name.as_str().into());
        }
        let of_pairs = |pairs: &[Pair]| -> Map<String, Value> {
            pairs.iter().map(|pair| (pair.key.clone(), Value::from(pair.value.as_str()))).collect()
        };
        if !self.labels.is_empty() {
            merge(fields, "labels", of_pairs(&self.labels));
        }
        for kind in ["process", "script"] {
            let Some(body) = fields.get_mut(kind) else { continue };
            if let Some(text) = body.as_str() {
                let key = if kind == "script" { "text" } else { "command" };
                *body = json!({ key: text });
            }
            if let Some(body) = body.as_object_mut() {
                if !self.env.is_empty() {
                    let env =
                        self.env.iter().map(|pair| (pair.key.clone(), self.literal(&pair.value).into()));
                    merge(body, "env", env.collect());
                }
                if let Some(cwd) = &self.cwd {
                    body.insert("cwd".into(), cwd.as_str().into());
                }
            }
        }
        let mut set = |section: &str, key: &str, value: Option<Value>| {
            if let Some(value) = value {
                merge(fields, section, Map::from_iter([(key.to_owned(), value)]));
            }
        };
        let text = |text: &Option<String>| text.as_deref().map(Value::from);
        set("timeout", "run", text(&self.timeout));
        set("retry", "max", self.retries.map(Value::from));
        set("placement", "pool", text(&self.pool));
        set("placement", "selector", text(&self.selector));
        set("resources", "cpu", text(&self.cpu));
        set("resources", "memory", text(&self.memory));
        if let Some(priority) = &self.priority {
            match priority.parse::<u32>() {
                Ok(level) => set("priority", "level", Some(level.into())),
                Err(_) => set("priority", "class", Some(priority.as_str().into())),
            }
        }
        self.declare_parameters(fields);
    }

    /// A command or a script has no file that declares its parameters: those that are given are text.
    fn declare_parameters(&self, fields: &mut Map<String, Value>) {
        let from_file =
            self.file.as_ref().is_some_and(|file| Format::of_file(&file.to_string_lossy()).is_some());
        if !from_file && !self.params.is_empty() {
            let declared = self.params.iter().map(|pair| (pair.key.clone(), json!({ "type": "string" })));
            fields.insert("parameters".into(), Value::Object(declared.collect()));
        }
    }
}

/// Says which run it is, and waits for it if asked.
pub(crate) async fn report(
    context: &Context,
    submitted: &mainspring_client::api::Submitted,
    wait: bool,
) -> Result<ExitCode, Failure> {
    let id = submitted.id;
    let again = if submitted.duplicate { " (submitted before with this key)" } else { "" };
    if wait {
        context.output.say(format!("{id}{again}"));
        let run = follow::to_end(context, id, None).await?;
        if context.output.format.is_for_programs() {
            context.output.one(&run, String::new)?;
        }
        return Ok(follow::verdict(context.output, &run));
    }
    context.output.one(submitted, || id.to_string())?;
    if !context.output.format.is_for_programs() {
        context.output.say(format!("{} mainspring logs -f {id}{again}", "next:".paint(BOLD)));
    }
    Ok(ExitCode::SUCCESS)
}

fn merge(fields: &mut Map<String, Value>, section: &str, values: Map<String, Value>) {
    let entry = fields.entry(section).or_insert_with(|| json!({}));
    // A shorthand such as `retry: 5` is written out before it is changed.
    if !entry.is_object() {
        let key = match section {
            "timeout" => "run",
            "retry" => "max",
            "priority" => "class",
            _ => "value",
        };
        *entry = json!({ key: entry.take() });
    }
    if let Some(entry) = entry.as_object_mut() {
        entry.extend(values);
    }
}

fn read_spec(file: &Path, format: Format) -> Result<Value, Failure> {
    let spec = crate::job_file::read_one(file, format)?;
    serde_json::to_value(&spec).map_err(|error| Failure::failed(error.to_string()))
}

/// A name for lists, from a path: the letters that a name may have.
fn name_of(path: &str) -> String {
    let stem =
        Path::new(path).file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    let name = name.trim_matches(['-', '_', '.']);
    if name.is_empty() { "command".to_owned() } else { name.chars().take(64).collect() }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        submit: Submit,
    }

    fn check(words: &[&str], expected: Value) {
        let line = Line::parse_from(std::iter::once("submit").chain(words.iter().copied()));
        let spec = line.submit.spec().unwrap();
        assert_eq!(spec, expected);
        spec::from_value(&spec).unwrap();
    }

    #[test]
    fn a_command_becomes_a_specification() {
        check(
            &["--", "/bin/echo", "a b", "{{ x }}"],
            json!({ "name": "echo", "process": { "command": "/bin/echo", "args": ["a b", "{{ '{{' }} x }}"] } }),
        );
        check(
            &[
                "--name",
                "n",
                "--retries",
                "0",
                "--timeout",
                "5s",
                "--env",
                "A=1",
                "--pool",
                "p",
                "--priority",
                "80",
                "--cpu",
                "500m",
                "-p",
                "day=1",
                "--",
                "echo",
                "{{ params.day }}",
            ],
            json!({
                "name": "n",
                "process": { "command": "echo", "args": ["{{ params.day }}"], "env": { "A": "1" } },
                "retry": { "max": 0 }, "timeout": { "run": "5s" }, "placement": { "pool": "p" },
                "priority": { "level": 80 }, "resources": { "cpu": "500m" },
                "parameters": { "day": { "type": "string" } },
            }),
        );
    }

    #[test]
    fn what_a_handler_never_sees_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("h.yaml");
        std::fs::write(&file, "name: h\nhandler: resize\n").unwrap();
        for flag in ["--env=A=1", "--cwd=/tmp"] {
            let line = Line::parse_from(["submit", flag, file.to_str().unwrap()]);
            let failure = line.submit.spec().unwrap_err();
            assert!(failure.message.contains("is for programs and scripts"), "{failure}");
        }
        Line::parse_from(["submit", file.to_str().unwrap()]).submit.spec().unwrap();
    }

    #[test]
    fn any_text_is_an_argument() {
        for text in ["{% endraw %}", "{% raw %}{{ x }}{% endraw %}", "{#", "a{{b}}\n"] {
            let line = Line::parse_from(["submit", "--", "echo", text]);
            let spec = line.submit.spec().unwrap();
            spec::from_value(&spec).unwrap();
            let template = spec["process"]["args"][0].as_str().unwrap().to_owned();
            let rendered = spec::Template::from(template)
                .render(&json!({}), &mut mainspring_model::spec::Budget::default())
                .unwrap();
            assert_eq!(rendered, text);
        }
    }

    #[test]
    fn names_come_from_paths() {
        assert_eq!(name_of("/usr/bin/My Tool.sh"), "my-tool");
        assert_eq!(name_of("..."), "command");
    }
}
