//! Programs that detect things on a picture: any program that prints detections as JSON lines, and `tesseract` for texts.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use afd_proto::visual::Detection;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::config::Visual;

/// The most that a detector may print, bytes.
const MAX_OUTPUT: u64 = 16 << 20;
/// Words that tesseract is less sure of are passed over, percent.
const MIN_CONFIDENCE: f64 = 30.0;

/// Why a detector detected nothing.
#[derive(Debug, thiserror::Error)]
pub enum DetectorError {
    /// None is set.
    #[error("no detector is set")]
    None,
    /// It cannot be started.
    #[error("{program} cannot be started: {error}")]
    Missing {
        /// The program.
        program: String,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// It took too long.
    #[error("{program} took longer than {ms} ms")]
    Late {
        /// The program.
        program: String,
        /// How long it may take.
        ms: u64,
    },
    /// It failed, or said something else than detections.
    #[error("{program}: {why}")]
    Failed {
        /// The program.
        program: String,
        /// What it said.
        why: String,
    },
}

/// What the settings name, without its directory; components that it detects carry this name.
pub fn name_of(settings: &Visual) -> Option<String> {
    let detector = settings.detector.as_deref()?;
    Some(Path::new(detector).file_name().map_or_else(|| detector.to_owned(), |n| n.to_string_lossy().into_owned()))
}

/// Runs the detector of the settings on a picture.
///
/// # Errors
/// [`DetectorError`]
pub async fn run(settings: &Visual, picture: &Path) -> Result<Vec<Detection>, DetectorError> {
    let detector = settings.detector.as_deref().ok_or(DetectorError::None)?;
    if detector == "tesseract" {
        let mut command = Command::new(&settings.tesseract_path);
        // Sparse text: the words of a screen are no columns of prose.
        command.arg(picture).args(["stdout", "-l", &settings.tesseract_languages, "--psm", "11", "tsv"]);
        // The other cores have work of their own.
        command.env("OMP_THREAD_LIMIT", "1");
        let output = output(command, "tesseract", settings.detector_timeout_ms).await?;
        return tsv(&output).map_err(|why| DetectorError::Failed { program: "tesseract".to_owned(), why });
    }
    let mut command = Command::new(detector);
    command.arg(picture);
    let output = output(command, detector, settings.detector_timeout_ms).await?;
    lines(&output).map_err(|why| DetectorError::Failed { program: detector.to_owned(), why })
}

/// What a program prints, within limits of time and size; it ends with us.
async fn output(mut command: Command, program: &str, timeout_ms: u64) -> Result<String, DetectorError> {
    let program = || program.to_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| DetectorError::Missing { program: program(), error })?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let work = async {
        let (mut out, mut complaint) = (Vec::new(), Vec::new());
        let read_out = async {
            if let Some(stdout) = stdout {
                stdout.take(MAX_OUTPUT + 1).read_to_end(&mut out).await?;
            }
            std::io::Result::Ok(())
        };
        let read_err = async {
            if let Some(stderr) = stderr {
                stderr.take(64 << 10).read_to_end(&mut complaint).await?;
            }
            std::io::Result::Ok(())
        };
        let (a, b) = tokio::join!(read_out, read_err);
        a.and(b)?;
        // Too much is not read to its end, so that the program may wait for us.
        if out.len() as u64 <= MAX_OUTPUT {
            let status = child.wait().await?;
            return Ok((out, complaint, Some(status)));
        }
        Ok((out, complaint, None))
    };
    let done = tokio::time::timeout(Duration::from_millis(timeout_ms), work).await;
    let (out, complaint, status) = done
        .map_err(|_| DetectorError::Late { program: program(), ms: timeout_ms })?
        .map_err(|e: std::io::Error| DetectorError::Failed { program: program(), why: e.to_string() })?;
    let failed = |why: String| Err(DetectorError::Failed { program: program(), why });
    match status {
        None => failed(format!("it printed more than {MAX_OUTPUT} bytes")),
        Some(status) if !status.success() => {
            let said: String = String::from_utf8_lossy(&complaint).trim().chars().take(300).collect();
            failed(format!("it ended with {status}: {said}"))
        }
        Some(_) => String::from_utf8(out).or_else(|_| failed("it printed something else than UTF-8".to_owned())),
    }
}

/// Reads detections, an object on each line.
fn lines(text: &str) -> Result<Vec<Detection>, String> {
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    filled.map(|(i, line)| serde_json::from_str(line).map_err(|e| format!("line {}: {e}", i + 1))).collect()
}

/// A word as tesseract tells it.
struct Word {
    /// Block, paragraph and line.
    line: (u32, u32, u32),
    bounds: [i32; 4],
    confidence: f64,
    text: String,
}

/// Reads the table that tesseract prints: words of a line that stand close together are one text.
fn tsv(text: &str) -> Result<Vec<Detection>, String> {
    let mut rows = text.lines();
    let header = rows.next().unwrap_or_default();
    if !header.starts_with("level\tpage_num\tblock_num") {
        return Err(format!("it does not print the table that it is known for, but {:?}", header.chars().take(60).collect::<String>()));
    }
    let mut texts: Vec<Vec<Word>> = Vec::new();
    for word in rows.filter_map(word) {
        let close = |last: &Word| {
            let height = (last.bounds[3] - last.bounds[1]).max(word.bounds[3] - word.bounds[1]);
            last.line == word.line && word.bounds[0] - last.bounds[2] <= height
        };
        match texts.last_mut().filter(|words| words.last().is_some_and(close)) {
            Some(words) => words.push(word),
            None => texts.push(vec![word]),
        }
    }
    Ok(texts.into_iter().map(joined).collect())
}

fn word(row: &str) -> Option<Word> {
    let cells: Vec<&str> = row.split('\t').collect();
    let [level, _page, block, paragraph, line, _word, left, top, width, height, confidence, text] = cells.as_slice() else { return None };
    let number = |cell: &str| cell.parse::<i32>().ok();
    let text = text.trim();
    let confidence: f64 = confidence.parse().ok()?;
    if *level != "5" || confidence < MIN_CONFIDENCE || !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    let (left, top) = (number(left)?, number(top)?);
    Some(Word {
        line: (block.parse().ok()?, paragraph.parse().ok()?, line.parse().ok()?),
        bounds: [left, top, left.checked_add(number(width)?)?, top.checked_add(number(height)?)?],
        confidence,
        text: text.to_owned(),
    })
}

fn joined(words: Vec<Word>) -> Detection {
    let edge = |of: fn(&Word) -> i32, pick: fn(i32, i32) -> i32| words.iter().map(of).reduce(pick).unwrap_or_default();
    let bounds = [
        edge(|w| w.bounds[0], i32::min),
        edge(|w| w.bounds[1], i32::min),
        edge(|w| w.bounds[2], i32::max),
        edge(|w| w.bounds[3], i32::max),
    ];
    let least = words.iter().map(|w| w.confidence).fold(100.0, f64::min);
    Detection {
        kind: Some("text".to_owned()),
        bounds,
        label: Some(words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ")),
        confidence: Some((least / 100.0).clamp(0.0, 1.0)),
        ..Detection::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_stand_together_are_one_text() {
        let table = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
            1\t1\t0\t0\t0\t0\t0\t0\t1080\t2400\t-1\t\n\
            5\t1\t1\t1\t1\t1\t100\t200\t80\t40\t96.5\tNew\n\
            5\t1\t1\t1\t1\t2\t200\t198\t120\t44\t91\tgame\n\
            5\t1\t1\t1\t1\t3\t800\t200\t90\t40\t90\tHelp\n\
            5\t1\t2\t1\t1\t1\t100\t400\t90\t40\t12\tnoise\n\
            5\t1\t3\t1\t1\t1\t100\t500\t90\t40\t90\t|\n";
        let found = tsv(table).expect("reads");
        let labels: Vec<_> = found.iter().map(|d| (d.label.as_deref().unwrap_or_default(), d.bounds)).collect();
        assert_eq!(labels, [("New game", [100, 198, 320, 242]), ("Help", [800, 200, 890, 240])]);
        assert_eq!(found[0].confidence, Some(0.91));
        assert!(tsv("Usage: tesseract").is_err());
        assert!(tsv(table.lines().next().unwrap_or_default()).expect("an empty page").is_empty());
    }

    #[test]
    fn lines_of_json_are_detections() {
        let found = lines("{\"box\":[1,2,30,40],\"label\":\"Save\",\"type\":\"text\"}\n\n{\"box\":[1,2,3,4]}\n").expect("reads");
        assert_eq!((found.len(), found[0].label.as_deref(), found[1].bounds), (2, Some("Save"), [1, 2, 3, 4]));
        assert!(lines("{\"box\":[1,2,30,40]}\nnot json").expect_err("is bad").starts_with("line 2"));
        assert!(lines("{\"bbox\":[1,2,30,40]}").is_err(), "unknown members are refused");
    }
}
