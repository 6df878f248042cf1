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
        &["no error code `conflct`", "next: did you mean `mainspring explain conflict`?"],
    );
    let json = home.run(&["explain", "not_found", "-o", "json"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["exit_code"], 3);
    home.run(&["explain", "not_found", "-o", "yaml"]).check(0, &["code: not_found"], &[]);
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
    home.run(&["completions", "bash"]).check(0, &["_mainspring", "explain"], &[]);
    home.run(&["completions", "tcsh"]).check(2, &[], &["invalid value 'tcsh'"]);
}
