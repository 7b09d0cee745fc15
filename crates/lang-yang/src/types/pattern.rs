//! Patterns: regular expressions of XML Schema (part 2, appendix F), which always match a whole value, put into words of the
//! `regex` crate. It matches in time linear in the value, whatever the pattern is.

use std::fmt::Write as _;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

use super::blocks::block;

/// Longest text of a pattern, in bytes.
pub const PATTERN_TEXT_BYTES_MAX: usize = 8 << 10;
/// Largest program that a pattern compiles to, in bytes.
/// That of object identifiers in `ietf-yang-types` has more than half of it.
pub const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Largest product of the bytes of a value and those of the program of a pattern that it must match: what a match costs.
pub const PATTERN_WORK_MAX: usize = 1 << 30;
/// Sizes of programs that are tried one after the other: which was large enough tells how large one is.
const PROGRAM_BYTES: [usize; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, PATTERN_BYTES_MAX];
/// What matching may remember, in bytes, beside the program: at least, and at most.
const MATCHER_BYTES: (usize, usize) = (64 << 10, 1 << 20);
/// Deepest nesting of groups, and of character classes that are subtracted.
const DEPTH_MAX: usize = 50;
/// Letters that may begin a name in XML, with `:` and `_` (XML 1.0, production 4).
const NAME_START: &str = r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}";
/// What a name may have beyond these (production 4a).
const NAME_MORE: &str = r"\-.0-9\x{B7}\x{300}-\x{36F}\x{203F}-\x{2040}";

/// A `pattern` statement. It is compiled when it is first used, and once.
#[derive(Debug)]
pub struct Pattern {
    text: Box<str>,
    is_inverted: bool,
    compiled: OnceLock<Option<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    regex: Regex,
    /// Of its program, at most.
    bytes: usize,
}

/// A pattern that is not of XML Schema, or too large.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("pattern \"{}\": {message}", shown(pattern))]
pub struct PatternError {
    /// As it is written.
    pub pattern: Box<str>,
    /// What is wrong, and where.
    pub message: Box<str>,
    /// Whether it is beyond a limit, and may be of XML Schema.
    pub is_too_large: bool,
}

/// The beginning of a pattern, for errors.
fn shown(pattern: &str) -> &str {
    pattern.char_indices().nth(200).and_then(|(end, _)| pattern.get(..end)).unwrap_or(pattern)
}

impl Pattern {
    /// A pattern as its statement has it; an inverted one (`modifier invert-match`) takes what it does not match. Nothing is
    /// checked; see [`Pattern::compile`].
    #[must_use]
    pub fn new(text: &str, is_inverted: bool) -> Self {
        Self { text: text.into(), is_inverted, compiled: OnceLock::new() }
    }

    /// As its statement has it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it takes what it does not match.
    #[must_use]
    pub fn is_inverted(&self) -> bool {
        self.is_inverted
    }

    /// Compiles it for all later uses. Cost: some ten microseconds, and milliseconds for long repetitions of large classes.
    ///
    /// # Errors
    ///
    /// What is not a regular expression of XML Schema, and what is beyond [`PATTERN_TEXT_BYTES_MAX`] or [`PATTERN_BYTES_MAX`].
    pub fn compile(&self) -> Result<(), PatternError> {
        if self.compiled.get().is_some_and(Option::is_some) {
            return Ok(());
        }
        let fails = |refusal: Refusal| PatternError {
            pattern: self.text.clone(),
            message: refusal.message.into(),
            is_too_large: refusal.is_too_large,
        };
        let compiled = build(&self.text).map_err(fails)?;
        // Who was faster compiled the same.
        self.compiled.set(Some(compiled)).ok();
        Ok(())
    }

    /// Whether a value is allowed by it. A pattern that cannot be compiled allows nothing, and none a value that is longer than
    /// [`Pattern::value_bytes_max`]. Cost: linear in the value and in the program, whose product is at most [`PATTERN_WORK_MAX`].
    #[must_use]
    pub fn allows(&self, value: &str) -> bool {
        self.compiled().is_some_and(|compiled| {
            value.len() <= compiled.value_bytes_max() && compiled.regex.is_match(value) != self.is_inverted
        })
    }

    /// The bytes of the longest value that it is applied to. Cost: O(1), once it is compiled.
    #[must_use]
    pub fn value_bytes_max(&self) -> usize {
        self.compiled().map_or(usize::MAX, Compiled::value_bytes_max)
    }

    /// The bytes of its programs, at most: one that reads values from the front, and one from the back. Cost: O(1), once it is compiled.
    #[must_use]
    pub fn program_bytes(&self) -> usize {
        self.compiled().map_or(0, |compiled| 2 * compiled.bytes)
    }

    /// Bytes that it takes with what one thread that matches remembers. Cost: O(1), once it is compiled.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.program_bytes() + self.compiled().map_or(0, |compiled| matcher_bytes(compiled.bytes))
    }

    fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get_or_init(|| build(&self.text).ok()).as_ref()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.is_inverted) == (&other.text, other.is_inverted)
    }
}

impl Eq for Pattern {}

impl Compiled {
    fn value_bytes_max(&self) -> usize {
        PATTERN_WORK_MAX / self.bytes
    }
}

fn matcher_bytes(program_bytes: usize) -> usize {
    let (least, most) = MATCHER_BYTES;
    (4 * program_bytes).clamp(least, most)
}

/// Why a pattern is refused.
struct Refusal {
    message: String,
    is_too_large: bool,
}

fn build(pattern: &str) -> Result<Compiled, Refusal> {
    let too_large = |message: String| Refusal { message, is_too_large: true };
    let wrong = |message: String| Refusal { message, is_too_large: false };
    if pattern.len() > PATTERN_TEXT_BYTES_MAX {
        let message = format!("its text has {} bytes, more than {PATTERN_TEXT_BYTES_MAX}", pattern.len());
        return Err(too_large(message));
    }
    let translated = translate(pattern).map_err(wrong)?;
    for bytes in PROGRAM_BYTES {
        let mut builder = RegexBuilder::new(&translated);
        match builder.size_limit(bytes).dfa_size_limit(matcher_bytes(bytes)).build() {
            Ok(regex) => return Ok(Compiled { regex, bytes }),
            Err(regex::Error::CompiledTooBig(_)) => {}
            // Its other errors draw the translated text over several lines; the last says what is wrong.
            Err(error) => {
                let error = error.to_string();
                return Err(wrong(
                    error.lines().last().unwrap_or("not a regular expression").trim().to_owned(),
                ));
            }
        }
    }
    Err(too_large(format!("it compiles to more than {PATTERN_BYTES_MAX} bytes")))
}

/// A pattern in the words of the `regex` crate, anchored at both ends.
fn translate(pattern: &str) -> Result<String, String> {
    let mut translation =
        Translation { pattern, rest: pattern.chars(), out: String::with_capacity(pattern.len() * 2 + 8) };
    translation.out.push_str(r"\A(?:");
    translation.expression()?;
    translation.out.push_str(r")\z");
    Ok(translation.out)
}

struct Translation<'a> {
    pattern: &'a str,
    rest: std::str::Chars<'a>,
    out: String,
}

impl Translation<'_> {
    fn next(&mut self) -> Option<char> {
        self.rest.next()
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.next();
        }
        is_next
    }

    fn error<T>(&self, message: &str) -> Result<T, String> {
        let consumed = self.pattern.len() - self.rest.as_str().len();
        let column = self.pattern.get(..consumed).map_or(0, |text| text.chars().count());
        Err(format!("{message} (character {column})"))
    }

    fn expression(&mut self) -> Result<(), String> {
        let mut depth = 0_usize;
        let mut may_repeat = false;
        while let Some(next) = self.next() {
            may_repeat = match next {
                '(' => {
                    depth += 1;
                    self.group(depth)?;
                    false
                }
                ')' if depth == 0 => return self.error("\")\" without \"(\""),
                ')' => {
                    depth -= 1;
                    self.out.push(')');
                    true
                }
                '|' => {
                    self.out.push('|');
                    false
                }
                '?' | '*' | '+' | '{' if !may_repeat => {
                    return self.error(&format!("nothing that \"{next}\" could repeat"));
                }
                '?' | '*' | '+' | '{' => {
                    self.quantifier(next)?;
                    false
                }
                atom => {
                    self.atom(atom)?;
                    true
                }
            };
        }
        if depth > 0 { self.error("\"(\" without \")\"") } else { Ok(()) }
    }

    fn group(&mut self, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return self.error(&format!("groups nest deeper than {DEPTH_MAX}"));
        }
        // Not in the standard, but in modules: it means what every group of it means.
        if self.take('?') && !self.take(':') {
            return self.error("\"(?\" is not of XML Schema");
        }
        self.out.push_str("(?:");
        Ok(())
    }

    fn quantifier(&mut self, first: char) -> Result<(), String> {
        self.out.push(first);
        if first == '{' {
            loop {
                match self.next() {
                    Some(next @ ('0'..='9' | ',')) => self.out.push(next),
                    Some('}') => break self.out.push('}'),
                    _ => return self.error("a quantity is {n}, {n,} or {n,m}"),
                }
            }
        }
        if self.peek() == Some('?') {
            // A lazy quantity: of a match of the whole value it changes nothing.
            self.next();
        }
        Ok(())
    }

    fn atom(&mut self, first: char) -> Result<(), String> {
        match first {
            '.' => self.out.push_str(r"[^\n\r]"),
            '[' => self.class(1)?,
            ']' => return self.error("\"]\" without \"[\""),
            '\\' => {
                let escape = self.escape()?;
                self.out.push_str(&escape.outside());
            }
            character => literal(&mut self.out, character),
        }
        Ok(())
    }

    /// A character class, after its `[`.
    fn class(&mut self, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return self.error(&format!("character classes nest deeper than {DEPTH_MAX}"));
        }
        self.out.push_str("[[");
        if self.take('^') {
            self.out.push('^');
        }
        let mut is_empty = true;
        loop {
            let Some(next) = self.next() else { return self.error("\"[\" without \"]\"") };
            match next {
                ']' if is_empty => return self.error("a character class without characters"),
                ']' => break self.out.push_str("]]"),
                '[' => return self.error("\"[\" within a character class needs a backslash"),
                '-' if self.peek() == Some('[') => {
                    if is_empty {
                        return self.error("a character class without characters");
                    }
                    self.next();
                    self.out.push_str("]--");
                    self.class(depth + 1)?;
                    if !self.take(']') {
                        return self.error("nothing may follow what is subtracted from a character class");
                    }
                    break self.out.push(']');
                }
                first => self.item(first)?,
            }
            is_empty = false;
        }
        Ok(())
    }

    /// A character, a range or an escape within a class.
    fn item(&mut self, first: char) -> Result<(), String> {
        let from = match first {
            '\\' => match self.escape()? {
                Escape::One(character) => character,
                Escape::Class(class) => {
                    self.out.push_str(&class);
                    return Ok(());
                }
            },
            character => character,
        };
        let mut ahead = self.rest.clone();
        let is_range = ahead.next() == Some('-') && !matches!(ahead.next(), None | Some(']' | '['));
        if !is_range {
            literal(&mut self.out, from);
            return Ok(());
        }
        self.next();
        let to = match self.next() {
            Some('\\') => match self.escape()? {
                Escape::One(character) => character,
                Escape::Class(class) => {
                    // A hyphen before a class is itself.
                    literal(&mut self.out, from);
                    self.out.push_str(r"\-");
                    self.out.push_str(&class);
                    return Ok(());
                }
            },
            Some(character) => character,
            None => return self.error("\"[\" without \"]\""),
        };
        if from > to {
            return self.error(&format!("the range \"{from}-{to}\" ends before it begins"));
        }
        literal(&mut self.out, from);
        self.out.push('-');
        literal(&mut self.out, to);
        Ok(())
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<Escape, String> {
        let Some(next) = self.next() else { return self.error("nothing follows the last backslash") };
        Ok(match next {
            'n' => Escape::One('\n'),
            'r' => Escape::One('\r'),
            't' => Escape::One('\t'),
            's' => Escape::Class(r"[ \t\n\r]".to_owned()),
            'S' => Escape::Class(r"[^ \t\n\r]".to_owned()),
            'd' => Escape::Class(r"\d".to_owned()),
            'D' => Escape::Class(r"\D".to_owned()),
            'w' => Escape::Class(r"[^\p{P}\p{Z}\p{C}]".to_owned()),
            'W' => Escape::Class(r"[\p{P}\p{Z}\p{C}]".to_owned()),
            'i' => Escape::Class(format!("[{NAME_START}]")),
            'I' => Escape::Class(format!("[^{NAME_START}]")),
            'c' => Escape::Class(format!("[{NAME_START}{NAME_MORE}]")),
            'C' => Escape::Class(format!("[^{NAME_START}{NAME_MORE}]")),
            'p' | 'P' => Escape::Class(self.property(next)?),
            sign if sign.is_ascii_punctuation() => Escape::One(sign),
            other => return self.error(&format!("\"\\{other}\" is not of XML Schema")),
        })
    }

    /// `\p{…}`, after the letter: a general category or a block.
    fn property(&mut self, letter: char) -> Result<String, String> {
        if !self.take('{') {
            return self.error(&format!("\"\\{letter}\" needs a category or a block in braces"));
        }
        let Some((name, after)) = self.rest.as_str().split_once('}') else {
            return self.error("\"{\" without \"}\"");
        };
        self.rest = after.chars();
        let Some(block_name) = name.strip_prefix("Is") else {
            let is_category = CATEGORIES.split(' ').any(|known| known == name);
            return if is_category {
                Ok(format!("\\{letter}{{{name}}}"))
            } else {
                self.error(&format!("no category of characters \"{name}\""))
            };
        };
        let Some(ranges) = block(block_name) else {
            return self.error(&format!("no block of characters \"{block_name}\""));
        };
        let mut class = if letter == 'P' { "[^" } else { "[" }.to_owned();
        for (from, to) in ranges {
            write!(class, r"\x{{{from:X}}}-\x{{{to:X}}}").expect("writing to a string does not fail");
        }
        class.push(']');
        Ok(class)
    }
}

/// The general categories of Unicode.
const CATEGORIES: &str =
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po Z Zs Zl Zp S Sm Sc Sk So C Cc Cf Co Cn";

/// What a backslash makes of what follows it.
enum Escape {
    /// This character.
    One(char),
    /// One of these, as a class that may stand alone or in brackets.
    Class(String),
}

impl Escape {
    fn outside(self) -> String {
        match self {
            Self::Class(class) => class,
            Self::One(character) => {
                let mut out = String::new();
                literal(&mut out, character);
                out
            }
        }
    }
}

/// A character that stands for itself, in and outside of brackets.
fn literal(out: &mut String, character: char) {
    if character.is_ascii_punctuation() || character.is_ascii_control() {
        write!(out, r"\x{{{:X}}}", u32::from(character)).expect("writing to a string does not fail");
    } else {
        out.push(character);
    }
}

#[cfg(test)]
mod tests;
