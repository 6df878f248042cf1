//! One kind of event in each file: what a caller or a node can ask of a cell.

mod cancel;
mod drain;
mod heartbeat;
mod hello;
mod lose;
mod pause;
mod prioritise;
mod report;
mod retry;
mod submit;
