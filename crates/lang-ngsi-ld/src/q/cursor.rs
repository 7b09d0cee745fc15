//! A place in the text of a parameter that is a small language.

use crate::error::Error;

/// Signs that end a name in every one of these languages.
const SIGNS: &[char] = &['=', '!', '<', '>', '~', ';', '|', '(', ')', '[', ']', '{', '}', ',', '"'];

/// A place in a text.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    parameter: &'static str,
    text: &'a str,
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    /// The start of the text of `parameter`.
    pub fn new(parameter: &'static str, text: &'a str) -> Self {
        Self { parameter, text, rest: text.trim() }
    }

    /// What is left, without blanks in front.
    pub fn rest(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    /// Whether nothing is left.
    pub fn is_done(&mut self) -> bool {
        self.rest().is_empty()
    }

    /// The next character, which stays.
    pub fn peek(&mut self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes a sign, if it is next.
    pub fn eat(&mut self, sign: char) -> bool {
        let rest = self.rest();
        rest.strip_prefix(sign).map(|rest| self.rest = rest).is_some()
    }

    /// Takes a text, if it is next.
    pub fn eat_text(&mut self, text: &str) -> bool {
        let rest = self.rest();
        rest.strip_prefix(text).map(|rest| self.rest = rest).is_some()
    }

    /// Takes so many bytes.
    pub fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Takes everything up to the next blank or sign of the languages; perhaps nothing.
    pub fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|next: char| next.is_whitespace() || SIGNS.contains(&next)).unwrap_or(rest.len());
        self.take(end)
    }

    /// Something else was expected here.
    pub fn expected(&mut self, what: &str) -> Error {
        let at = self.text.len() - self.rest().len().min(self.text.len());
        match self.peek() {
            Some(found) => self.wrong(&format!("expected {what} at byte {at}, found {found:?}")),
            None => self.wrong(&format!("expected {what}, found the end")),
        }
    }

    /// The text means nothing.
    pub fn wrong(&self, message: &str) -> Error {
        Error::invalid(format!("{}: {message}", self.parameter))
    }
}
