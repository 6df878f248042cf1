//! Questions to the person at the terminal. Without a terminal nobody can answer, so `--yes` is needed.

use std::io::{BufRead, IsTerminal, Write};

use ratatui::crossterm::terminal;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::plain_lines;

/// Asks before something is done that is not easily undone.
pub(crate) fn confirm(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(format!("{question} Nobody is there to say yes."))
            .hint("add --yes if you mean it"));
    }
    match read_line(&format!("{} [y/N] ", plain_lines(question)))?.to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(Exit::Failed, "nothing was changed")),
    }
}

/// Asks for a line; what is typed is seen.
fn read_line(prompt: &str) -> Result<String, Failure> {
    let mut err = anstream::stderr();
    write!(err, "{prompt}")?;
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// Asks for a line that nobody looking on may read.
pub(crate) fn read_secret(prompt: &str) -> Result<String, Failure> {
    let mut err = anstream::stderr();
    write!(err, "{prompt}")?;
    err.flush()?;
    let typed = {
        let _silence = Silence::begin()?;
        read_keys(std::io::stdin().lock())
    };
    writeln!(err)?;
    typed
}

/// Keys up to the end of the line. The terminal does no editing meanwhile, so what people expect of it is done here.
fn read_keys(keys: impl BufRead) -> Result<String, Failure> {
    let mut typed = Vec::new();
    for key in keys.bytes() {
        match key? {
            b'\r' | b'\n' | END_OF_INPUT => break,
            INTERRUPT => return Err(Failure::silent(Exit::Interrupted)),
            BACKSPACE | DELETE => drop(typed.pop()),
            key => typed.push(key),
        }
    }
    Ok(String::from_utf8_lossy(&typed).trim().to_owned())
}

const INTERRUPT: u8 = 3;
const END_OF_INPUT: u8 = 4;
const BACKSPACE: u8 = 8;
const DELETE: u8 = 127;

/// The terminal shows nothing of what is typed until this is dropped.
struct Silence;

impl Silence {
    fn begin() -> Result<Self, Failure> {
        terminal::enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        let _ = terminal::disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_typed_as_any_line() {
        let check = |keys: &[u8], expected: &str| assert_eq!(read_keys(keys).unwrap(), expected);
        check(b"ms_abc\rmore", "ms_abc");
        check(b"ms_x\x7fabc\n", "ms_abc");
        check(b"\x08ms_abc\x04", "ms_abc");
        assert_eq!(read_keys(&b"ms_\x03"[..]).unwrap_err().exit, Exit::Interrupted);
    }
}
