//! The sidecar as a program of its own: `mainspring-sidecar DIR [LINGER-MS [CRASH-AT]]`, for tests. The product runs it as
//! `mainspring sidecar`, which cannot be told to crash.

use std::process::ExitCode;
use std::time::Duration;

use mainspring_sidecar::{Options, run};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(data), linger) = (arguments.next(), arguments.next()) else {
        return complain("usage: mainspring-sidecar DIR [LINGER-MS [CRASH-AT]]");
    };
    let mut options = Options::new(data);
    if let Some(linger) = linger {
        let Some(millis) = linger.to_str().and_then(|text| text.parse().ok()) else {
            return complain("LINGER-MS is a number");
        };
        options.linger = Duration::from_millis(millis);
    }
    if let Some(crash_at) = arguments.next() {
        let Some(number) = crash_at.to_str().and_then(|text| text.parse().ok()) else {
            return complain("CRASH-AT is a number");
        };
        options.crash_at = Some(number);
    }
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string()),
    }
}

#[expect(clippy::print_stderr, reason = "the last words of a program")]
fn complain(text: &str) -> ExitCode {
    eprintln!("mainspring-sidecar: {text}");
    ExitCode::FAILURE
}
