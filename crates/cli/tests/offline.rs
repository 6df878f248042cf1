//! What works without a server.

use std::fs;

use crate::binary::Home;

#[test]
fn help_and_usage() {
    let home = Home::new();
    home.run(&["--help"]).check(0, &["Usage: mainspring", "explain", "--namespace"], &[]);
    home.run(&[]).check(2, &[], &["Usage: mainspring"]);
    home.run(&["explian"]).check(2, &[], &["unrecognized subcommand 'explian'", "explain"]);
    home.run(&["--version"]).check(0, &["mainspring 0."], &[]);
}

#[test]
fn explain_says_what_a_code_means() {
    let home = Home::new();
    let page = home.run(&["explain", "conflict"]).check(
        0,
        &["It changed since you read it", "Exit code:       5"],
        &[],
    );
    assert!(!page.stdout.contains('\x1b'), "colours in a pipe: {page:?}");
    home.run(&["explain", "conflict", "--color", "always"]).check(0, &["\x1b[1mconflict\x1b[0m"], &[]);
    home.run(&["explain"]).check(0, &["store_unavailable"], &[]);
    home.run(&["explain", "-o", "name"]).check(0, &["invalid_spec\ninvalid_parameter\n"], &[]);
    home.run(&["explain", "conflct"]).check(
        3,
        &[],
        &["no code `conflct`", "next: did you mean `mainspring explain conflict`?"],
    );
    let json = home.run(&["explain", "not_found", "-o", "json"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["exit_code"], 3);
    home.run(&["explain", "not_found", "-o", "yaml"]).check(0, &["code: not_found"], &[]);
}

#[test]
fn explain_knows_reasons_causes_and_exit_codes() {
    let home = Home::new();
    for (word, said) in [
        ("no_node", "mainspring node resume"),
        ("backoff", "mainspring retry RUN"),
        ("oom", "Exit code:  137"),
        ("timeout", "Exit code:  124"),
        ("lost", "a cause for which an attempt ends"),
        ("125", "the run ended without an exit code"),
        ("quarantined", "a reason for which a run waits"),
    ] {
        home.run(&["explain", word]).check(0, &[word, said], &[]);
    }
    home.run(&["explain"]).check(0, &["no_node", "oom", "exit code", "130"], &[]);
    home.run(&["explain", "no_nod"]).check(3, &[], &["did you mean `mainspring explain no_node`?"]);
    home.run(&["explain", "oom", "-o", "json"]).check(0, &["\"kind\": \"cause\"", "137"], &[]);
}

#[test]
fn roles_refuse_what_they_would_ignore() {
    let home = Home::new();
    for (words, said) in [
        (
            &["server", "--url", "http://h"][..],
            ["--url means nothing to a server", "next: `--listen ADDRESS`"],
        ),
        (&["up", "--url", "http://h"], ["--url means nothing to a server", "`--public-url URL`"]),
        (&["agent", "--url", "http://h"], ["--url means nothing to an agent", "next: `--server URL`"]),
        (&["server", "-n", "acme"], ["--namespace means nothing to a server", "next: "]),
        (&["agent", "--token-file", "t"], ["--token-file means nothing to an agent", "next: "]),
    ] {
        home.run(words).check(2, &[], &said);
    }
}

#[test]
fn a_busy_port_leaves_nothing_behind() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    home.run(&["up", "--listen", &address]).check(1, &[], &["cannot listen on", "next: "]);
    assert!(!home.directory.path().join("mainspring-data").exists());
}

#[test]
fn settings_are_checked_with_hints() {
    let home = Home::new();
    home.run(&["config", "check"]).check(0, &[], &["there is no settings file"]);
    let file = home.directory.path().join("bad.toml");
    fs::write(&file, "[server]\nlisen = \"x\"\n").unwrap();
    home.run(&["config", "check", file.to_str().unwrap()]).check(
        2,
        &[],
        &["server.lisen: unknown setting; did you mean `server.listen`?", "next: "],
    );
    fs::write(&file, "[server\n").unwrap();
    home.run(&["config", "check", "bad.toml"]).check(2, &[], &["bad.toml is not TOML", "line 1"]);
    home.run(&["config", "check", "none.toml"]).check(2, &[], &["cannot read none.toml"]);
    let schema = home.run(&["config", "schema"]).check(0, &["additionalProperties"], &[]);
    serde_json::from_str::<serde_json::Value>(&schema.stdout).unwrap();
    let ended =
        home.command().args(["config", "check"]).env("MAINSPRING_SERVER__CELLS", "x").output().unwrap();
    crate::binary::Ended::of(ended).check(2, &[], &["MAINSPRING_SERVER__CELLS: `x` is not a whole number"]);
}

#[test]
fn completions_know_the_commands() {
    let home = Home::new();
    home.run(&["completions", "bash"]).check(0, &["_mainspring", "explain", "final_failed"], &[]);
    home.run(&["completions", "tcsh"]).check(2, &[], &["invalid value 'tcsh'"]);
}

#[test]
fn the_check_refuses_what_a_role_would() {
    let home = Home::new();
    for (variable, value, words) in [
        ("MAINSPRING_SERVER__HEARTBEAT_EVERY", "60s", "server.lost_after: 15s leaves no room"),
        ("MAINSPRING_SERVER__CELLS", "0", "server.cells: 0 is not within"),
        ("MAINSPRING_SERVER__ROLES", "boss", "server.roles: there is no role `boss`"),
        ("MAINSPRING_STORE", "foo:bar", "server.store: no store opens `foo:` URLs"),
        ("MAINSPRING_LISTEN", "here", "server.listen: `here` is no address"),
        ("MAINSPRING_AGENT__SLOTS", "0", "agent.slots: 0 is too few"),
        ("MAINSPRING_AGENT__LABELS", "a b=1", "agent.labels: `a b` is not a label key"),
        ("MAINSPRING_AGENT__MEMORY", "much", "agent.memory: "),
        ("MAINSPRING_LOG", "=", "log.level: `=` is not a level"),
        ("MAINSPRING_URL", "foo", "client.url: `foo` is not a URL"),
        ("MAINSPRING_FOO", "1", "MAINSPRING_FOO: unknown variable"),
        ("MAINSPRING_AGENT_SLOTS", "1", "did you mean `MAINSPRING_AGENT__SLOTS`?"),
    ] {
        let check = |words: &[&str]| {
            crate::binary::Ended::of(home.command().args(words).env(variable, value).output().unwrap())
        };
        check(&["config", "check"]).check(2, &[], &[words, "next: "]);
        let json = check(&["config", "check", "-o", "json"]).check(2, &[], &[]);
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(json["ok"], false);
        assert!(json["problems"][0].as_str().unwrap().contains(words), "{json}");
    }
    home.run(&["config", "check", "-o", "json"]).check(0, &["\"ok\": true"], &[]);
}

#[test]
fn a_wrong_flag_is_told_before_anything_is_made() {
    let home = Home::new();
    for (flags, words) in [
        (&["--label", "foo"][..], "label: `foo` has no value"),
        (&["--slots", "0"], "slots: 0 is too few"),
        (&["--pool", "a b"], "pool: "),
        (&["--store", "foo:bar"], "store: no store opens `foo:` URLs"),
        (&["--listen", "x"], "listen: `x` is no address"),
    ] {
        home.run(&[&["up"], flags].concat()).check(2, &[], &[words, "next: "]);
        assert!(!home.directory.path().join("mainspring-data").exists(), "{flags:?}");
    }
    let late = home.command().arg("up").env("MAINSPRING_SERVER__HEARTBEAT_EVERY", "60s").output().unwrap();
    crate::binary::Ended::of(late).check(2, &[], &["lost_after: 15s leaves no room", "next: "]);
}

#[test]
fn a_role_that_cannot_start_says_the_next_step() {
    let home = Home::new();
    // A store that may yet come up is waited for; a name that does not resolve is a mistake.
    let nobody = "postgres://no.such.host.invalid/x";
    home.run(&["up", "--listen", "127.0.0.1:0", "--store", nobody]).check(
        1,
        &[],
        &["cannot connect to PostgreSQL", "next: ", "--store"],
    );
    home.run(&["up", "--listen", "127.0.0.1:0", "--store", "postgres:/x"]).check(
        1,
        &[],
        &["the PostgreSQL URL cannot be read", "next: "],
    );
    home.run(&["up", "--listen", "127.0.0.1:0", "--data", "/proc/x"]).check(
        1,
        &[],
        &["data folder /proc/x", "next: ", "--data"],
    );
    home.run(&["runs", "--url", "foo"]).check(
        2,
        &[],
        &["`foo` is not a URL", "next: ", "http://127.0.0.1:7468"],
    );
    fs::write(home.directory.path().join("bad.toml"), "[server\n").unwrap();
    home.run(&["runs", "--config", "bad.toml"]).check(2, &[], &["bad.toml is not TOML", "next: "]);
}

#[test]
fn a_directory_without_job_files_is_told() {
    let home = Home::new();
    fs::create_dir_all(home.directory.path().join("jobs/more")).unwrap();
    fs::write(home.directory.path().join("jobs/README.md"), "nothing").unwrap();
    for verb in ["apply", "plan"] {
        let words = [verb, "jobs", "--url", "http://127.0.0.1:1"];
        home.run(&words).check(2, &[], &["no job file was found in jobs", "next: job files end in .yaml"]);
    }
}
