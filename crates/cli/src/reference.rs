//! `docs/cli.md`, made from the command tree, the exit codes and the settings by `cargo xtask generate`.

use std::fmt::Write;

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::arguments::Arguments;
use crate::config::{SECTIONS, SETTINGS};
use crate::exit::Exit;

/// The whole page.
pub(crate) fn markdown() -> String {
    let mut page = String::from(
        "# The command line\n\nGenerated from the program by `cargo xtask generate`; do not edit.\n\n\
         Data goes to standard output, talk to standard error. `-o json` prints what the API answers and is stable.\n\n",
    );
    let mut root = Arguments::command();
    root.build();
    exit_codes(&mut page);
    page.push_str("## Global options\n\nEvery command takes these.\n\n");
    let globals = root.get_arguments().filter(|argument| argument.is_global_set() && !argument.is_hide_set());
    options(&mut page, globals);
    page.push_str("\n## Commands\n\n");
    for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
        section(&mut page, command, "mainspring", 3);
    }
    settings(&mut page);
    page
}

fn exit_codes(page: &mut String) {
    page.push_str("## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for exit in Exit::ALL {
        let _ = writeln!(page, "| {} | {} |", exit.number(), exit.meaning());
    }
    page.push_str(
        "\nCommands that wait for a run (`submit --wait`, `run --wait`, `wait`) end with the task's own exit code: 0 for a\n\
         success, the code of its last attempt otherwise, 128 and the signal's number when a signal ended it, 137 when it ran\n\
         out of memory, 1 for the error of a handler.\n\n",
    );
}

fn section(page: &mut String, command: &Command, parent: &str, level: usize) {
    let name = format!("{parent} {}", command.get_name());
    let _ = writeln!(page, "{} {name}\n", "#".repeat(level));
    if let Some(about) = command.get_about() {
        let _ = writeln!(page, "{about}.\n");
    }
    if let Some(long) = command.get_long_about() {
        let _ = writeln!(page, "{long}\n");
    }
    let children: Vec<&Command> = command.get_subcommands().filter(|child| !child.is_hide_set()).collect();
    if children.is_empty() {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage:").trim();
        let _ = writeln!(page, "```text\n{usage}\n```\n");
    }
    let own = |argument: &&Arg| {
        !argument.is_global_set()
            && !argument.is_hide_set()
            && !matches!(argument.get_action(), ArgAction::Help | ArgAction::Version)
    };
    if command.get_arguments().any(|argument| own(&argument)) {
        options(page, command.get_arguments().filter(own));
        page.push('\n');
    }
    if let Some(after) = command.get_after_help() {
        let after = after.to_string();
        let commands = after.strip_prefix("Example: ").or_else(|| after.strip_prefix("Examples:\n"));
        let lines: Vec<&str> = commands.unwrap_or(&after).lines().map(str::trim).collect();
        let _ = match commands {
            Some(_) => writeln!(page, "```sh\n{}\n```\n", lines.join("\n")),
            None => writeln!(page, "{}.\n", lines.join("\n").trim_end_matches('.')),
        };
    }
    for child in children {
        section(page, child, &name, level + 1);
    }
}

fn options<'a>(page: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    page.push_str("| option | meaning |\n|---|---|\n");
    for argument in arguments {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default().replace('|', "\\|");
        let _ = writeln!(page, "| `{}` | {help} |", spelled(argument));
    }
}

fn spelled(argument: &Arg) -> String {
    let takes = argument.get_action().takes_values();
    let value = argument
        .get_value_names()
        .and_then(|names| names.first())
        .map_or_else(|| argument.get_id().to_string().to_uppercase(), ToString::to_string);
    if argument.is_positional() {
        return value;
    }
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let names = names.join(", ");
    if takes { format!("{names} {value}") } else { names }
}

fn settings(page: &mut String) {
    page.push_str(
        "## Settings\n\nFlags go before variables, variables before the file, the file before defaults. The file is \
         `--config FILE`,\n`$MAINSPRING_CONFIG`, `~/.config/mainspring/config.toml` or `/etc/mainspring/mainspring.toml`, \
         the first that there is.\n\n",
    );
    for (section, help) in SECTIONS {
        let _ = writeln!(page, "### [{section}]\n\n{help}\n");
        page.push_str("| setting | variable | default | meaning |\n|---|---|---|---|\n");
        for setting in SETTINGS.iter().filter(|setting| setting.section == *section) {
            let variable = setting.short_variable.map_or_else(|| setting.variable(), str::to_owned);
            let _ = writeln!(
                page,
                "| `{}` | `{variable}` | {} | {} |",
                setting.name, setting.default, setting.help
            );
        }
        page.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_that_is_called_as_one_of_claps_own_is_told() {
        let page = markdown();
        assert!(page.contains("| `--version VERSION` | A version of the job"));
        assert!(!page.contains("`-h, --help`") && !page.contains("`-V, --version`"));
    }

    #[test]
    fn a_sentence_ends_once() {
        let page = markdown();
        let twice = page.lines().find(|line| line.ends_with("..") && !line.ends_with("..."));
        assert_eq!(twice, None);
    }
}
