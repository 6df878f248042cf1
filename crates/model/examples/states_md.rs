//! Prints `docs/states.md`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    print!("{}", mainspring_model::state::states_markdown());
}
