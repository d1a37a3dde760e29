//! Programs in other languages that use afd: the official SDKs of the Model Context Protocol, its inspector, and the
//! clients in `client/python` and `client/typescript`. The tests require that `AFD_PYTHON` names a Python with the
//! needed packages, and `AFD_NODE_MODULES` a directory with the needed npm packages. `.ci/run` installs both.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use afd_tests::{World, docs, programs};

/// Returns the path in an environment variable.
pub fn given(name: &str) -> PathBuf {
    std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from).unwrap_or_else(|| panic!("needs {name}"))
}

/// Returns a command for the Node.js in a directory of packages, which may be newer than that of the machine. If there
/// is none, uses the Node.js of the machine.
pub fn node(modules: &Path) -> Command {
    let own = modules.join("node/bin/node");
    Command::new(if own.exists() { own } else { PathBuf::from("node") })
}

/// Runs a command that must succeed; returns its output.
pub fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}\n{stdout}\n{stderr}");
    stdout.into_owned()
}

/// Compiles the client in `client/typescript` into a directory.
pub fn compile_client(modules: &Path, into: &Path) {
    let mut compiler = node(modules);
    compiler.arg(modules.join("typescript/bin/tsc")).arg("-p").arg(docs::repository("client/typescript"));
    run(compiler.arg("--outDir").arg(into).arg("--typeRoots").arg(modules.join("@types")));
}

#[test]
#[ignore = "needs Python packages"]
fn python_sdk_drives_the_mcp_server() {
    let python = given("AFD_PYTHON");
    let world = World::new();
    let mut command = Command::new(python);
    command.args(["-W", "ignore"]).arg(docs::repository("tests/clients/python_client.py")).arg("stdio");
    let printed = run(command.arg(programs::path("afctl")).arg(world.socket()).env("HOME", world.dir()));
    assert!(printed.ends_with("done\n"), "{printed}");
}

#[test]
#[ignore = "needs Node packages"]
fn typescript_sdk_drives_the_mcp_server() {
    let modules = given("AFD_NODE_MODULES");
    let world = World::new();
    let mut command = node(&modules);
    command
        .arg(docs::repository("tests/clients/typescript_client.mjs"))
        .arg(programs::path("afctl"))
        .arg(world.socket());
    let printed = run(command.env("NODE_MODULES", modules).env("HOME", world.dir()));
    assert!(printed.ends_with("done\n"), "{printed}");
}

#[test]
#[ignore = "needs Node packages"]
fn inspector_accepts_the_mcp_server() {
    let modules = given("AFD_NODE_MODULES");
    let inspector = modules.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let world = World::new();
    let inspect = |args: &[&str]| {
        let mut command = node(&modules);
        command.arg(&inspector).arg("--cli").arg(programs::path("afctl")).args(["mcp", "--socket"]).arg(world.socket());
        run(command.args(["--method"]).args(args).env("HOME", world.dir()))
    };
    assert!(inspect(&["tools/list"]).contains("af_look"));
    assert!(inspect(&["resources/list"]).contains("afd://screen"));
    assert!(inspect(&["resources/templates/list"]).contains("afd://graph/{app}"));
    assert!(inspect(&["prompts/list"]).contains("test_app"));
    assert!(inspect(&["tools/call", "--tool-name", "af_tap", "--tool-arg", "value=Display"]).contains("Dark theme"));
    assert!(inspect(&["resources/read", "--uri", "afd://screen"]).contains("Dark theme"));
}

#[test]
#[ignore = "needs Node packages"]
fn openrpc_document_is_valid_and_its_examples_conform() {
    let modules = given("AFD_NODE_MODULES");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("openrpc.json");
    std::fs::write(&file, afd::rpc::document().to_string()).expect("writes");
    let mut command = node(&modules);
    let printed =
        run(command.arg(docs::repository("tests/clients/openrpc.mjs")).arg(file).env("NODE_MODULES", modules));
    assert!(printed.starts_with("done"), "{printed}");
}

#[test]
#[ignore = "needs Python packages"]
fn python_client_does_a_task() {
    let python = given("AFD_PYTHON");
    let world = World::new();
    let mut command = Command::new(&python);
    command.arg("-B").arg(docs::repository("tests/clients/python_typed.py")).arg(world.socket());
    command.env("PYTHONPATH", docs::repository("client/python")).env("HOME", world.dir());
    let printed = run(&mut command);
    assert!(printed.ends_with("done\n"), "{printed}");
    let cache = world.dir().join("mypy");
    let mut types = Command::new(&python);
    types.args(["-m", "mypy", "--strict", "--cache-dir"]).arg(cache).arg(docs::repository("client/python/afd"));
    run(&mut types);
}

#[test]
#[ignore = "needs Node packages"]
fn typescript_client_does_a_task() {
    let modules = given("AFD_NODE_MODULES");
    let world = World::new();
    compile_client(&modules, &world.dir().join("dist"));
    std::fs::write(world.dir().join("dist/package.json"), "{\"type\": \"module\"}").expect("writes");
    let mut command = node(&modules);
    command.arg(docs::repository("tests/clients/typescript_typed.mjs")).arg(world.dir().join("dist/client.js"));
    let printed = run(command.arg(world.socket()).env("HOME", world.dir()));
    assert!(printed.ends_with("done\n"), "{printed}");
}
