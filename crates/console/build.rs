//! Copies the built files of `console/dist` and writes a table of them for `include_bytes!`. It runs no Node and loads nothing:
//! without built files the table is empty, and the server says which command makes them.
//!
//! Copies, because the folder may be built anew while the compiler reads. Of a file with compressed forms only those are
//! embedded.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let dist = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../console/dist");
    // The folder is committed with a file that keeps it: a path that is missing would make every build a new one.
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut names = Vec::new();
    if dist.join("index.html").is_file() {
        collect(&dist, &dist, &mut names)?;
    }
    let compressed =
        |name: &String| names.contains(&format!("{name}.br")) && names.contains(&format!("{name}.gz"));
    let mut kept: Vec<&String> = names.iter().filter(|name| !compressed(name)).collect();
    kept.sort();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let copies = out.join("dist");
    if copies.exists() {
        fs::remove_dir_all(&copies)?;
    }
    let mut table = String::from("pub(crate) static FILES: &[(&str, &[u8])] = &[\n");
    for name in kept {
        let copy = copies.join(name);
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(dist.join(name), copy)?;
        writeln!(table, "    ({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/dist/{name}\"))),")?;
    }
    table.push_str("];\n");
    fs::write(out.join("files.rs"), table)?;
    Ok(())
}

fn collect(root: &Path, folder: &Path, names: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, names)?;
        } else if let Some(name) = path.strip_prefix(root)?.to_str()
            && !name.starts_with('.')
        {
            names.push(name.replace('\\', "/"));
        }
    }
    Ok(())
}
