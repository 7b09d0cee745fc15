//! The statements of YANG texts (RFC 7950, section 6), one after the other as they stand: what they mean is said elsewhere.
//! Nothing is built of them, so that a text of any size costs no memory.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

/// Deepest nesting of statements.
pub const DEPTH_MAX: usize = 100;

/// One statement, before what it holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Statement<'a> {
    /// With its prefix, if it is of an extension.
    pub keyword: &'a str,
    /// Without quotes, escapes resolved, parts joined; lines of a long one are not trimmed.
    pub argument: Option<Cow<'a, str>>,
    /// Where, in bytes, its argument is, with quotes; empty if it has none.
    pub argument_at: Range<usize>,
    /// Of its keyword, from 1 on.
    pub line: u32,
    /// How many statements are around it.
    pub depth: usize,
    /// Where, in bytes, what it holds begins: after its `{`. `None`: it ends with `;`.
    pub body: Option<usize>,
}

impl Statement<'_> {
    /// Its argument; nothing if it has none.
    #[must_use]
    pub fn text(&self) -> &str {
        self.argument.as_deref().unwrap_or("")
    }
}

/// Whether statements of this keyword make nodes of a schema (RFC 7950, section 3, "schema node").
pub(crate) fn is_schema_node(keyword: &str) -> bool {
    matches!(
        keyword,
        "container"
            | "list"
            | "leaf"
            | "leaf-list"
            | "choice"
            | "case"
            | "anydata"
            | "anyxml"
            | "rpc"
            | "action"
            | "notification"
    )
}

/// A text that is not of statements.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SyntaxError {
    /// From 1 on.
    pub line: u32,
    /// What is wrong, and what would be right.
    pub message: Box<str>,
}

/// Reads the statements of a text in their order; after an error there are none. Cost: linear in the text; only arguments
/// with escapes or several parts are copied.
#[derive(Clone, Debug)]
pub struct Statements<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// Lines of the statements that are open.
    open: Vec<u32>,
    has_ended: bool,
}

impl<'a> Statements<'a> {
    /// Those of this text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, at: byte_order_mark(text), line: 1, open: Vec::new(), has_ended: false }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn error<T>(&self, message: impl Into<Box<str>>) -> Result<T, SyntaxError> {
        Err(SyntaxError { line: self.line, message: message.into() })
    }

    /// Goes on by so many bytes, counting lines.
    fn pass(&mut self, length: usize) -> &'a str {
        let passed = self.rest().get(..length).unwrap_or("");
        let breaks = passed.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
        self.at += passed.len();
        passed
    }

    /// White space and comments.
    fn separators(&mut self) -> Result<(), SyntaxError> {
        loop {
            let rest = self.rest();
            let spaces = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            self.pass(spaces);
            let rest = self.rest();
            if rest.starts_with("//") {
                self.pass(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(length) = comment.find("*/") else { return self.error("\"/*\" without \"*/\"") };
                self.pass(length + 4);
            } else {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Result<Option<Statement<'a>>, SyntaxError> {
        loop {
            self.separators()?;
            match self.peek() {
                Some(b'}') => {
                    if self.open.pop().is_none() {
                        return self.error("\"}\" without \"{\"");
                    }
                    self.pass(1);
                }
                None => {
                    return match self.open.last() {
                        Some(line) => self.error(format!("the statement of line {line} has no \"}}\"")),
                        None => Ok(None),
                    };
                }
                Some(_) => return self.statement().map(Some),
            }
        }
    }

    fn statement(&mut self) -> Result<Statement<'a>, SyntaxError> {
        let line = self.line;
        let keyword = self.unquoted()?;
        if !is_keyword(keyword) {
            return self.error(format!("a keyword is expected, got \"{}\"", shown(keyword)));
        }
        self.separators()?;
        let begin = self.at;
        let (argument, end) = match self.peek() {
            Some(b'{' | b';') => (None, begin),
            _ => self.argument(keyword).map(|(argument, end)| (Some(argument), end))?,
        };
        self.separators()?;
        let depth = self.open.len();
        let body = match self.peek() {
            Some(b';') => {
                self.pass(1);
                None
            }
            Some(b'{') if depth >= DEPTH_MAX => {
                return self.error(format!("statements nest deeper than {DEPTH_MAX}"));
            }
            Some(b'{') => {
                self.pass(1);
                self.open.push(line);
                Some(self.at)
            }
            _ => return self.error(format!("\";\" or \"{{\" is expected after \"{keyword}\"")),
        };
        Ok(Statement { keyword, argument, argument_at: begin..end, line, depth, body })
    }

    /// An argument, and where it ends.
    fn argument(&mut self, keyword: &str) -> Result<(Cow<'a, str>, usize), SyntaxError> {
        let mut whole = match self.peek() {
            Some(b'"' | b'\'') => self.quoted()?,
            Some(b'}') | None => {
                return self.error(format!("\";\" or \"{{\" is expected after \"{keyword}\""));
            }
            Some(_) => {
                let word = self.unquoted()?;
                return Ok((Cow::Borrowed(word), self.at));
            }
        };
        loop {
            let end = self.at;
            self.separators()?;
            if self.peek() != Some(b'+') {
                return Ok((whole, end));
            }
            self.pass(1);
            self.separators()?;
            match self.peek() {
                Some(b'"' | b'\'') => whole.to_mut().push_str(&self.quoted()?),
                _ => return self.error("a string in quotes is expected after \"+\""),
            }
        }
    }

    /// Letters up to white space, a quote, `;`, a brace or a comment.
    fn unquoted(&mut self) -> Result<&'a str, SyntaxError> {
        let rest = self.rest();
        let is_end = |sign: char| matches!(sign, ' ' | '\t' | '\n' | '\r' | '"' | '\'' | ';' | '{' | '}');
        let mut end = rest.find(is_end).unwrap_or(rest.len());
        for comment in ["//", "/*"] {
            end = rest.get(..end).and_then(|word| word.find(comment)).unwrap_or(end);
        }
        if end == 0 {
            let sign = rest.chars().next().map_or_else(String::new, |sign| format!(", got \"{sign}\""));
            return self.error(format!("a keyword or an argument is expected{sign}"));
        }
        Ok(self.pass(end))
    }

    fn quoted(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        let quote = self.pass(1);
        let rest = self.rest();
        if quote == "'" {
            let Some(end) = rest.find('\'') else { return self.error("\"'\" that is not closed") };
            let inside = self.pass(end);
            self.pass(1);
            return Ok(Cow::Borrowed(inside));
        }
        let Some(end) = closing_quote(rest) else { return self.error("a double quote that is not closed") };
        let inside = self.pass(end);
        self.pass(1);
        Ok(unescape(inside))
    }
}

impl<'a> Iterator for Statements<'a> {
    type Item = Result<Statement<'a>, SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let step = self.step();
        self.has_ended = !matches!(step, Ok(Some(_)));
        step.transpose()
    }
}

/// Where the double quote is that closes a text; what follows a backslash closes nothing.
fn closing_quote(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.as_bytes().get(at..)?;
        at += memchr2(b'"', b'\\', rest)?;
        if text.as_bytes().get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// `\n`, `\t`, `\"` and `\\`; version 1 of YANG lets other signs follow a backslash, which stays then.
fn unescape(inside: &str) -> Cow<'_, str> {
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    let mut out = String::with_capacity(inside.len());
    let mut signs = inside.chars();
    while let Some(sign) = signs.next() {
        let escaped = if sign == '\\' { signs.next() } else { None };
        match (sign, escaped) {
            (_, Some('n')) => out.push('\n'),
            (_, Some('t')) => out.push('\t'),
            (_, Some(sign @ ('"' | '\\'))) => out.push(sign),
            (_, Some(sign)) => out.extend(['\\', sign]),
            (sign, None) => out.push(sign),
        }
    }
    Cow::Owned(out)
}

fn is_keyword(word: &str) -> bool {
    match word.split_once(':') {
        Some((prefix, name)) => is_identifier(prefix) && is_identifier(name),
        None => is_identifier(word),
    }
}

/// Bytes of the byte order mark that a text begins with, and that is no part of it.
pub(crate) fn byte_order_mark(text: &str) -> usize {
    if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 }
}

/// Whether a text is an identifier (RFC 7950, 6.2).
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let mut letters = text.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-' | b'.'))
}

/// The beginning of a word, for errors.
fn shown(word: &str) -> &str {
    word.char_indices().nth(40).and_then(|(end, _)| word.get(..end)).unwrap_or(word)
}

#[cfg(test)]
mod tests;
