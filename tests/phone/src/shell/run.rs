//! Runs command lines: lists, pipes, redirections, variables, and commands whose output becomes words.

use std::collections::HashMap;
use std::time::Duration;

use super::words::{Piece, Token, tokens};
use super::{Call, Output, command};
use crate::server::{Shared, lock};

/// Maximum depth of command lines within command lines.
const MAX_DEPTH: usize = 20;
/// Name under which programs reach the terminal, past all redirections.
const TERMINAL: &str = "/dev/tty";

/// Runs a command line. Blocks for as long as the commands take.
pub(crate) fn run(phone: &Shared, line: &str, input: &[u8]) -> Output {
    Shell { phone, variables: HashMap::new(), code: 0, depth: 0, limit: None, ended: false }.line(line, input)
}

struct Shell<'a> {
    phone: &'a Shared,
    variables: HashMap<String, String>,
    /// Exit code of the last command.
    code: u8,
    depth: usize,
    limit: Option<Duration>,
    /// Whether `exit` or `exec` ended the shell.
    ended: bool,
}

impl Shell<'_> {
    fn line(&mut self, line: &str, input: &[u8]) -> Output {
        if self.depth == MAX_DEPTH {
            return Output::failed("/system/bin/sh: too many levels\n", 2);
        }
        match tokens(line) {
            Ok(tokens) => self.list(&tokens, input),
            Err(message) => Output::failed(message, 1),
        }
    }

    /// Runs commands that are separated by `;`, `&&`, `||` and `&`.
    fn list(&mut self, tokens: &[Token], input: &[u8]) -> Output {
        let mut all = Output::default();
        let mut rest = tokens;
        let mut joined = ";";
        while !rest.is_empty() && !self.ended {
            let end = end_of(rest, &[";", "&&", "||", "&"]);
            let runs = match joined {
                "&&" => self.code == 0,
                "||" => self.code != 0,
                _ => true,
            };
            if runs && end > 0 && matches!(rest.get(end), Some(Token::Op("&"))) {
                self.in_background(&rest[..end]);
            } else if runs && end > 0 {
                let done = self.pipe(&rest[..end], input);
                self.code = done.code;
                all.out.extend(done.out);
                all.err.extend(done.err);
                all.tty.extend(done.tty);
            }
            joined = match rest.get(end) {
                Some(Token::Op(op)) => op,
                _ => ";",
            };
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        all.code = self.code;
        all
    }

    /// Runs commands on a thread of their own. What they print is lost.
    fn in_background(&mut self, tokens: &[Token]) {
        let (phone, variables, tokens) = (self.phone.clone(), self.variables.clone(), tokens.to_vec());
        let depth = self.depth + 1;
        std::thread::spawn(move || {
            Shell { phone: &phone, variables, code: 0, depth, limit: None, ended: false }.list(&tokens, &[]);
        });
        self.variables.insert("!".to_owned(), super::video::PID.to_string());
        self.code = 0;
    }

    fn pipe(&mut self, tokens: &[Token], input: &[u8]) -> Output {
        let mut all = Output::default();
        let (mut rest, mut input) = (tokens, input.to_vec());
        loop {
            let end = end_of(rest, &["|"]);
            let done = self.simple(&rest[..end], &input);
            all.err.extend(done.err);
            all.tty.extend(done.tty);
            all.code = done.code;
            if end == rest.len() {
                all.out = done.out;
                return all;
            }
            input = done.out;
            rest = &rest[end + 1..];
        }
    }

    /// Runs one command with its redirections.
    fn simple(&mut self, tokens: &[Token], input: &[u8]) -> Output {
        let (mut words, mut redirections) = (Vec::new(), Vec::new());
        let mut input = input.to_vec();
        let mut rest = tokens.iter();
        let mut group = None;
        let mut noise = Output::default();
        while let Some(token) = rest.next() {
            match token {
                Token::Word(pieces) => words.extend(self.expand(pieces, &mut noise)),
                Token::Op("(") => {
                    let inner: Vec<Token> = rest.clone().take(closing(rest.as_slice())).cloned().collect();
                    rest.by_ref().take(inner.len() + 1).for_each(drop);
                    group = Some(inner);
                }
                Token::Op(op @ ("2>&1" | "1>&2" | ">&2")) => redirections.push((*op, String::new())),
                Token::Op(op) => {
                    let Some(Token::Word(target)) = rest.next() else {
                        return Output::failed(format!("/system/bin/sh: syntax error: unexpected '{op}'\n"), 1);
                    };
                    let target = self.expand(target, &mut noise).join(" ");
                    if *op == "<" {
                        input = lock(self.phone).files.get(&target).cloned().unwrap_or_default();
                    } else {
                        redirections.push((*op, target));
                    }
                }
            }
        }
        let mut done = match group {
            Some(inner) => {
                let mut inside =
                    Shell { variables: self.variables.clone(), depth: self.depth + 1, ended: false, ..*self };
                inside.list(&inner, &input)
            }
            None => self.words(&words, &input),
        };
        done.err.splice(0..0, noise.err);
        self.redirect(done, &redirections)
    }

    fn redirect(&self, mut done: Output, redirections: &[(&str, String)]) -> Output {
        // The outputs go where they point when a redirection is read, from left to right.
        let (mut out_to, mut err_to) = (Target::Out, Target::Err);
        for (op, target) in redirections {
            let file =
                || if target == TERMINAL { Target::Tty } else { Target::File(target.clone(), op.ends_with(">>")) };
            match *op {
                "2>&1" => err_to = out_to.clone(),
                "1>&2" | ">&2" => out_to = err_to.clone(),
                "2>" | "2>>" => err_to = file(),
                _ => out_to = file(),
            }
        }
        let (out, err) = (std::mem::take(&mut done.out), std::mem::take(&mut done.err));
        for (bytes, to) in [(err, err_to), (out, out_to)] {
            match to {
                Target::Out => done.out.extend(bytes),
                Target::Err => done.err.extend(bytes),
                Target::Tty => done.tty.extend(bytes),
                Target::File(name, _) if name == "/dev/null" => {}
                Target::File(name, append) => {
                    let mut phone = lock(self.phone);
                    let file = phone.files.entry(name).or_default();
                    if !append {
                        file.clear();
                    }
                    file.extend(bytes);
                }
            }
        }
        done
    }

    /// Runs a command that has been split into words.
    fn words(&mut self, words: &[String], input: &[u8]) -> Output {
        let is_setting = |word: &String| {
            let name = word.split('=').next().unwrap_or_default();
            word.contains('=') && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let settings = words.iter().take_while(|word| is_setting(word)).count();
        words[..settings].iter().for_each(|setting| self.set(setting));
        let args = &words[settings..];
        match args.first().map(String::as_str) {
            None => Output::default(),
            Some("export") => {
                args[1..].iter().filter(|word| is_setting(word)).for_each(|setting| self.set(setting));
                Output::default()
            }
            Some("exit") => {
                self.ended = true;
                let code = args.get(1).and_then(|code| code.parse().ok()).unwrap_or(self.code);
                Output { code, ..Output::default() }
            }
            Some("exec") => {
                let done = self.words(&args[1..], input);
                self.ended = args.len() > 1;
                done
            }
            Some("sh" | "/system/bin/sh") if args.get(1).map(String::as_str) == Some("-c") => {
                let mut inside =
                    Shell { variables: self.variables.clone(), depth: self.depth + 1, ended: false, ..*self };
                inside.line(args.get(2).map_or("", String::as_str), input)
            }
            Some("timeout") => self.timeout(&args[1..], input),
            Some(_) => command(&Call { phone: self.phone, args, input, limit: self.limit }),
        }
    }

    /// Runs a command with a time after which it is killed.
    fn timeout(&mut self, args: &[String], input: &[u8]) -> Output {
        let mut rest = args;
        while rest.first().is_some_and(|arg| arg.starts_with('-')) {
            rest = rest.get(2..).unwrap_or_default();
        }
        let Some((seconds, words)) = rest.split_first() else {
            return Output::failed("timeout: Needs 2 arguments\n", 125);
        };
        let Ok(seconds) = seconds.trim_end_matches('s').parse::<f32>() else {
            return Output::failed(format!("timeout: bad number '{seconds}'\n"), 125);
        };
        let before = self.limit.replace(Duration::from_secs_f32(seconds.clamp(0.0, 3_600.0)));
        let done = self.words(words, input);
        self.limit = before;
        done
    }

    fn set(&mut self, setting: &str) {
        if let Some((name, value)) = setting.split_once('=') {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Returns the words that a word becomes: what is not quoted is split at blanks.
    fn expand(&mut self, pieces: &[Piece], noise: &mut Output) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_word = false;
        for piece in pieces {
            let (text, quoted) = match piece {
                Piece::Text(text) => (text.clone(), true),
                Piece::Variable(name, quoted) => (self.value(name, noise), *quoted),
                Piece::Command(line, quoted) => (self.output_of(line, noise), *quoted),
            };
            is_word |= quoted;
            if quoted {
                words.iter_mut().last().into_iter().for_each(|word| word.push_str(&text));
                continue;
            }
            for (index, part) in text.split_whitespace().enumerate() {
                is_word = true;
                if index > 0 {
                    words.push(String::new());
                }
                words.iter_mut().last().into_iter().for_each(|word| word.push_str(part));
            }
        }
        if is_word { words } else { Vec::new() }
    }

    /// Returns the value of `NAME`, or of `NAME:-DEFAULT`.
    fn value(&mut self, name: &str, noise: &mut Output) -> String {
        let Some((name, default)) = name.split_once(":-") else { return self.variable(name) };
        let value = self.variable(name);
        if !value.is_empty() {
            return value;
        }
        let words = tokens(default).unwrap_or_default().into_iter();
        let words = words.filter_map(|token| match token {
            Token::Word(pieces) => Some(self.expand(&pieces, noise).join(" ")),
            Token::Op(_) => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn variable(&self, name: &str) -> String {
        match name {
            "?" => self.code.to_string(),
            "EPOCHREALTIME" => {
                let now = lock(self.phone).clock.now_ms();
                format!("{}.{:03}000", now / 1_000, now % 1_000)
            }
            name => self.variables.get(name).cloned().unwrap_or_default(),
        }
    }

    fn output_of(&mut self, line: &str, noise: &mut Output) -> String {
        let mut inside = Shell { variables: self.variables.clone(), depth: self.depth + 1, ended: false, ..*self };
        let done = inside.line(line, &[]);
        self.code = done.code;
        noise.err.extend(done.err);
        String::from_utf8_lossy(&done.out).trim_end_matches('\n').to_owned()
    }
}

#[derive(Clone)]
enum Target {
    Out,
    Err,
    Tty,
    /// A file, and whether to write after its end.
    File(String, bool),
}

/// Returns the position of the first of some operators outside of parentheses, else the length.
fn end_of(tokens: &[Token], ends: &[&str]) -> usize {
    let mut depth = 0;
    let is_end = |token: &Token| match token {
        Token::Op("(") => {
            depth += 1;
            false
        }
        Token::Op(")") => {
            depth -= 1;
            false
        }
        Token::Op(op) => depth == 0 && ends.contains(op),
        Token::Word(_) => false,
    };
    tokens.iter().position(is_end).unwrap_or(tokens.len())
}

/// Returns the number of tokens before the parenthesis that closes a group.
fn closing(tokens: &[Token]) -> usize {
    let mut depth = 1;
    let is_end = |token: &Token| {
        match token {
            Token::Op("(") => depth += 1,
            Token::Op(")") => depth -= 1,
            _ => {}
        }
        depth == 0
    };
    tokens.iter().position(is_end).unwrap_or(tokens.len())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::{Phone, Setup};

    fn sh(line: &str) -> (String, String, u8) {
        let phone: Shared = Arc::new(Mutex::new(Phone::new(Setup::new("token"))));
        let done = run(&phone, line, &[]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&done.out), text(&done.err), done.code)
    }

    fn out(line: &str) -> String {
        sh(line).0
    }

    #[test]
    fn lists_pipes_and_quotes_are_those_of_sh() {
        for (line, expected) in [
            ("echo a  b", "a b\n"),
            ("echo 'a  b' \"c  d\"", "a  b c  d\n"),
            ("echo a; echo b\necho c", "a\nb\nc\n"),
            ("false && echo no || echo yes", "yes\n"),
            ("true && echo yes || echo no", "yes\n"),
            ("echo one two | cat", "one two\n"),
            ("false; echo X4EXIT:$?", "X4EXIT:1\n"),
            ("A='x  y'; echo $A \"$A\" '$A' \\$A ${A}", "x y x  y $A $A x y\n"),
            ("echo $(echo in $(echo side)) `echo back`", "in side back\n"),
            ("export B=\"''\"; exec echo $B", "''\n"),
            ("(echo a; echo b) | cat; echo c", "a\nb\nc\n"),
            ("echo '' x", " x\n"),
            ("echo %s \"\\$(id)\" 'it'\\''s' # comment", "%s $(id) it's\n"),
            ("sh -c 'echo inner; exit 3'; echo $?", "inner\n3\n"),
            ("echo to > /data/f; cat /data/f; cat < /data/f", "to\nto\n"),
            ("echo err >&2 | cat; nothere 2>&1 | cat", "/system/bin/sh: nothere: inaccessible or not found\n"),
            ("echo a >/dev/null 2>&1", ""),
            ("echo a 2>/dev/null", "a\n"),
            ("B=x; echo ${A:-$(echo d)} ${B:-y} ${C:-}", "d x\n"),
        ] {
            assert_eq!(out(line), expected, "{line}");
        }
        assert_eq!(sh("nothere").2, 127);
        assert_eq!(sh("echo 'open").2, 1);
    }

    #[test]
    fn real_shell_prints_the_same() {
        let lines = [
            "echo a  b 'c  d' \"e  f\"",
            "false || echo x; true && echo y",
            "A='1  2'; echo $A \"$A\"",
            "echo $(echo a; echo b) z",
            "(echo p; echo q) | cat",
            "echo a\\ b\\'c",
            "echo '$HOME' \\$HOME \"\\$HOME\"",
            "false; echo $?",
            "echo -n x; echo y",
        ];
        for line in lines {
            let real = std::process::Command::new("sh").args(["-c", line]).output().expect("sh runs");
            assert_eq!(out(line), String::from_utf8_lossy(&real.stdout), "{line}");
        }
    }
}
