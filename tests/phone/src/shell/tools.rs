//! Commands that are not Android's own: `echo`, `cat`, `grep` and the like, on the phone's files.

use std::time::Duration;

use super::{Call, Output};
use crate::server::lock;

/// Longest sleep, in seconds.
const MAX_SLEEP: f32 = 60.0;

/// Runs a command; `None` if there is no such command.
pub(super) fn tool(name: &str, call: &Call<'_>) -> Option<Output> {
    let args = call.rest();
    Some(match name {
        "true" | ":" | "sync" | "chmod" | "mkdir" | "trap" | "setprop" | "wait" | "find" => Output::default(),
        "false" => Output { code: 1, ..Output::default() },
        "echo" => echo(&args),
        "printf" => Output::text(printf(&args)),
        "cat" => cat(call, &args),
        "ls" => ls(call, &args),
        "rm" => {
            let mut phone = lock(call.phone);
            args.iter().filter(|arg| !arg.starts_with('-')).for_each(|file| drop(phone.files.remove(*file)));
            Output::default()
        }
        "mv" | "cp" => copy(call, &args, name == "mv"),
        "grep" => grep(call, &args),
        "head" | "tail" => lines(call, &args, name == "tail"),
        "wc" if args.contains(&"-c") => Output::text(format!("{}\n", call.input.len())),
        "wc" => Output::text(format!("{}\n", String::from_utf8_lossy(call.input).lines().count())),
        "sleep" => {
            let seconds = args.first().and_then(|text| text.parse::<f32>().ok()).unwrap_or_default();
            std::thread::sleep(Duration::from_secs_f32(seconds.clamp(0.0, MAX_SLEEP)));
            Output::default()
        }
        "id" => Output::text("uid=2000(shell) gid=2000(shell) groups=2000(shell)\n"),
        "whoami" => Output::text("shell\n"),
        "pwd" => Output::text("/\n"),
        "uname" => Output::text("Linux\n"),
        "date" => Output::text(format!("{}\n", lock(call.phone).clock.now_ms() / 1000)),
        "which" => which(&args),
        "command" if args.first() == Some(&"-v") => which(&args[1..]),
        "test" | "[" => test(call, &args),
        _ => return None,
    })
}

fn echo(args: &[&str]) -> Output {
    match args.split_first() {
        Some((&"-n", rest)) => Output::text(rest.join(" ")),
        _ => Output::text(args.join(" ") + "\n"),
    }
}

/// Repeats the format until all values are used, as `printf` does.
fn printf(args: &[&str]) -> String {
    let Some((format, values)) = args.split_first() else { return String::new() };
    let format = format.replace("\\n", "\n").replace("\\t", "\t");
    let takes = format.matches("%s").count() + format.matches("%d").count();
    let mut values = values.iter();
    let mut text = String::new();
    loop {
        let mut rest = format.as_str();
        while let Some(at) = rest.find("%s").into_iter().chain(rest.find("%d")).min() {
            text.push_str(&rest[..at]);
            text.push_str(values.next().unwrap_or(&""));
            rest = &rest[at + 2..];
        }
        text.push_str(rest);
        if takes == 0 || values.len() == 0 {
            return text;
        }
    }
}

fn missing(tool: &str, file: &str) -> Output {
    Output::failed(format!("{tool}: {file}: No such file or directory\n"), 1)
}

/// Returns the content of a file.
pub(super) fn file(call: &Call<'_>, name: &str) -> Option<Vec<u8>> {
    let phone = lock(call.phone);
    let hint = phone
        .hint
        .as_ref()
        .filter(|hint| name == format!("/sdcard/Android/data/{}/files/connection-hint.json", hint.package));
    hint.map(|hint| hint.json(phone.clock.now_ms()).into_bytes()).or_else(|| phone.files.get(name).cloned())
}

fn cat(call: &Call<'_>, args: &[&str]) -> Output {
    if args.is_empty() {
        return Output { out: call.input.to_vec(), ..Output::default() };
    }
    let mut all = Output::default();
    for name in args {
        match file(call, name) {
            Some(content) => all.out.extend(content),
            None => {
                all.err.extend(missing("cat", name).err);
                all.code = 1;
            }
        }
    }
    all
}

fn ls(call: &Call<'_>, args: &[&str]) -> Output {
    let folder = args.iter().find(|arg| !arg.starts_with('-')).map_or("/", |name| name);
    let phone = lock(call.phone);
    if phone.files.contains_key(folder) {
        return Output::text(format!("{folder}\n"));
    }
    let inside = format!("{}/", folder.trim_end_matches('/'));
    let names: Vec<&str> = phone.files.keys().filter_map(|file| file.strip_prefix(&inside)).collect();
    if names.is_empty() && !["/", "/sdcard", "/data/local/tmp"].contains(&folder.trim_end_matches('/')) && folder != "/"
    {
        return missing("ls", folder);
    }
    Output::text(names.iter().map(|name| format!("{name}\n")).collect::<String>())
}

fn copy(call: &Call<'_>, args: &[&str], moves: bool) -> Output {
    let names: Vec<&&str> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let [from, to] = names.as_slice() else { return Output::failed("cp: Needs 2 arguments\n", 1) };
    let mut phone = lock(call.phone);
    let content = match **from {
        "/dev/null" => Some(Vec::new()),
        from if moves => phone.files.remove(from),
        from => phone.files.get(from).cloned(),
    };
    match content {
        Some(content) => {
            phone.files.insert((**to).to_owned(), content);
            Output::default()
        }
        None => missing("cp", from),
    }
}

/// Finds lines that contain a text; with `-E`, one of several texts.
fn grep(call: &Call<'_>, args: &[&str]) -> Output {
    let (options, rest): (Vec<&str>, Vec<&str>) = args.iter().partition(|arg| arg.starts_with('-') && arg.len() > 1);
    let has = |option: char| options.iter().any(|given| given.contains(option));
    let Some((pattern, files)) = rest.split_first() else { return Output::failed("grep: no pattern\n", 2) };
    let fold = |text: &str| if has('i') { text.to_lowercase() } else { text.to_owned() };
    let wanted: Vec<String> = if has('E') { pattern.split('|').map(fold).collect() } else { vec![fold(pattern)] };
    let content = match files.first() {
        Some(name) => file(call, name).unwrap_or_default(),
        None => call.input.to_vec(),
    };
    let content = String::from_utf8_lossy(&content).into_owned();
    let is_in = |line: &&str| wanted.iter().any(|wanted| fold(line).contains(wanted.as_str())) != has('v');
    let found: Vec<&str> = content.lines().filter(is_in).collect();
    let code = u8::from(found.is_empty());
    let text = if has('q') {
        String::new()
    } else if has('c') {
        format!("{}\n", found.len())
    } else {
        found.iter().map(|line| format!("{line}\n")).collect()
    };
    Output { code, ..Output::text(text) }
}

fn lines(call: &Call<'_>, args: &[&str], last: bool) -> Output {
    let digits = |arg: &&str| arg.trim_start_matches(['-', 'n', 'c']).parse::<usize>().ok();
    let count = args.iter().find_map(digits).unwrap_or(10);
    if args.iter().any(|arg| arg.starts_with("-c")) {
        let bytes = call.input;
        let chosen = if last { &bytes[bytes.len().saturating_sub(count)..] } else { &bytes[..bytes.len().min(count)] };
        return Output { out: chosen.to_vec(), ..Output::default() };
    }
    let content = String::from_utf8_lossy(call.input).into_owned();
    let all: Vec<&str> = content.lines().collect();
    let chosen = if last { &all[all.len().saturating_sub(count)..] } else { &all[..all.len().min(count)] };
    Output::text(chosen.iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn which(names: &[&str]) -> Output {
    let known = [
        "am", "cat", "cmd", "content", "dumpsys", "echo", "getprop", "grep", "ime", "input", "ls", "monkey", "pm", "rm",
    ]
    .into_iter()
    .chain(["screencap", "settings", "sh", "timeout", "uiautomator", "wm", "logcat"]);
    let known: Vec<&str> = known.collect();
    match names
        .iter()
        .filter(|name| known.contains(name))
        .map(|name| format!("/system/bin/{name}\n"))
        .collect::<String>()
    {
        found if found.is_empty() => Output { code: 1, ..Output::default() },
        found => Output::text(found),
    }
}

fn test(call: &Call<'_>, args: &[&str]) -> Output {
    let args: Vec<&str> = args.iter().copied().filter(|arg| *arg != "]").collect();
    let holds = match args.as_slice() {
        ["-f" | "-e" | "-r", name] => file(call, name).is_some(),
        ["-d", name] => ["/", "/sdcard", "/data/local/tmp"].contains(&name.trim_end_matches('/')) || *name == "/",
        ["-n", text] => !text.is_empty(),
        ["-z", text] => text.is_empty(),
        [one, "=" | "==", other] => one == other,
        [one, "!=", other] => one != other,
        [one, "-eq", other] => one.parse::<i64>().ok() == other.parse::<i64>().ok(),
        [text] => !text.is_empty(),
        _ => false,
    };
    Output { code: u8::from(!holds), ..Output::default() }
}
