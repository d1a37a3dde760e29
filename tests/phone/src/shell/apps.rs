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
            let numbered = options.contains(&"-U");
            let line = |name: String| match options.contains(&"-f") {
                _ if numbered => format!("package:{name} uid:{}\n", lock(call.phone).uid(&name)),
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
            lock(call.phone).wipe(named, true);
            Output::text("Success\n")
        }
        ["clear", ..] => Output { code: 1, ..Output::text("Failed\n") },
        [verb @ ("grant" | "revoke"), .., permission] if is_known(named) => {
            permit(call, *verb == "grant", named, permission)
        }
        ["grant" | "revoke", ..] => Output::failed(
            format!(
                "Exception occurred while executing '{}':\njava.lang.IllegalArgumentException: Unknown package: {named}\n",
                args[0]
            ),
            255,
        ),
        ["uninstall", ..] => uninstall(call, args),
        ["install", ..] => install(call, args),
        ["resolve-activity", rest @ ..] => resolve(call, rest),
        ["query-activities", rest @ ..] => query(call, rest),
        ["has-feature", ..] => Output { code: 1, ..Output::text("false\n") },
        ["install-create" | "install-write" | "install-commit", ..] => Output::failed(
            "Failure [INSTALL_FAILED_USER_RESTRICTED: the practice phone installs no apps in parts]\n",
            1,
        ),
        _ => Output::failed(format!("Unknown command: {}\n", args.first().unwrap_or(&"")), 255),
    }
}

/// Installs an app of the practice phone: a file of its format, whatever its name. Other files are no apps here.
fn install(call: &Call<'_>, args: &[&str]) -> Output {
    let path = args.last().filter(|last| last.starts_with('/'));
    let content = match path {
        Some(path) => super::tools::file(call, path).unwrap_or_default(),
        None => call.input.to_vec(),
    };
    let failed = |why: &str| Output { code: 1, ..Output::text(format!("Failure [{why}]\n")) };
    let app = match crate::app::parse(&String::from_utf8_lossy(&content)) {
        Ok(app) => app,
        Err(why) => {
            let why = why.replace('\n', " ");
            return failed(&format!(
                "INSTALL_PARSE_FAILED_NOT_APK: the practice phone installs only apps of its own format: {why}"
            ));
        }
    };
    let mut phone = lock(call.phone);
    let is_known = phone.apps.iter().any(|known| known.package == app.package);
    if is_known && !args.contains(&"-r") {
        return failed(&format!(
            "INSTALL_FAILED_ALREADY_EXISTS: Attempt to re-install {} without first uninstalling.",
            app.package
        ));
    }
    phone.install(app);
    Output::text("Success\n")
}

fn uninstall(call: &Call<'_>, args: &[&str]) -> Output {
    let named = args.last().copied().unwrap_or_default();
    if !lock(call.phone).apps.iter().any(|app| app.package == named) {
        return Output { code: 1, ..Output::text("Failure [DELETE_FAILED_INTERNAL_ERROR]\n") };
    }
    lock(call.phone).wipe(named, false);
    Output::text("Success\n")
}

fn permit(call: &Call<'_>, granted: bool, package: &str, permission: &str) -> Output {
    let verb = if granted { "grant" } else { "revoke" };
    if !permission.starts_with("android.permission.") {
        return Output::failed(
            format!(
                "Exception occurred while executing '{verb}':\njava.lang.IllegalArgumentException: Unknown permission: {permission}\n"
            ),
            255,
        );
    }
    let entry = format!("{package} {permission}");
    let mut phone = lock(call.phone);
    match granted {
        true => drop(phone.permissions.insert(entry)),
        false => drop(phone.permissions.remove(&entry)),
    }
    Output::default()
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
        ["broadcast", ..] => broadcast(call, args, value("-a").unwrap_or_default()),
        ["get-current-user"] => Output::text("0\n"),
        ["instrument", ..] => Output::failed("INSTRUMENTATION_FAILED: not on the practice phone\n", 1),
        ["stack" | "task", ..] => Output::default(),
        _ => Output::failed(format!("Error: unknown command '{}'\n", args.first().unwrap_or(&"")), 255),
    }
}

/// Delivers a broadcast. Input methods type the texts that are sent to them.
fn broadcast(call: &Call<'_>, args: &[&str], action: &str) -> Output {
    let begins = format!("Broadcasting: Intent {{ act={action} flg=0x400000 }}\n");
    let (field, owner, result) = match action {
        "ADB_INPUT_B64" => ("msg", "com.android.adbkeyboard/", "result=0"),
        "ADB_KEYBOARD_INPUT_TEXT" => ("text", "com.github.uiautomator/", "result=-1, data=\"success\""),
        _ => return Output::text(begins + "Broadcast completed: result=0\n"),
    };
    let text = args.iter().position(|arg| *arg == field).and_then(|at| args.get(at + 1)).and_then(|text| base64(text));
    match text.filter(|_| props::input_method(call).starts_with(owner)) {
        Some(text) => {
            lock(call.phone).type_any(&String::from_utf8_lossy(&text));
            Output::text(format!("{begins}Broadcast completed: {result}\n"))
        }
        None => Output::text(begins + "Broadcast completed: result=0\n"),
    }
}

/// Decodes Base64; `None` if it is malformed.
fn base64(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = bits << 6 | u32::try_from(DIGITS.iter().position(|digit| *digit == c)?).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
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
        "locale" => locale(call, rest),
        "connectivity" => airplane(call, rest),
        "display" => Output::text(
            "Display id 0: DisplayInfo{\"Built-in Screen\", displayId 0, state ON, type INTERNAL, uniqueId \"local:4619827259835644672\", app 1080 x 2400, real 1080 x 2400}\n",
        ),
        other => Output::failed(format!("cmd: Can't find service: {other}\n"), 20),
    }
}

/// Runs `cmd locale get-app-locales|set-app-locales`, as Android 14 has them.
fn locale(call: &Call<'_>, args: &[&str]) -> Output {
    let (verb, package) = (args.first().copied().unwrap_or_default(), args.get(1).copied().unwrap_or_default());
    let key = ("locale".to_owned(), package.to_owned());
    match verb {
        "get-app-locales" => {
            let set = lock(call.phone).settings.get(&key).cloned().unwrap_or_default();
            Output::text(format!("Locales for {package} for user 0 are [{set}]\n"))
        }
        "set-app-locales" => {
            let tags = args.iter().position(|arg| *arg == "--locales").and_then(|at| args.get(at + 1)).copied();
            lock(call.phone).settings.insert(key, tags.unwrap_or_default().to_owned());
            Output::default()
        }
        other => Output::failed(format!("Unknown command: {other}\n"), 255),
    }
}

/// Runs `cmd connectivity airplane-mode [enable|disable]`.
fn airplane(call: &Call<'_>, args: &[&str]) -> Output {
    let key = ("global".to_owned(), "airplane_mode_on".to_owned());
    let mut phone = lock(call.phone);
    match args {
        ["airplane-mode", mode @ ("enable" | "disable")] => {
            phone.settings.insert(key, u8::from(*mode == "enable").to_string());
            Output::default()
        }
        ["airplane-mode"] => {
            let on = phone.settings.get(&key).is_some_and(|on| on == "1");
            Output::text(if on { "enabled\n" } else { "disabled\n" })
        }
        _ => Output::failed("Connectivity service commands:\n", 255),
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
