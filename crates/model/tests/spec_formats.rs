//! The same job in YAML, JSON and TOML, every shorthand beside its long form, and text that is not a file.
//!
//! Right files are compared as whole jobs. Text that is not a file at all is one problem with its place.
//! What is wrong with the content of a file is in `spec_problems.rs`.

#![allow(clippy::unwrap_used)]

use mainspring_model::spec::{Format, JobSpec, parse};

fn read(text: &str, format: Format) -> JobSpec {
    parse(text, format).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

const YAML: &str = r#"
name: nightly-report
namespace: acme/data
owner: data-team
labels: { tier: 1, zone: no }
process:
  command: ./report
  args: [--day, "{{ params.day }}", 7]
  env: { LANG: C.UTF-8, PORT: 8080, DEBUG: true }
artifacts:
  - url: https://files.example/report
    digest: sha256:0000000000000000000000000000000000000000000000000000000000000001
    executable: true
inputs: { orders: "/data/{{ params.day }}.csv" }
parameters:
  day: string
  ratio: { type: number, default: 0.25, min: 0 }
retry:
  max: 5
  backoff: { kind: exponential, base: 2s, cap: 10m, jitter: 0.2 }
  rules:
    - { cause: { exit: [2, 64-78] }, then: fail }
    - { cause: oom, then: fail }
timeout: { run: 1h30m, total: 4h }
concurrency: { limit: 1, key: "{{ params.day }}", overlap: skip }
placement:
  selector: zone=eu, disk in (ssd,nvme)
  affinity: [{ selector: { disk: nvme }, weight: 10 }]
resources: { cpu: 0.5, memory: 1.5Gi, named: { gpu: 1 } }
priority: deferrable
"#;

const JSON: &str = r#"{
  "name": "nightly-report", "namespace": "acme/data", "owner": "data-team",
  "labels": {"tier": "1", "zone": "no"},
  "process": {
    "command": "./report",
    "args": ["--day", "{{ params.day }}", "7"],
    "env": {"LANG": "C.UTF-8", "PORT": "8080", "DEBUG": "true"}
  },
  "artifacts": [{
    "url": "https://files.example/report",
    "digest": "sha256:0000000000000000000000000000000000000000000000000000000000000001",
    "executable": true
  }],
  "inputs": {"orders": "/data/{{ params.day }}.csv"},
  "parameters": {"day": {"type": "string"}, "ratio": {"type": "number", "default": 0.25, "min": 0}},
  "retry": {
    "max": 5,
    "backoff": {"kind": "exponential", "base": "2s", "cap": "10m", "jitter": 0.2},
    "rules": [{"cause": {"exit": [2, "64-78"]}, "then": "fail"}, {"cause": "oom", "then": "fail"}]
  },
  "timeout": {"run": "90m", "total": "4h"},
  "concurrency": {"limit": 1, "key": "{{ params.day }}", "overlap": "skip"},
  "placement": {
    "selector": {"zone": "eu", "disk": ["nvme", "ssd"]},
    "affinity": [{"selector": "disk=nvme", "weight": 10}]
  },
  "resources": {"cpu": "500m", "memory": "1536Mi", "named": {"gpu": "1"}},
  "priority": {"class": "deferrable"}
}"#;

const TOML: &str = r#"
name = "nightly-report"
namespace = "acme/data"
owner = "data-team"
priority = "deferrable"
concurrency = { limit = 1, key = "{{ params.day }}", overlap = "skip" }
resources = { cpu = 0.5, memory = "1.5Gi", named = { gpu = 1 } }
timeout = { run = "1h30m", total = "4h" }
[labels]
tier = 1
zone = "no"
[process]
command = "./report"
args = ["--day", "{{ params.day }}", 7]
env = { LANG = "C.UTF-8", PORT = 8080, DEBUG = true }
[[artifacts]]
url = "https://files.example/report"
digest = "sha256:0000000000000000000000000000000000000000000000000000000000000001"
executable = true
[inputs]
orders = "/data/{{ params.day }}.csv"
[parameters]
day = "string"
ratio = { type = "number", default = 0.25, min = 0 }
[retry]
max = 5
backoff = { kind = "exponential", base = "2s", cap = "10m", jitter = 0.2 }
[[retry.rules]]
cause = { exit = [2, "64-78"] }
then = "fail"
[[retry.rules]]
cause = "oom"
then = "fail"
[placement]
selector = "zone=eu, disk in (ssd,nvme)"
[[placement.affinity]]
selector = { disk = "nvme" }
weight = 10
"#;

#[test]
fn one_job_in_three_languages_is_one_job() {
    let yaml = read(YAML, Format::Yaml);
    assert_eq!(yaml, read(JSON, Format::Json));
    assert_eq!(yaml, read(TOML, Format::Toml));
    assert_eq!(yaml, serde_json::from_str::<JobSpec>(JSON).unwrap());
    assert_eq!((yaml.resources.cpu_milli, yaml.labels.get("zone")), (500, Some("no")));
}

#[test]
fn every_shorthand_equals_its_long_form() {
    for (short, long) in [
        ("script: echo 1", "script: {text: echo 1}"),
        ("process: /bin/true", "process: {command: /bin/true}"),
        ("handler: mail", "handler: {name: mail}"),
        ("script: x\nretry: 5", "script: x\nretry: {max: 5}"),
        ("script: x\ntriggers: [{cron: '@every 90s'}]", "script: x\ntriggers: [{every: 1m30s}]"),
        (
            "script: x\ntriggers: [{cron: ' @Every  6h', offset: 1h, count: 3, jitter: 1m}]",
            "script: x\ntriggers: [{name: every, every: 6h, offset: 1h, count: 3, jitter: 1m}]",
        ),
        ("script: x\nretry: {backoff: fixed}", "script: x\nretry: {backoff: {kind: fixed, base: 2s}}"),
        (
            "script: x\nretry: {backoff: {base: 5s}}",
            "script: x\nretry: {backoff: {kind: exponential, base: 5s}}",
        ),
        ("script: x\ntimeout: 5m", "script: x\ntimeout: {run: 5m}"),
        ("script: x\nconcurrency: 1", "script: x\nconcurrency: {limit: 1, overlap: queue_all}"),
        ("script: x\nconcurrency: 2", "script: x\nconcurrency: {limit: 2, overlap: queue_all}"),
        ("script: x\nconcurrency: {overlap: skip}", "script: x\nconcurrency: {limit: 1, overlap: skip}"),
        ("script: x", "script: x\nconcurrency: {overlap: allow}"),
        ("script: x\npriority: spare", "script: x\npriority: {class: spare, level: 50}"),
        ("script: x\nretention: {runs: 30d}", "script: x\nretention: {runs: {age: 30d}}"),
        (
            "script: x\nparameters: {a: integer}",
            "script: x\nparameters: {a: {type: integer, required: true}}",
        ),
        ("script: x\ndispatch: {balancer: random}", "script: x\ndispatch: {mode: unicast, balancer: random}"),
        ("script: {text: x, interpreter: bash}", "script: {text: x, interpreter: [bash]}"),
        (
            "script: x\nretry: {rules: [{cause: {exit: 2}, then: fail}]}",
            "script: x\nretry: {rules: [{cause: {exit: [2]}, then: fail}]}",
        ),
        (
            "script: x\nretry: {rules: [{cause: {signal: SIGKILL}, then: fail}]}",
            "script: x\nretry: {rules: [{cause: {signal: [9]}, then: fail}]}",
        ),
        (
            "script: x\nplacement: {selector: 'zone!=us, gpu, !spot, disk not in (a,b)'}",
            "script: x\nplacement: {selector: {zone: {not: us}, gpu: {exists: true}, spot: {exists: false}, disk: {not: [b, a]}}}",
        ),
    ] {
        let (short, long) = (format!("name: x\n{short}\n"), format!("name: x\n{long}\n"));
        assert_eq!(read(&short, Format::Yaml), read(&long, Format::Yaml), "\n{short}\n{long}");
    }
}

#[test]
fn a_default_is_not_written_back() {
    let spec = read("name: hello\nscript: echo hello\n", Format::Yaml);
    let written = serde_json::to_value(&spec).unwrap();
    assert_eq!(written, serde_json::json!({"name": "hello", "script": {"text": "echo hello"}}));
}

fn check_syntax(text: &str, format: Format, words: &[&str]) {
    let errors = parse(text, format).unwrap_err();
    assert_eq!(errors.problems().len(), 1, "{errors}");
    for word in words {
        assert!(errors.to_string().contains(word), "{errors} has no {word}");
    }
}

#[test]
fn syntax_errors_stand_alone_and_say_where() {
    check_syntax("name: 'x", Format::Yaml, &["not valid YAML", "line 1"]);
    check_syntax("name: x\nname: y\nscript: a", Format::Yaml, &["`name` stands twice", "line 2"]);
    check_syntax("name: x\n---\nname: y\n", Format::Yaml, &["one file holds one job"]);
    check_syntax("name: x\nscript: !run a", Format::Yaml, &["not valid YAML"]);
    check_syntax("name: .nan", Format::Yaml, &["not valid YAML"]);
    check_syntax("{\"name\": ", Format::Json, &["not valid JSON", "line 1"]);
    check_syntax("{\"name\": \"x\", \"name\": \"y\"}", Format::Json, &["`name` stands twice"]);
    check_syntax("name = \"x\"\nscript = ", Format::Toml, &["not valid TOML", "line 2"]);
    check_syntax("name = \"x\"\nname = \"y\"", Format::Toml, &["not valid TOML", "line 2"]);
    check_syntax("name = \"x\"\nscript = 2020-01-01", Format::Toml, &["in quotes"]);
    check_syntax("name = \"x\"\nscript = nan", Format::Toml, &["not finite"]);
}

#[test]
fn hostile_files_are_refused() {
    let deep_json = format!("{}{}", "[".repeat(100), "]".repeat(100));
    check_syntax(&deep_json, Format::Json, &["levels of nesting"]);
    check_syntax(&"[".repeat(100_000), Format::Json, &["not valid JSON"]);
    check_syntax(&"[".repeat(100_000), Format::Yaml, &["not valid YAML"]);
    check_syntax(&format!("a = {}", "[".repeat(100_000)), Format::Toml, &["not valid TOML"]);
    check_syntax(&format!("[{}]", "1,".repeat(200_000) + "1"), Format::Json, &["values"]);
    check_syntax(&" ".repeat(2 << 20), Format::Yaml, &["bytes"]);
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    check_syntax(&bomb, Format::Yaml, &["not valid YAML"]);
}

#[test]
fn yaml_anchors_and_merge_keys_work() {
    let text = "name: x\nscript:\n  text: echo\n  env: &env {A: 1}\nlabels: {<<: *env, B: b}\n";
    let spec = read(text, Format::Yaml);
    assert_eq!((spec.labels.get("A"), spec.labels.get("B")), (Some("1"), Some("b")));
}

#[test]
fn the_number_of_problems_is_bounded() {
    let many: String = (0..1000).map(|n| format!("field{n}: 1\n")).collect();
    assert_eq!(parse(&many, Format::Yaml).unwrap_err().problems().len(), 100);
}

#[test]
fn formats_are_known_by_file_name() {
    for (name, format) in [
        ("job.yaml", Some(Format::Yaml)),
        ("a.b.yml", Some(Format::Yaml)),
        ("job.json", Some(Format::Json)),
        ("job.toml", Some(Format::Toml)),
        ("job", None),
        ("job.txt", None),
    ] {
        assert_eq!(Format::of_file(name), format, "{name}");
    }
}
