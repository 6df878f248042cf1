//! The sidecar as a program of its own: `mainspring-sidecar DIR [LINGER-MS]`. The product runs it as `mainspring sidecar`.

use std::process::ExitCode;
use std::time::Duration;

use mainspring_sidecar::{Options, launch_if_asked, run};

fn main() -> ExitCode {
    launch_if_asked();
    let mut arguments = std::env::args_os().skip(1);
    let (Some(data), linger) = (arguments.next(), arguments.next()) else {
        return complain("usage: mainspring-sidecar DIR [LINGER-MS]");
    };
    let mut options = Options::new(data);
    if let Some(linger) = linger {
        let Some(millis) = linger.to_str().and_then(|text| text.parse().ok()) else {
            return complain("LINGER-MS is a number");
        };
        options.linger = Duration::from_millis(millis);
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
