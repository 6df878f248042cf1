//! Compiles the protocol without `protoc`.

use std::error::Error;

const FILES: [&str; 1] = ["mainspring/agent/v1/agent.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let descriptors = protox::compile(FILES, ["proto"])?;
    tonic_prost_build::configure().build_transport(false).bytes(".").compile_fds(descriptors)?;
    Ok(())
}
