//! A command line that cannot be read: the parser's own words, and the next step where those leave one out.

use std::io::Write;

use clap::error::ErrorKind;

use crate::output::{BOLD, Paint};

/// Says what is wrong, and ends the program.
pub(crate) fn end(error: &clap::Error) -> ! {
    let _ = error.print();
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(next) = next_step(error.kind(), &words) {
        let _ = writeln!(anstream::stderr(), "\n{} {next}", "next:".paint(BOLD));
    }
    std::process::exit(error.exit_code());
}

/// A command of several words that stands where a file is wanted.
fn next_step(kind: ErrorKind, words: &[String]) -> Option<String> {
    if kind != ErrorKind::UnknownArgument || words.iter().any(|word| word == "--") {
        return None;
    }
    let at = words.iter().position(|word| word == "submit")?;
    let command: Vec<&str> =
        words[at + 1..].iter().map(String::as_str).skip_while(|word| word.starts_with('-')).collect();
    (command.len() > 1)
        .then(|| format!("a command goes after `--`: `mainspring submit -- {}`", command.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_dashes_is_told_where_it_goes() {
        let check = |line: &str, expected: Option<&str>| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let next = next_step(ErrorKind::UnknownArgument, &words);
            assert_eq!(next.as_deref(), expected, "{line}");
        };
        check("submit echo hello", Some("a command goes after `--`: `mainspring submit -- echo hello`"));
        check("submit -w ls -l", Some("a command goes after `--`: `mainspring submit -- ls -l`"));
        check("submit --nonsense", None);
        check("submit -- echo --x", None);
        check("runs echo hello", None);
    }
}
