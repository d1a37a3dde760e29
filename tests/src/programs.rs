//! The programs under test, built with the same profile as the tests.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The path of a program of this workspace.
pub fn path(name: &str) -> PathBuf {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(build).join(name)
}

/// Builds the programs, which is quick when nothing changed, and returns where they are.
fn build() -> PathBuf {
    let exe = std::env::current_exe().expect("the test's own path");
    let dir = exe.ancestors().find(|d| d.ends_with("debug") || d.ends_with("release")).expect("a target directory").to_owned();
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--workspace", "--bins"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    // With the tests, libraries have the features that they were just built with; without, all would be built once more.
    command.arg(if dir.ends_with("release") { "--release" } else { "--tests" });
    let built = command.status().expect("cargo runs");
    assert!(built.success(), "the programs do not build");
    dir
}
