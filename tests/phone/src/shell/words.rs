//! Splits command lines into words and operators.

/// A part of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, as pieces that are expanded later.
    Word(Vec<Piece>),
    /// An operator, such as `&&` or `>`.
    Op(&'static str),
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that stays as it is.
    Text(String),
    /// A variable, such as `?` or `PATH`; and whether it is quoted, so that it stays one word.
    Variable(String, bool),
    /// A command line whose output is inserted; and whether it is quoted.
    Command(String, bool),
}

/// Operators, longest first.
const OPERATORS: [&str; 16] =
    ["2>&1", "1>&2", ">&2", "2>>", "2>", "&&", "||", ">>", "1>", ">", "<", "|", ";", "(", ")", "&"];

/// Splits a command line.
///
/// # Errors
/// The message of the shell if a quotation mark or a parenthesis is not closed.
pub(super) fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let chars: Vec<char> = line.chars().collect();
    let mut scan = Scan { chars: &chars, at: 0 };
    let mut tokens = Vec::new();
    while let Some(c) = scan.peek() {
        if c == '\n' {
            tokens.push(Token::Op(";"));
            scan.at += 1;
        } else if c.is_whitespace() {
            scan.at += 1;
        } else if c == '#' {
            while scan.peek().is_some_and(|c| c != '\n') {
                scan.at += 1;
            }
        } else if let Some(op) = scan.operator() {
            tokens.push(Token::Op(op));
        } else {
            tokens.push(Token::Word(scan.word()?));
        }
    }
    Ok(tokens)
}

struct Scan<'a> {
    chars: &'a [char],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, c)| self.chars.get(self.at + index) == Some(&c))
    }

    fn operator(&mut self) -> Option<&'static str> {
        let op = OPERATORS.into_iter().find(|op| self.starts_with(op))?;
        self.at += op.len();
        Some(op)
    }

    fn word(&mut self) -> Result<Vec<Piece>, String> {
        let mut pieces = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                c if c.is_whitespace() || ";&|<>()".contains(c) => break,
                '\'' => {
                    self.at += 1;
                    push(&mut pieces, &self.until('\'')?);
                }
                '"' => {
                    self.at += 1;
                    self.quoted(&mut pieces)?;
                }
                '\\' => {
                    self.at += 1;
                    push(&mut pieces, &self.next().filter(|c| *c != '\n').map(String::from).unwrap_or_default());
                }
                '$' | '`' => self.expansion(&mut pieces, false)?,
                c => {
                    push(&mut pieces, &c.to_string());
                    self.at += 1;
                }
            }
        }
        Ok(pieces)
    }

    fn until(&mut self, end: char) -> Result<String, String> {
        let start = self.at;
        while let Some(c) = self.next() {
            if c == end {
                return Ok(self.chars[start..self.at - 1].iter().collect());
            }
        }
        Err("/system/bin/sh: syntax error: no closing quote\n".to_owned())
    }

    fn quoted(&mut self, pieces: &mut Vec<Piece>) -> Result<(), String> {
        push(pieces, "");
        loop {
            match self.peek() {
                None => return Err("/system/bin/sh: syntax error: no closing quote\n".to_owned()),
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') => {
                    self.at += 1;
                    let next = self.next().unwrap_or('\\');
                    let kept = if "$`\"\\".contains(next) { String::new() } else { "\\".to_owned() };
                    push(pieces, &(kept + &next.to_string()));
                }
                Some('$' | '`') => self.expansion(pieces, true)?,
                Some(c) => {
                    push(pieces, &c.to_string());
                    self.at += 1;
                }
            }
        }
    }

    /// Reads what begins with a dollar sign or a backquote.
    fn expansion(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> Result<(), String> {
        if self.next() == Some('`') {
            let command = self.until('`')?;
            pieces.push(Piece::Command(command, quoted));
            return Ok(());
        }
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let start = self.at;
                let mut depth = 1;
                while depth > 0 {
                    match self.next() {
                        Some('(') => depth += 1,
                        Some(')') => depth -= 1,
                        Some('\'') => drop(self.until('\'')?),
                        Some(_) => {}
                        None => return Err("/system/bin/sh: syntax error: unexpected EOF\n".to_owned()),
                    }
                }
                pieces.push(Piece::Command(self.chars[start..self.at - 1].iter().collect(), quoted));
            }
            Some('{') => {
                self.at += 1;
                pieces.push(Piece::Variable(self.until('}')?, quoted));
            }
            Some(c @ ('?' | '!')) => {
                self.at += 1;
                pieces.push(Piece::Variable(c.to_string(), quoted));
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                pieces.push(Piece::Variable(self.chars[start..self.at].iter().collect(), quoted));
            }
            _ => push(pieces, "$"),
        }
        Ok(())
    }
}

fn push(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}
