//! Prints the schema of the HTTP API: `docs/openapi.json`.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let text = serde_json::to_string_pretty(&mainspring_server::http::openapi())?;
    writeln!(std::io::stdout(), "{text}")
}
