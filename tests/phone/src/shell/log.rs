//! `logcat`, in the formats `threadtime`, `brief`, `epoch` and `uid`. It prints what was logged, and never waits for more.

use super::{Call, Output};
use crate::clock::parts;
use crate::phone::Entry;
use crate::server::lock;

/// Options of a call.
struct Options {
    buffers: Vec<String>,
    epoch: bool,
    uid: bool,
    brief: bool,
    /// Only the newest entries.
    count: Option<usize>,
    /// Only entries from this time on, in Unix milliseconds.
    from: Option<i64>,
    pid: Option<u32>,
    /// Lowest severity by tag; `*` is the tag of all others.
    filters: Vec<(String, char)>,
    silent: bool,
    clear: bool,
}

pub(super) fn logcat(call: &Call<'_>) -> Output {
    let options = match options(&call.rest()) {
        Ok(options) => options,
        Err(message) => return Output::failed(message, 1),
    };
    let mut phone = lock(call.phone);
    let is_of = |entry: &Entry| options.buffers.iter().any(|name| name == "all" || name == entry.buffer);
    if options.clear {
        phone.log.retain(|entry| !is_of(entry));
        return Output::default();
    }
    let wanted = |entry: &&Entry| {
        is_of(entry)
            && options.from.is_none_or(|from| entry.at >= from)
            && options.pid.is_none_or(|pid| entry.pid == pid)
            && shows(&options, entry)
    };
    let entries: Vec<&Entry> = phone.log.iter().filter(wanted).collect();
    let from = entries.len().saturating_sub(options.count.unwrap_or(usize::MAX));
    let mut text = String::new();
    for name in options.buffers.iter().filter(|name| entries[from..].iter().any(|entry| entry.buffer == name.as_str()))
    {
        text.push_str(&format!("--------- beginning of {name}\n"));
    }
    for entry in &entries[from..] {
        let head = head(entry, &options);
        entry.text.lines().for_each(|line| text.push_str(&format!("{head}{line}\n")));
    }
    Output::text(text)
}

fn options(args: &[&str]) -> Result<Options, String> {
    let mut options = Options {
        buffers: Vec::new(),
        epoch: false,
        uid: false,
        brief: false,
        count: None,
        from: None,
        pid: None,
        filters: Vec::new(),
        silent: false,
        clear: false,
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "-d" | "--print" => {}
            "-c" | "--clear" => options.clear = true,
            "-s" => options.silent = true,
            "-b" => {
                options.buffers.extend(rest.next().into_iter().flat_map(|names| names.split(',')).map(str::to_owned))
            }
            "-v" => match rest.next().copied() {
                Some("epoch") => options.epoch = true,
                Some("uid") => options.uid = true,
                Some("brief") => options.brief = true,
                Some("threadtime" | "time" | "year" | "zone" | "printable" | "long" | "raw") => {}
                other => return Err(format!("logcat: Invalid -v format '{}'\n", other.unwrap_or_default())),
            },
            "-t" | "-T" => match rest.next().map(|since| (since.parse::<usize>().ok(), since.parse::<f64>().ok())) {
                Some((Some(count), _)) => options.count = Some(count),
                Some((None, Some(seconds))) => options.from = Some((seconds * 1_000.0).round() as i64),
                _ => return Err("logcat: -T time not in correct format\n".to_owned()),
            },
            arg if arg.starts_with("--pid=") => options.pid = arg[6..].parse().ok(),
            arg if arg.starts_with('-') => {}
            filter => {
                let (tag, level) = filter.rsplit_once(':').unwrap_or((filter, "V"));
                options.filters.push((tag.to_owned(), level.chars().next().unwrap_or('V')));
            }
        }
    }
    if options.buffers.is_empty() {
        options.buffers = ["main", "system", "crash"].map(str::to_owned).to_vec();
    }
    Ok(options)
}

/// Returns whether the filters let an entry pass.
fn shows(options: &Options, entry: &Entry) -> bool {
    let rank = |level: char| "VDIWEFS".find(level).unwrap_or(0);
    let of = |tag: &str| options.filters.iter().find(|(name, _)| name == tag).map(|(_, level)| *level);
    let least = of(&entry.tag).or_else(|| of("*")).unwrap_or(if options.silent { 'S' } else { 'V' });
    rank(entry.level) >= rank(least)
}

fn head(entry: &Entry, options: &Options) -> String {
    let Entry { at, uid, pid, level, tag, .. } = entry;
    if options.brief {
        return format!("{level}/{tag:<8}({pid:>5}): ");
    }
    let time = match options.epoch {
        true => format!("{:>15}.{:03}", at / 1_000, at % 1_000),
        false => {
            let [_, month, day, hour, minute, second] = parts(*at);
            format!("{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03}", at % 1_000)
        }
    };
    let uid = if options.uid { format!("{uid:>5}:") } else { String::new() };
    format!("{time} {uid}{pid:>5} {pid:>5} {level} {tag:<8}: ")
}
