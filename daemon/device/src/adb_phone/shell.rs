//! Command lines for a phone's shell: quotation marks, and the exit code of a command whose output is all that returns.

/// A command line that prints its exit code after its output.
pub struct Script {
    /// The command line.
    pub text: String,
    /// Text that begins the line with the exit code.
    pub mark: String,
}

/// Returns a command line that runs a command and prints its exit code.
pub fn script(command: &str) -> Script {
    let mark = mark();
    Script { text: format!("{command}\necho {mark}$?"), mark }
}

impl Script {
    /// Returns the output of the command and its exit code; `None` if it did not end.
    pub fn result(&self, output: &str) -> (String, Option<i32>) {
        match output.rsplit_once(&self.mark) {
            Some((output, code)) => (output.to_owned(), code.trim().parse().ok()),
            None => (output.to_owned(), None),
        }
    }
}

/// Returns a word that no output contains by chance or on purpose.
pub fn mark() -> String {
    format!("afd-{}-", afd_store::new_uid())
}

/// Quotes text as one word for the phone's shell.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_follows_the_output() {
        let script = script("false");
        assert_eq!(script.result(&format!("a\nb\n{}1\n", script.mark)), ("a\nb\n".to_owned(), Some(1)));
        assert_eq!(script.result("a"), ("a".to_owned(), None));
        assert_ne!(mark(), mark());
    }
}
