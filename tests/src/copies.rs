//! Multiplies exported records: writes copies with other uids, times and names.

use std::io::Write as _;
use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};

/// Number of apps among which the copies are distributed.
const APPS: usize = 12;

/// Replaces the uids in a text. The time in their first 48 bits is moved back by `back` milliseconds. The uids in
/// `kept`, those of the phone and of the memory, are not changed.
fn with_other_uids(text: &str, copy: usize, back: i64, kept: &[String]) -> String {
    let is_uid = |part: &[u8]| {
        part.iter()
            .enumerate()
            .all(|(i, b)| if matches!(i, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() })
    };
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at + 36 <= bytes.len() {
        if is_uid(&bytes[at..at + 36]) {
            if !kept.iter().any(|uid| &bytes[at..at + 36] == uid.as_bytes()) {
                let made =
                    i64::from_str_radix(&(text[at..at + 8].to_owned() + &text[at + 9..at + 13]), 16).expect("a time");
                let made = format!("{:012x}", made - back);
                bytes[at..at + 8].copy_from_slice(&made.as_bytes()[..8]);
                bytes[at + 9..at + 13].copy_from_slice(&made.as_bytes()[8..]);
                bytes[at + 32..at + 36].copy_from_slice(format!("{copy:04x}").as_bytes());
            }
            at += 36;
        } else {
            at += 1;
        }
    }
    String::from_utf8(bytes).expect("only digits were changed")
}

/// Adds `by` milliseconds to the times in a record.
fn shift(value: &mut Value, by: i64) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|value| shift(value, by)),
        Value::Array(items) => items.iter_mut().for_each(|value| shift(value, by)),
        Value::Number(number) => {
            if let Some(at) = number.as_i64().filter(|at| *at > 1_600_000_000_000) {
                *value = json!(at + by);
            }
        }
        _ => {}
    }
}

/// Returns a copy of exported records with other uids, times `back` milliseconds earlier, consecutive sequence numbers,
/// another session name, and for most copies another app.
fn another(lines: &[String], (app, session): (&str, &str), copy: usize, back: i64) -> Vec<String> {
    let seq = |record: &Value| record["seq"].as_i64();
    let hour = lines
        .iter()
        .filter_map(|line| seq(&serde_json::from_str(line).expect("JSON")))
        .max()
        .expect("sequence numbers");
    let other_app =
        if copy.is_multiple_of(APPS) { app.to_owned() } else { format!("com.vendor{}.settings", copy % APPS) };
    let records = lines.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let phone = records.into_iter().find(|record| record["type"] == "device").expect("a phone")["uid"].clone();
    let origin =
        lines.iter().find_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["origin"].as_str()?.to_owned()));
    let kept = [phone.as_str().expect("a uid").to_owned(), origin.expect("an origin")];
    let told = |line: &String| {
        let text = line.replace(app, &other_app).replace(session, &format!("agent-{copy}"));
        let mut record: Value = serde_json::from_str(&with_other_uids(&text, copy, back, &kept)).expect("JSON");
        shift(&mut record, -back);
        if let Some(seq) = seq(&record) {
            record["seq"] = json!(seq + copy as i64 * hour);
        }
        record.to_string()
    };
    lines.iter().map(told).collect()
}

/// Writes a file in the format of `memory.export` with copies of exported records. `back` returns by how many
/// milliseconds the times of a copy are moved back; `names` are the app and the session of the original. Returns the
/// number of records.
///
/// # Panics
/// If the file cannot be written.
pub fn multiply(
    exported: &[String],
    names: (&str, &str),
    copies: Range<usize>,
    back: impl Fn(usize) -> i64,
    file: &Path,
) -> usize {
    let records = &exported[1..exported.len() - 1];
    let mut out = std::io::BufWriter::new(std::fs::File::create(file).expect("creates"));
    writeln!(out, "{}", exported[0]).expect("writes");
    let mut count = 0;
    for record in copies.flat_map(|copy| another(records, names, copy, back(copy))) {
        writeln!(out, "{record}").expect("writes");
        count += 1;
    }
    writeln!(out, "{}", json!({"type": "end", "records": count})).expect("writes");
    out.into_inner().expect("writes");
    count
}
