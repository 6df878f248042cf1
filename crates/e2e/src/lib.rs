//! Nothing but tests: see `tests/`. They run the binary that `cargo build` made, as users do.
