//! What only a real server shows: `up` in a directory of its own, and commands that talk to it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::binary::{Ended, Home};

/// Everything on this machine, until the test ends.
struct Up {
    home: Home,
    child: Child,
    /// What it said until it was up.
    words: String,
}

impl Up {
    fn start() -> Self {
        let home = Home::new();
        let up = home.command();
        Self::of(home, up, &[])
    }

    /// The program, or one that starts it, with more arguments.
    fn of(home: Home, mut up: Command, more: &[&str]) -> Self {
        up.args(["up", "--listen", "127.0.0.1:0"]).args(more).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = up.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut words = String::new();
        while !words.contains("Ctrl-C stops it") {
            assert_ne!(lines.read_line(&mut words).unwrap(), 0, "{words}");
        }
        // Its log must find a reader, or it would wait for one.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Self { home, child, words }
    }

    fn check(&self, words: &[&str], code: i32, stdout: &[&str], stderr: &[&str]) -> Ended {
        self.home.run(words).check(code, stdout, stderr)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.home.directory.path().join(name), text).unwrap();
    }
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
}

impl Drop for Up {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            signal(&self.child, "-TERM");
            self.child.wait().unwrap();
        }
    }
}

#[test]
fn what_is_exported_is_what_apply_reads() {
    let up = Up::start();
    up.write("a.yaml", "name: a\nscript: echo a\nretry: 2\n");
    up.write(
        "b.yaml",
        "# A comment first.\n---\nname: b\nscript: |\n  echo b\n  ---\n---\nname: c\nscript: echo c\n",
    );
    up.check(&["apply", "--yes", "a.yaml", "b.yaml"], 0, &[], &["3 jobs to change, 0 unchanged"]);
    for (file, format) in [("all.yaml", "table"), ("all.json", "json"), ("list.yaml", "yaml")] {
        let exported = up.check(&["export", "-o", format], 0, &["namespace"], &[]);
        up.write(file, &exported.stdout);
        let plan = up.check(&["plan", file], 0, &[], &["0 jobs to change, 3 unchanged"]);
        assert_eq!(plan.stdout, "", "{file}");
        let applied = up.check(&["apply", "--yes", file, "-o", "json"], 0, &[], &[]);
        let applied: Value = serde_json::from_str(&applied.stdout).unwrap();
        for job in applied["items"].as_array().unwrap() {
            assert_eq!((&job["version"], &job["outcome"]), (&1.into(), &"unchanged".into()), "{file}");
        }
    }
    up.write("all.yaml", "name: a\nscript: echo a\n---\nname: b\nscrpt: x\n");
    up.check(&["plan", "all.yaml"], 2, &[], &["error: all.yaml, document 2:\n", "scrpt: unknown field"]);
    up.check(
        &["apply", "--yes", "a.yaml", "all.json"],
        2,
        &[],
        &["`default/a` is described twice", "next: leave one"],
    );
    let plan = up.check(&["plan", "a.yaml", "-o", "yaml"], 0, &["items:", "outcome: unchanged"], &[]);
    assert_eq!(plan.stderr, "");
}

#[test]
fn programs_are_told_of_changes_line_by_line() {
    let up = Up::start();
    for (format, first) in [("json", "{\"items\":[]}\n"), ("yaml", "---\n")] {
        // A watch that tells nothing must not keep the test.
        let mut watch = up.home.of("timeout");
        let watch = watch.args([
            "600",
            env!("CARGO_BIN_EXE_mainspring"),
            "runs",
            "--watch",
            "-Q",
            &format!("job:{format}"),
            "-o",
            format,
        ]);
        let mut child = watch.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(lines.next().unwrap(), first.trim_end());
        up.check(&["submit", "--name", format, "--", "true"], 0, &["run_"], &[]);
        let told = lines.find(|line| line.contains("run_")).unwrap();
        if format == "json" {
            let told: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(told["items"][0]["job_name"], "json");
        }
        signal(&child, "-TERM");
        child.wait().unwrap();
    }
}

#[test]
fn what_changes_a_thing_prints_it_for_programs() {
    let up = Up::start();
    up.write("a.yaml", "name: a\nscript: echo a\n");
    up.check(&["apply", "--yes", "a.yaml"], 0, &[], &[]);
    let data =
        |words: &[&str]| -> Value { serde_json::from_str(&up.check(words, 0, &[], &[]).stdout).unwrap() };
    let paused = data(&["pause", "a", "-m", "not now", "-o", "json"]);
    assert_eq!(paused["items"][0]["pause"]["note"], "not now");
    assert_eq!(data(&["resume", "a", "-o", "json"])["items"][0]["pause"], Value::Null);
    assert_eq!(data(&["pause", "--cell", "0", "-o", "json"])["paused"], true);
    assert_eq!(data(&["namespace", "set", "acme", "-o", "json"])["path"], "acme");
    assert_eq!(data(&["member", "set", "ann", "editor", "-n", "acme", "-o", "json"])["role"], "editor");
    assert_eq!(data(&["cancel", "-Q", "job:none", "-y", "-o", "json"])["matched"], 0);
    up.check(&["submit", "--", "true"], 0, &["run_"], &[]);
    up.check(&["submit", "--", "true"], 0, &["run_"], &[]);
    let cancelled = data(&["cancel", "-Q", "job:true", "-y", "-o", "json"]);
    assert_eq!((&cancelled["done"], &cancelled["state"]), (&2.into(), &"done".into()), "{cancelled}");
    up.check(&["pause", "a"], 0, &[], &["a is paused"]);
    let described = up.check(&["describe", "a"], 0, &["State:       paused by "], &[]);
    assert!(!described.stdout.contains(": \n"), "{}", described.stdout);
}

#[test]
fn a_line_of_output_is_a_line_however_it_was_captured() {
    let up = Up::start();
    let submit = ["submit", "-q", "-o", "name", "--name", "count", "--", "printf", "1\\n2\\n3\\n4\\n5\\n"];
    let run = up.check(&submit, 0, &["run_"], &[]).stdout;
    let run = run.trim_end();
    up.check(&["wait", run], 0, &[], &[]);
    let lines = |words: &[&str]| -> Vec<String> {
        let ended = up.check(&[&["logs", run], words].concat(), 0, &[], &[]);
        ended.stdout.lines().map(str::to_owned).collect()
    };
    for words in [&["-t"][..], &["-t", "-f"]] {
        let timed = lines(words);
        assert_eq!(timed.len(), 5);
        for (line, number) in timed.iter().zip(1..) {
            let (at, text) = line.split_once(' ').expect(line);
            assert!(at.ends_with('Z') && text == number.to_string(), "{line}");
        }
    }
    assert_eq!(lines(&["--tail", "2"]), ["4", "5"]);
    for words in [&["-o", "json"][..], &["-o", "json", "-f"]] {
        let texts =
            lines(words).into_iter().map(|line| serde_json::from_str::<Value>(&line).unwrap()["text"].take());
        assert_eq!(texts.collect::<Vec<_>>(), ["1\n", "2\n", "3\n", "4\n", "5\n"]);
    }
    assert_eq!(lines(&["--tail", "1", "-o", "json"]).len(), 1);
    let yaml = lines(&["-o", "yaml"]);
    assert_eq!(yaml.iter().filter(|line| *line == "---").count(), 5, "{yaml:?}");
    assert!(yaml.contains(&"stream: stdout".to_owned()), "{yaml:?}");
}

#[test]
fn labels_are_told_as_they_will_be() {
    let home = Home::new();
    let up = home.command();
    let up = Up::of(home, up, &["--label", "zone=eu", "--name", "a1"]);
    // The node is there when it has done something.
    up.check(&["submit", "--wait", "--", "true"], 0, &[], &[]);
    let label = |words: &[&str], stderr: &[&str]| -> Value {
        let words = [&["node", "label", "a1", "-o", "json"], words].concat();
        serde_json::from_str::<Value>(&up.check(&words, 0, &[], stderr).stdout).unwrap()["labels"].take()
    };
    let labelled = label(&["spot=yes"], &["a1: ", "spot=yes"]);
    assert_eq!((&labelled["spot"], &labelled["zone"]), (&"yes".into(), &"eu".into()));
    let own = "`zone` is the node's own label and stays";
    let labelled = label(&["spot-", "zone-"], &[own]);
    assert_eq!((&labelled["spot"], &labelled["zone"]), (&Value::Null, &"eu".into()));
}

#[test]
fn a_file_that_is_there_is_not_written_over() {
    let up = Up::start();
    up.write("tool", "new");
    let pushed = up.check(&["artifact", "push", "tool"], 0, &["sha256:"], &[]).stdout;
    let digest = pushed.trim_end();
    up.write("tool", "old");
    let text = |name: &str| std::fs::read_to_string(up.home.directory.path().join(name)).unwrap();
    up.check(&["artifact", "get", digest], 2, &[], &["tool is there already", "`--force`", "-O FILE"]);
    assert_eq!(text("tool"), "old");
    up.check(&["artifact", "get", digest, "-O", "other"], 0, &[], &["other (3 B)"]);
    up.check(&["artifact", "get", digest, "-O", "/dev/null"], 0, &[], &[]);
    up.check(&["artifact", "get", digest, "--force"], 0, &[], &["tool (3 B)"]);
    assert_eq!((text("tool"), text("other")), ("new".into(), "new".into()));
    let gone = format!("sha256:{}", "0".repeat(64));
    up.check(&["artifact", "get", &gone, "-O", "nothing"], 3, &[], &[]);
    assert!(!up.home.directory.path().join("nothing").exists());
    up.check(&["artifact", "push", "."], 2, &[], &["error: . is a directory", "`tar`"]);
}

#[test]
fn a_folder_that_another_server_uses_is_told_with_what_to_do() {
    let up = Up::start();
    let words =
        ["another server uses this data folder", "next: stop it, or give this one a folder of its own"];
    up.check(&["up", "--listen", "127.0.0.1:0"], 1, &[], &words);
}

#[test]
fn a_task_may_use_the_program() {
    let home = Home::new();
    let mut command = home.command();
    if is_root() {
        // Only the program's own user may read the token of its target.
        command.env("MAINSPRING_AGENT__TASK_USER", "root");
    }
    let up = Up::of(home, command, &[]);
    assert!(up.words.contains("can read and change its files"), "{}", up.words);
    let program = env!("CARGO_BIN_EXE_mainspring");
    let home = format!("HOME={}", up.home.directory.path().display());
    let submit = ["submit", "--wait", "--env", &home, "--", program, "runs", "-o", "json"];
    up.check(&submit, 0, &["\"job_name\": \"mainspring\"", "\"state\": \"running\""], &[]);
}

#[test]
fn a_closed_terminal_stops_it_as_it_should() {
    let mut up = Up::start();
    signal(&up.child, "-HUP");
    assert_eq!(up.child.wait().unwrap().code(), Some(0));

    let home = Home::new();
    let mut nohup = home.of("nohup");
    nohup.arg(env!("CARGO_BIN_EXE_mainspring"));
    let up = Up::of(home, nohup, &[]);
    signal(&up.child, "-HUP");
    up.check(&["nodes"], 0, &[], &[]);
}

#[test]
fn its_log_has_colours_when_they_are_wanted() {
    let log = |more: &[&str]| {
        let home = Home::new();
        let up = home.command();
        Up::of(home, up, more).words.clone()
    };
    assert!(!log(&[]).contains('\x1b'));
    assert!(log(&["--color", "always"]).contains("\x1b["));
}

#[test]
fn a_name_that_is_not_there_leads_to_one_that_is() {
    let up = Up::start();
    up.write("jobs.yaml", "name: greet\nscript: echo\n---\nname: other\nnamespace: acme\nscript: echo\n");
    up.check(&["apply", "--yes", "jobs.yaml"], 0, &[], &[]);
    let near = "next: did you mean `greet`? `mainspring jobs` lists them";
    for words in [
        &["run", "greeet"][..],
        &["run", "greeet", "-p", "a=1"],
        &["describe", "gret"],
        &["pause", "gret"],
        &["resume", "gret"],
        &["delete", "gret", "--yes"],
        &["export", "gret"],
    ] {
        up.check(words, 3, &[], &["there is no job", near]);
    }
    up.check(&["logs", "gret"], 3, &[], &["did you mean `greet`?"]);
    up.check(&["describe", "other"], 3, &[], &["next: it is in `acme`: add `-n acme`; "]);
    up.check(&["run", "greet", "--version", "9"], 3, &[], &["next: `mainspring describe greet`"]);
    up.check(&["describe", "quite-else"], 3, &[], &["next: `mainspring jobs` lists them"]);
    up.check(&["describe", "run_01hf7yat00000000000000000a"], 3, &[], &["next: `mainspring runs` lists"]);
    let ended = up.check(
        &["runs", "-Q", "stat:failed", "--job", "greet"],
        2,
        &[],
        &["error: --query: at position 1: `stat`"],
    );
    assert_eq!(ended.stderr.matches("at position").count(), 1, "{ended:?}");
}

#[test]
fn jobs_are_found_by_name_label_and_pause() {
    let up = Up::start();
    let job = |name: &str, team: &str| format!("name: {name}\nscript: echo\nlabels: {{team: {team}}}\n---\n");
    up.write("jobs.yaml", &[job("report-a", "data"), job("report-b", "web"), job("etl", "data")].concat());
    up.check(&["apply", "--yes", "jobs.yaml"], 0, &[], &[]);
    up.check(&["pause", "etl"], 0, &[], &[]);
    for (words, names) in [
        (&["report"][..], "report-a\nreport-b\n"),
        (&["--label", "team=data"], "report-a\netl\n"),
        (&["--paused"], "etl\n"),
        (&["report", "--label", "team=web", "--limit", "1"], "report-b\n"),
    ] {
        let listed = up.check(&[&["jobs", "-o", "name"], words].concat(), 0, &[], &[]);
        assert_eq!(listed.stdout, names, "{words:?}");
    }
}

#[test]
fn a_job_stands_for_its_newest_run_that_fits() {
    let up = Up::start();
    up.write("slow.yaml", "name: slow\nscript: sleep 60\nconcurrency: {limit: 2}\n");
    up.write("weak.yaml", "name: weak\nscript: exit 1\nretry: {max: 2, backoff: {base: 1h, jitter: 0}}\n");
    up.check(&["apply", "--yes", "slow.yaml", "weak.yaml"], 0, &[], &[]);
    up.check(
        &["cancel", "slow"],
        3,
        &[],
        &["there is no run of a job `slow` in `default` that is not over", "next: `mainspring runs -A`"],
    );
    let run = |job: &str| up.check(&["run", job, "-q", "-o", "name"], 0, &[], &[]).stdout.trim().to_owned();
    let (first, second) = (run("slow"), run("slow"));
    for id in [&second, &first] {
        up.check(
            &["cancel", "--kill", "slow"],
            0,
            &[],
            &[&format!("{id} is the newest run of slow that is not over")],
        );
        up.check(&["wait", id], 125, &[], &["cancelled"]);
    }
    let weak = run("weak");
    let failed = ["runs", "-o", "name", "--job", "weak", "--state", "failed"];
    assert!((0..500).any(|_| !up.check(&failed, 0, &[], &[]).stdout.is_empty()), "it has failed by now");
    let retried = up.check(
        &["retry", "weak", "-o", "json"],
        0,
        &[],
        &[&format!("{weak} is the newest run of weak that waits")],
    );
    let retried: Value = serde_json::from_str(&retried.stdout).unwrap();
    assert_eq!(retried["items"][0]["id"], *weak);
}

#[test]
fn no_pid_file_stays_of_one_that_could_not_start() {
    let home = Home::new();
    let targets = home.directory.path().join("targets/mainspring/targets.toml");
    std::fs::create_dir_all(targets).unwrap();
    let mut up = home.command();
    up.env("XDG_CONFIG_HOME", home.directory.path().join("targets"));
    let data = home.directory.path().join("data");
    let up = up.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
    Ended::of(up.output().unwrap()).check(1, &[], &["targets.toml"]);
    assert!(data.join("token").exists() && !data.join("pid").exists());
}

#[test]
fn the_link_that_it_prints_signs_in() {
    let up = Up::start();
    let (_, link) = up.words.split_once("Sign in once with ").unwrap();
    let link = link.lines().next().unwrap();
    let elsewhere = Home::new();
    elsewhere.run(&["login", link]).check(0, &[], &["signed in to http://127.0.0.1:", "commands talk to it"]);
    elsewhere.run(&["nodes"]).check(0, &[], &[]);
    elsewhere.run(&["login", link]).check(4, &[], &["next: "]);
}

#[test]
fn a_person_who_waits_sees_how_far_the_task_is() {
    let up = Up::start();
    // Ends when it was seen, or after a while.
    let task =
        "echo 0.4 reading > $MAINSPRING_PROGRESS; for i in $(seq 200); do test -e seen || sleep 0.1; done";
    let program = env!("CARGO_BIN_EXE_mainspring");
    let here = up.home.directory.path().display();
    let line = format!("{program} submit --wait --cwd {here} -- sh -c '{task}'");
    let mut script = up.home.of("script");
    script.env("TERM", "xterm");
    let mut child = script
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // A bar ends in no line: what is drawn is read piece by piece.
    let (mut screen, mut drawn, mut piece) = (child.stdout.take().unwrap(), String::new(), [0; 512]);
    while !drawn.contains("40 % reading") {
        let read = screen.read(&mut piece).unwrap();
        assert_ne!(read, 0, "{drawn}");
        drawn.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    std::thread::spawn(move || std::io::copy(&mut screen, &mut std::io::sink()));
    up.write("seen", "");
    assert!(child.wait().unwrap().success());
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().unwrap().stdout == b"0\n"
}

/// Where the agent of `up` was put because nobody else can pass the data folder; removed at the end.
struct Elsewhere(std::path::PathBuf);

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn tasks_of_roots_up_have_a_uid_of_their_own_and_cannot_read_its_files() {
    assert!(is_root(), "this test needs root");
    for closed in [false, true] {
        let home = Home::new();
        if closed {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::set_permissions(home.directory.path(), mode).unwrap();
        }
        let data = home.directory.path().join("mainspring-data");
        let command = home.command();
        let up = Up::of(home, command, &[]);
        let place = std::fs::canonicalize(data.join("agent")).unwrap();
        let _elsewhere = closed.then(|| Elsewhere(place.clone()));
        assert!(up.words.contains("which has no account, and not as root"), "{}", up.words);
        assert_eq!(up.words.contains("is closed to other users"), closed, "{}", up.words);
        assert_eq!(place.starts_with("/var/lib/mainspring-up"), closed, "{}", place.display());
        let said =
            up.check(&["submit", "--wait", "-q", "--", "sh", "-c", "id -u; id -G"], 0, &[], &[]).stdout;
        let uids: Vec<u32> = said.lines().map(|line| line.parse().unwrap()).collect();
        assert!(
            matches!(uids[..], [uid, group] if uid == group && (60_706..61_184).contains(&uid)),
            "{said}"
        );
        // Everything that server and agent keep, by its full name: the task need not find it.
        let found = Command::new("find").args([&data, &place]).args(["-not", "-type", "d"]).output().unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        let kept: Vec<&str> = found.lines().filter(|path| !path.contains("/attempts/")).collect();
        for name in ["/token", "/mainspring.db", "/agent/credential", "/sidecar.sock", "/journal"] {
            assert!(kept.iter().any(|path| path.ends_with(name)), "no {name} in {found}");
        }
        let look = "for f; do [ -r \"$f\" ] && echo \"$f\"; [ -w \"$f\" ] && echo \"$f\"; done; true";
        let mut words = vec!["submit", "--wait", "-q", "--", "sh", "-c", look, "sh"];
        words.extend(&kept);
        let reached = up.check(&words, 0, &[], &[]).stdout;
        let reached: Vec<&str> = reached.lines().filter(|path| !path.ends_with("/pid")).collect();
        assert!(reached.is_empty(), "{reached:#?}");
    }
}

#[test]
fn an_agent_of_root_is_told_as_whom_tasks_run_or_does_not_start() {
    let home = Home::new();
    let words = ["agent", "--server", "http://127.0.0.1:9", "--join-token", "x"];
    assert!(is_root(), "this test needs root");
    home.run(&words).check(2, &[], &["option task_user: ", "MAINSPRING_AGENT__TASK_USER", "next: "]);
    assert!(!home.directory.path().join("mainspring-agent").exists(), "nothing was made");
}
