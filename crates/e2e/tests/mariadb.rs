//! The third kind of store under the whole program: what matters most, once each.

use crate::world::Store;
use crate::{crashes, ordinary};

#[test]
fn output_exit_code_and_result() {
    ordinary::output_exit_code_and_result(Store::Mysql);
}

#[test]
fn work_in_flight_survives_the_server() {
    crashes::work_in_flight_survives_the_server(Store::Mysql);
}
