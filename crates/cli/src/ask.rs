//! Questions to the person at the terminal. Without a terminal nobody can answer, so `--yes` is needed.

use std::io::{IsTerminal, Write};

use crate::exit::Exit;
use crate::failure::Failure;

/// Asks before something is done that is not easily undone.
pub(crate) fn confirm(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(format!("{question} Nobody is there to say yes."))
            .hint("add --yes if you mean it"));
    }
    match read_line(&format!("{question} [y/N] "))?.to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(Exit::Failed, "nothing was changed")),
    }
}

/// Asks for a line. A secret would better come from a file: what is typed is seen.
pub(crate) fn read_line(prompt: &str) -> Result<String, Failure> {
    let mut err = anstream::stderr();
    write!(err, "{prompt}")?;
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}
