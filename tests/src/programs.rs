//! The programs under test, built with the same profile as the tests.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Returns the path of a program of this workspace; the first call builds all of them.
pub fn path(name: &str) -> PathBuf {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(build).join(name)
}

/// Builds the programs and returns their directory. This is quick if nothing has changed.
fn build() -> PathBuf {
    let exe = std::env::current_exe().expect("the path of this test");
    let dir = exe
        .ancestors()
        .find(|d| d.ends_with("debug") || d.ends_with("release"))
        .expect("a target directory")
        .to_owned();
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--workspace", "--bins"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    // With `--tests`, cargo selects the same features as in the current build; otherwise it would rebuild all
    // libraries.
    command.arg(if dir.ends_with("release") { "--release" } else { "--tests" });
    // Cargo sets variables with the package of the test. Crates such as ring would be rebuilt because of them.
    let of_test = |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(of_test)) {
        command.env_remove(name);
    }
    let built = command.status().expect("cargo runs");
    assert!(built.success(), "cannot build the programs");
    dir
}
