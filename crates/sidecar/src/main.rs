//! The sidecar as a program of its own: `mainspring-sidecar DIR`. The product runs it as `mainspring sidecar`.

use std::process::ExitCode;

use mainspring_sidecar::{Options, launch_if_asked, run};

fn main() -> ExitCode {
    launch_if_asked();
    let Some(data) = std::env::args_os().nth(1) else {
        return complain("usage: mainspring-sidecar DIR");
    };
    match run(Options::new(data)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string()),
    }
}

#[expect(clippy::print_stderr, reason = "the last words of a program")]
fn complain(text: &str) -> ExitCode {
    eprintln!("mainspring-sidecar: {text}");
    ExitCode::FAILURE
}
