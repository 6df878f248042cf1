//! Rows per second and CPU time per run through `Store::commit`, beside the same statements issued raw.
//!
//! On SQLite (FULL), PostgreSQL and MariaDB, at batches of 1, 100 and 1000: real run writes under a real
//! fence, ours and raw in alternating rounds, the median of each; and the CPU time of all processes involved
//! for a whole short run.
