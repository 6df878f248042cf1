//! A real agent process with its real sidecar; the test is the scheduler at the other end of a real socket.

mod crash;
mod files;
mod ground;
mod joining;
mod logs;
mod tasks;
