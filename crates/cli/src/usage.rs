//! A command line that cannot be read: the parser's own words, and the next step where those leave one out.

use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::output::{BOLD, Paint};

/// Says what is wrong, and ends the program.
pub(crate) fn end(error: &clap::Error) -> ! {
    let _ = error.print();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let unknown = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) => unknown.as_str(),
        _ => "",
    };
    if let Some(next) = next_step(unknown, &words) {
        let _ = writeln!(anstream::stderr(), "\n{} {next}", "next:".paint(BOLD));
    }
    std::process::exit(error.exit_code());
}

/// What to do about a word that is not known: a command of several words may stand where a file is wanted.
fn next_step(unknown: &str, words: &[String]) -> Option<String> {
    let [verb, command @ ..] = words else { return None };
    let begins_with_option = command.first().is_some_and(|word| word.starts_with('-'));
    // An option that is misspelt is told by the parser.
    let is_misspelt = unknown.starts_with('-') && begins_with_option;
    if verb != "submit" || unknown.is_empty() || is_misspelt || command.iter().any(|word| word == "--") {
        return None;
    }
    let command = if begins_with_option { "COMMAND".to_owned() } else { command.join(" ") };
    Some(format!("a command goes after `--`: `mainspring submit -- {command}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_dashes_is_told_where_it_goes() {
        let check = |line: &str, unknown: &str, expected: Option<&str>| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let expected = expected
                .map(|command| format!("a command goes after `--`: `mainspring submit -- {command}`"));
            assert_eq!(next_step(unknown, &words), expected, "{line}");
        };
        check("submit echo hello", "hello", Some("echo hello"));
        check("submit ls -l", "-l", Some("ls -l"));
        check("submit --retries 2 echo hello", "hello", Some("COMMAND"));
        check("submit --nonsense x.yaml", "--nonsense", None);
        check("submit a.sh -- b --x", "--x", None);
        check("submit", "", None);
        check("runs echo hello", "echo", None);
    }
}
