//! `trigger`: when something fires is said in the person's language, and what keeps it from firing.

use serde_json::json;

use crate::api::{Api, answer};
use crate::binary::{Ended, Home};

#[test]
fn schedules_are_told_in_the_persons_language() {
    let description = json!({"en": "every 1m30s", "zh": "每 1m30s"});
    let preview = json!({"description": description, "zone": "UTC", "moments": []});
    let (api, home) = (Api::start(move |_| answer(200, &preview)), Home::new());
    let preview = |variable: &str, value: &str| {
        let mut command = home.command();
        command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").env(variable, value);
        Ended::of(command.args(["trigger", "preview", "--cron", "@every 90s"]).output().unwrap())
    };
    preview("LANG", "en_GB.UTF-8").check(0, &[], &["nothing is planned", "every 1m30s"]);
    preview("LANG", "zh_CN.UTF-8").check(0, &[], &["nothing is planned", "每 1m30s"]);
}

fn trigger(change: serde_json::Value) -> serde_json::Value {
    let mut trigger = json!({
        "job": "job_00000000000000000000000001", "job_name": "etl", "namespace": "acme", "name": "after", "version": 1,
        "revision": 1, "description": {"en": "when nojob succeeds", "zh": ""}, "spec": {"after": "nojob"},
        "cursor": "2026-01-01T00:00:00Z", "next": "2026-01-01T00:00:00Z", "fires_at": "2026-01-01T00:00:00Z",
        "fired": 0, "failures": 0,
    });
    for (key, value) in change.as_object().unwrap() {
        trigger[key] = value.clone();
    }
    trigger
}

#[test]
fn what_keeps_a_trigger_from_firing_is_its_state() {
    let pause = json!({"by": "ann", "note": "", "at": "2026-01-01T00:00:00Z"});
    for (change, said, unsaid) in [
        (json!({}), "active", "job paused"),
        (json!({"missing_jobs": ["nojob"]}), "there is no nojob", "active"),
        (json!({"job_pause": pause}), "job paused", "0ms"),
    ] {
        let list = json!({"items": [trigger(change)]});
        let (api, home) = (Api::start(move |_| answer(200, &list)), Home::new());
        let mut command = home.command();
        command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test");
        let ended = Ended::of(command.args(["trigger", "list"]).output().unwrap()).check(0, &[said], &[]);
        assert!(!ended.stdout.contains(unsaid), "{}", ended.stdout);
    }
}

#[test]
fn a_job_that_is_not_there_is_a_warning_unless_another_file_makes_it() {
    let put = |name: &str| {
        let warning = json!({"path": "triggers[0].after", "message": "there is no job `first`", "missing_job": "first"});
        json!({
            "id": "job_00000000000000000000000001", "namespace": "acme", "name": name, "version": 1, "revision": 1,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "outcome": "created",
            "warnings": if name == "second" { json!([warning]) } else { json!([]) },
        })
    };
    let api =
        Api::start(move |line| answer(200, &put(if line.contains("/second?") { "second" } else { "first" })));
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let first = file("first.yaml", "name: first\nnamespace: acme\nscript: 'true'\n");
    let second =
        file("second.yaml", "name: second\nnamespace: acme\nscript: 'true'\ntriggers: [{after: first}]\n");
    let run = |words: &[&str]| {
        let mut command = home.command();
        command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test");
        Ended::of(command.args(words).output().unwrap())
    };
    let warning = "warning: acme/second: triggers[0].after: there is no job `first`";
    for words in [&["plan", &second][..], &["plan", "-o", "json", &second], &["apply", "-y", &second]] {
        run(words).check(0, &[], &[warning]);
    }
    let both = run(&["plan", &first, &second]).check(0, &[], &["2 jobs to change"]);
    assert!(!both.stderr.contains("warning"), "{}", both.stderr);
}
