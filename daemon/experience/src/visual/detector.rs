//! Detector programs: any program that prints the detections in a picture as JSON lines, and `tesseract`, which
//! recognises text.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use afd_proto::visual::Detection;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use afd_base::config::Visual;

/// Maximum size of a detector's output, in bytes.
const MAX_OUTPUT: u64 = 16 << 20;
/// Minimum confidence of a word from tesseract, in percent.
const MIN_CONFIDENCE: f64 = 30.0;

/// An error from a detector.
#[derive(Debug, thiserror::Error)]
pub enum DetectorError {
    /// No detector is configured.
    #[error("no detector is configured")]
    None,
    /// The program cannot be started.
    #[error("cannot start {program}: {error}")]
    Missing {
        /// The program that cannot be started.
        program: String,
        /// The I/O error that prevented the start.
        #[source]
        error: std::io::Error,
    },
    /// The program did not finish in time.
    #[error("{program} timed out after {ms} ms")]
    TimedOut {
        /// The program that did not finish.
        program: String,
        /// Timeout that the program exceeded, in milliseconds.
        ms: u64,
    },
    /// The program failed, or its output is malformed.
    #[error("{program}: {why}")]
    Failed {
        /// The program that failed.
        program: String,
        /// Message that describes the failure.
        why: String,
    },
}

/// Returns the file name of the configured detector, which is stored as the source of its components.
pub fn name_of(settings: &Visual) -> Option<String> {
    let detector = settings.detector.as_deref()?;
    Some(Path::new(detector).file_name().map_or_else(|| detector.to_owned(), |n| n.to_string_lossy().into_owned()))
}

/// Runs the configured detector on a picture.
pub async fn run(settings: &Visual, picture: &Path) -> Result<Vec<Detection>, DetectorError> {
    let detector = settings.detector.as_deref().ok_or(DetectorError::None)?;
    if detector == "tesseract" {
        let mut command = Command::new(&settings.tesseract_path);
        // Page segmentation mode 11 is for sparse text: the words on a screen are not arranged in columns.
        command.arg(picture).args(["stdout", "-l", &settings.tesseract_languages, "--psm", "11", "tsv"]);
        // Leaves the other cores free for other work.
        command.env("OMP_THREAD_LIMIT", "1");
        let output = output(command, "tesseract", settings.detector_timeout_ms).await?;
        return tsv(&output).map_err(|why| DetectorError::Failed { program: "tesseract".to_owned(), why });
    }
    let mut command = Command::new(detector);
    command.arg(picture);
    let output = output(command, detector, settings.detector_timeout_ms).await?;
    lines(&output).map_err(|why| DetectorError::Failed { program: detector.to_owned(), why })
}

/// Runs a program with a limited running time and output size, and returns its standard output. The program is killed
/// if the call is cancelled.
async fn output(mut command: Command, program: &str, timeout_ms: u64) -> Result<String, DetectorError> {
    let program = || program.to_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| DetectorError::Missing { program: program(), error })?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let work = async {
        let (mut out, mut error_output) = (Vec::new(), Vec::new());
        let read_out = async {
            if let Some(stdout) = stdout {
                stdout.take(MAX_OUTPUT + 1).read_to_end(&mut out).await?;
            }
            std::io::Result::Ok(())
        };
        let read_err = async {
            if let Some(stderr) = stderr {
                stderr.take(64 << 10).read_to_end(&mut error_output).await?;
            }
            std::io::Result::Ok(())
        };
        let (a, b) = tokio::join!(read_out, read_err);
        a.and(b)?;
        // Excess output is not read, so the program may block while writing it. In this case, the daemon does not wait
        // for the program to end.
        if out.len() as u64 <= MAX_OUTPUT {
            let status = child.wait().await?;
            return Ok((out, error_output, Some(status)));
        }
        Ok((out, error_output, None))
    };
    let done = tokio::time::timeout(Duration::from_millis(timeout_ms), work).await;
    let (out, error_output, status) = done
        .map_err(|_| DetectorError::TimedOut { program: program(), ms: timeout_ms })?
        .map_err(|e: std::io::Error| DetectorError::Failed { program: program(), why: e.to_string() })?;
    let failed = |why: String| Err(DetectorError::Failed { program: program(), why });
    match status {
        None => failed(format!("output exceeds {MAX_OUTPUT} bytes")),
        Some(status) if !status.success() => {
            let message: String = String::from_utf8_lossy(&error_output).trim().chars().take(300).collect();
            failed(format!("failed with {status}: {message}"))
        }
        Some(_) => String::from_utf8(out).or_else(|_| failed("output is not valid UTF-8".to_owned())),
    }
}

/// Parses detections, one JSON object per line.
pub fn lines(text: &str) -> Result<Vec<Detection>, String> {
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    filled.map(|(i, line)| serde_json::from_str(line).map_err(|e| format!("line {}: {e}", i + 1))).collect()
}

/// A word in tesseract's output.
struct Word {
    /// Numbers of the word's block, paragraph and line.
    line: (u32, u32, u32),
    bounds: [i32; 4],
    confidence: f64,
    text: String,
}

/// Parses the table that tesseract prints. Words on a line that are close together form one detection.
pub fn tsv(text: &str) -> Result<Vec<Detection>, String> {
    let mut rows = text.lines();
    let header = rows.next().unwrap_or_default();
    if !header.starts_with("level\tpage_num\tblock_num") {
        return Err(format!(
            "expected a TSV table with a header, got {:?}",
            header.chars().take(60).collect::<String>()
        ));
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
    let [level, _page, block, paragraph, line, _word, left, top, width, height, confidence, text] = cells.as_slice()
    else {
        return None;
    };
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
    fn adjacent_words_form_one_text() {
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
    fn json_lines_are_parsed() {
        let found = lines("{\"box\":[1,2,30,40],\"label\":\"Save\",\"type\":\"text\"}\n\n{\"box\":[1,2,3,4]}\n")
            .expect("reads");
        assert_eq!((found.len(), found[0].label.as_deref(), found[1].bounds), (2, Some("Save"), [1, 2, 3, 4]));
        assert!(lines("{\"box\":[1,2,30,40]}\nnot json").expect_err("is bad").starts_with("line 2"));
        assert!(lines("{\"bbox\":[1,2,30,40]}").is_err(), "unknown fields are rejected");
    }
}
