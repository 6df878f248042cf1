//! The commands of `cargo xtask`, one file each. What they share lives beside this folder: `rules`, `database`,
//! `contract`, `process`.

pub(crate) mod api;
pub(crate) mod chaos;
pub(crate) mod console;
pub(crate) mod cron;
pub(crate) mod db;
pub(crate) mod generate;
pub(crate) mod postgres;
pub(crate) mod rules;
pub(crate) mod screenshots;
pub(crate) mod test;
pub(crate) mod up;
