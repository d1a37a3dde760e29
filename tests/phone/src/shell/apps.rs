//! Apps: `pm`, `am`, `cmd` and `monkey`.

use super::{Call, Output, input, props};
use crate::server::lock;

/// Apps that the system brings along.
const SYSTEM: [&str; 3] = ["com.android.launcher3", "com.android.systemui", "com.memohai.autofish"];

fn packages(call: &Call<'_>, system: Option<bool>) -> Vec<String> {
    let phone = lock(call.phone);
    let own = phone.apps.iter().map(|app| app.package.clone());
    let is_of_system = |name: &String| name.starts_with("com.android.") || SYSTEM.contains(&name.as_str());
    let mut all: Vec<String> = own.chain(SYSTEM.map(str::to_owned)).collect();
    all.retain(|name| system.is_none_or(|system| system == is_of_system(name)));
    all.sort();
    all
}

/// Returns the component that an app starts with.
fn component(call: &Call<'_>, package: &str) -> Option<String> {
    let phone = lock(call.phone);
    let app = phone.apps.iter().find(|app| app.package == package)?;
    let page = app.pages.get(&app.start)?;
    Some(format!("{package}/{}", page.activity))
}

pub(super) fn pm(args: &[&str], call: &Call<'_>) -> Output {
    let named = args.iter().skip(1).find(|arg| !arg.starts_with('-')).copied().unwrap_or_default();
    let is_known = |name: &str| packages(call, None).iter().any(|package| package == name);
    match args {
        ["list", "packages" | "package", options @ ..] => {
            let system = if options.contains(&"-3") { Some(false) } else { options.contains(&"-s").then_some(true) };
            let filter = options
                .iter()
                .find(|arg| !arg.starts_with('-') && arg.parse::<u32>().is_err())
                .copied()
                .unwrap_or_default();
            let version = if options.contains(&"--show-versioncode") { " versionCode:34" } else { "" };
            let line = |name: String| match options.contains(&"-f") {
                true => format!("package:/data/app/{name}/base.apk={name}{version}\n"),
                false => format!("package:{name}{version}\n"),
            };
            Output::text(
                packages(call, system).into_iter().filter(|name| name.contains(filter)).map(line).collect::<String>(),
            )
        }
        ["list", "features"] => {
            Output::text("feature:android.hardware.touchscreen\nfeature:android.software.webview\n")
        }
        ["list", "users"] => Output::text("Users:\n\tUserInfo{0:Owner:c13} running\n"),
        ["list", ..] => Output::default(),
        ["path", ..] if is_known(named) => Output::text(format!("package:/data/app/{named}/base.apk\n")),
        ["path", ..] => Output { code: 1, ..Output::default() },
        ["clear", ..] if is_known(named) => {
            lock(call.phone).stop(named);
            Output::text("Success\n")
        }
        ["grant" | "revoke", ..] if is_known(named) => Output::default(),
        ["resolve-activity", rest @ ..] => resolve(call, rest),
        ["query-activities", rest @ ..] => query(call, rest),
        ["has-feature", ..] => Output { code: 1, ..Output::text("false\n") },
        ["install" | "install-create" | "install-write" | "install-commit" | "uninstall", ..] => {
            Output::failed("Failure [INSTALL_FAILED_USER_RESTRICTED: the practice phone installs no apps]\n", 1)
        }
        _ => Output::failed(format!("Unknown command: {}\n", args.first().unwrap_or(&"")), 255),
    }
}

fn resolve(call: &Call<'_>, args: &[&str]) -> Output {
    let package = args
        .iter()
        .rev()
        .find(|arg| arg.contains('.') && !arg.starts_with("android.intent"))
        .copied()
        .unwrap_or_default();
    match component(call, package) {
        Some(component) if args.contains(&"--brief") => Output::text(format!(
            "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n{component}\n"
        )),
        Some(component) => {
            Output::text(format!("priority=0\n  ActivityInfo:\n    name={component}\n    packageName={package}\n"))
        }
        None => Output::text("No activity found\n"),
    }
}

fn query(call: &Call<'_>, args: &[&str]) -> Output {
    let all: Vec<(String, String)> =
        packages(call, None).into_iter().filter_map(|name| component(call, &name).map(|found| (name, found))).collect();
    if args.contains(&"--brief") {
        let lines = all.iter().map(|(_, component)| {
            format!("  priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n    {component}\n")
        });
        return Output::text(format!("{} activities found:\n", all.len()) + &lines.collect::<String>());
    }
    let lines = all
        .iter()
        .map(|(name, component)| format!("    ActivityInfo:\n      name={component}\n      packageName={name}\n"));
    Output::text(format!("{} activities found:\n", all.len()) + &lines.collect::<String>())
}

pub(super) fn am(args: &[&str], call: &Call<'_>) -> Output {
    let value = |option: &str| args.iter().position(|arg| *arg == option).and_then(|at| args.get(at + 1)).copied();
    match args {
        ["start" | "start-activity", ..] => start(call, args, value("-n"), value("-p")),
        ["force-stop" | "kill", ..] => {
            let package = args.last().copied().unwrap_or_default();
            lock(call.phone).stop(package);
            Output::default()
        }
        ["broadcast", ..] => Output::text("Broadcasting: Intent { flg=0x400000 }\nBroadcast completed: result=0\n"),
        ["get-current-user"] => Output::text("0\n"),
        ["instrument", ..] => Output::failed("INSTRUMENTATION_FAILED: not on the practice phone\n", 1),
        ["stack" | "task", ..] => Output::default(),
        _ => Output::failed(format!("Error: unknown command '{}'\n", args.first().unwrap_or(&"")), 255),
    }
}

fn start(call: &Call<'_>, args: &[&str], component: Option<&str>, package: Option<&str>) -> Output {
    let named = args.iter().rev().find(|arg| arg.contains('/') && !arg.contains("://")).copied();
    let component = component.or(named);
    // Apps answer to the actions of others.
    let action = args.iter().position(|arg| *arg == "-a").and_then(|at| args.get(at + 1)).copied().unwrap_or_default();
    let data = args.iter().any(|arg| arg.contains("://"));
    let answers = match action {
        "android.intent.action.VIEW" if data => Some("org.example.browser"),
        action if action.starts_with("android.settings.") => Some("com.android.settings"),
        _ => None,
    };
    let Some(package) =
        component.and_then(|component| component.split_once('/')).map(|(package, _)| package).or(package).or(answers)
    else {
        return Output::failed("Error: Activity not started, unable to resolve Intent\n", 1);
    };
    let shown = component.unwrap_or(package);
    let mut text = format!("Starting: Intent {{ cmp={shown} }}\n");
    if lock(call.phone).launch(package).is_none() {
        let mut failed =
            Output::failed(format!("Error type 3\nError: Activity class {{{shown}}} does not exist.\n"), 1);
        failed.out = text.into_bytes();
        return failed;
    }
    if args.contains(&"-W") {
        text += &format!("Status: ok\nLaunchState: COLD\nActivity: {shown}\nTotalTime: 120\nWaitTime: 130\nComplete\n");
    }
    Output::text(text)
}

/// Runs `cmd SERVICE ...`.
pub(super) fn cmd(call: &Call<'_>) -> Output {
    let args = call.rest();
    let Some((service, rest)) = args.split_first() else {
        return Output::failed("cmd: No service specified; use -l to list all services\n", 20);
    };
    let words: Vec<String> = std::iter::once(*service).chain(rest.iter().copied()).map(str::to_owned).collect();
    let inner = Call { args: &words, ..*call };
    match *service {
        "package" => pm(rest, call),
        "activity" => am(rest, call),
        "input" => input::input(&inner),
        "window" => props::wm(&inner),
        "settings" => props::settings(&inner),
        "uimode" => night(call, rest),
        "display" => Output::text(
            "Display id 0: DisplayInfo{\"Built-in Screen\", displayId 0, state ON, type INTERNAL, uniqueId \"local:4619827259835644672\", app 1080 x 2400, real 1080 x 2400}\n",
        ),
        other => Output::failed(format!("cmd: Can't find service: {other}\n"), 20),
    }
}

/// Runs `cmd uimode night [yes|no]`.
fn night(call: &Call<'_>, args: &[&str]) -> Output {
    let key = ("uimode".to_owned(), "night".to_owned());
    let mut phone = lock(call.phone);
    if let ["night", mode @ ("yes" | "no" | "auto")] = args {
        phone.settings.insert(key.clone(), (*mode).to_owned());
    }
    let mode = phone.settings.get(&key).map_or("no", String::as_str).to_owned();
    Output::text(format!("Night mode: {mode}\n"))
}

/// Runs `monkey -p PACKAGE -c android.intent.category.LAUNCHER 1`.
pub(super) fn monkey(call: &Call<'_>) -> Output {
    let args = call.rest();
    let package = args.iter().position(|arg| *arg == "-p").and_then(|at| args.get(at + 1)).copied().unwrap_or_default();
    match lock(call.phone).launch(package) {
        Some(_) => Output::text(
            "Events injected: 1\n## Network stats: elapsed time=12ms (0ms mobile, 0ms wifi, 12ms not connected)\n",
        ),
        None => Output { code: 252, ..Output::text("** No activities found to run, monkey aborted.\n") },
    }
}
