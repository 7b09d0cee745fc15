//! Characters to tokens.

/// A piece of a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Token<'a> {
    Slash,
    At,
    Open,
    Close,
    OpenParenthesis,
    CloseParenthesis,
    Comma,
    ColonColon,
    Equal,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    /// Digits, perhaps behind a minus.
    Integer(&'a str),
    /// A number with a fraction or exponent, which paths do not have.
    Decimal,
    /// What is between quotes, as it is written, and the quote.
    Text(&'a str, char),
    /// A quote without its partner.
    Unclosed,
    /// `prefix:name` or `name`.
    Name(Option<&'a str>, &'a str),
    /// `text()`.
    TextFunction,
    /// What no path has.
    Other,
    End,
}

/// Reads a text token by token; a copy of it looks ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'a> {
    /// The whole.
    pub(crate) text: &'a str,
    /// The current token.
    pub(crate) token: Token<'a>,
    /// Where it begins.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
}

impl<'a> Lexer<'a> {
    /// A text, at its first token.
    pub(crate) fn new(text: &'a str) -> Self {
        let mut lexer = Self { text, token: Token::End, start: 0, end: 0 };
        lexer.advance();
        lexer
    }

    /// Steps to the next token; at the end it stays there. Cost: O(length of the token and the space before it).
    pub(crate) fn advance(&mut self) {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        self.start = self.end + (rest.len() - trimmed.len());
        let (token, length) = next_token(trimmed);
        self.token = token;
        self.end = self.start + length;
    }

    /// The token behind the current one.
    pub(crate) fn peek(&self) -> Token<'a> {
        let mut ahead = *self;
        ahead.advance();
        ahead.token
    }

    /// The text of the current token, `<EOF>` at the end.
    pub(crate) fn input(&self) -> &'a str {
        match self.token {
            Token::End => "<EOF>",
            _ => self.text.get(self.start..self.end).expect("tokens lie at characters"),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.end..).expect("a token ends at a character")
    }
}

/// The token at the beginning of a text, and its length in bytes.
fn next_token(text: &str) -> (Token<'_>, usize) {
    let Some(first) = text.chars().next() else { return (Token::End, 0) };
    let is_before = |sign: &str| text.get(1..).is_some_and(|rest| rest.starts_with(sign));
    match first {
        '/' => (Token::Slash, 1),
        '@' => (Token::At, 1),
        '[' => (Token::Open, 1),
        ']' => (Token::Close, 1),
        '(' => (Token::OpenParenthesis, 1),
        ')' => (Token::CloseParenthesis, 1),
        ',' => (Token::Comma, 1),
        '=' => (Token::Equal, 1),
        '>' if is_before("=") => (Token::GreaterOrEqual, 2),
        '>' => (Token::Greater, 1),
        '<' if is_before("=") => (Token::LessOrEqual, 2),
        '<' => (Token::Less, 1),
        ':' if is_before(":") => (Token::ColonColon, 2),
        '"' | '\'' => quoted(text, first),
        '-' | '.' | '0'..='9' => number(text, first),
        _ if is_name_start(first) => name(text),
        _ => (Token::Other, first.len_utf8()),
    }
}

/// From a quote to the next one that is not doubled.
fn quoted(text: &str, quote: char) -> (Token<'_>, usize) {
    let mut end = 1;
    loop {
        let rest = text.get(end..).unwrap_or("");
        let Some(found) = rest.find(quote) else { return (Token::Unclosed, text.len()) };
        end += found + 1;
        if !text.get(end..).is_some_and(|behind| behind.starts_with(quote)) {
            let inside = text.get(1..end - 1).expect("between two quotes");
            return (Token::Text(inside, quote), end);
        }
        end += 1;
    }
}

/// Digits, perhaps behind a minus; with a fraction or exponent it is a decimal.
fn number(text: &str, first: char) -> (Token<'_>, usize) {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let whole_end = {
        let sign = usize::from(first == '-');
        sign + digits(sign)
    };
    let mut end = whole_end;
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if !bytes.iter().take(end).any(u8::is_ascii_digit) {
        return (Token::Other, 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    match end == whole_end {
        true => (Token::Integer(text.get(..end).expect("digits just counted")), end),
        false => (Token::Decimal, end),
    }
}

/// A name, perhaps with a prefix, or `text()`.
fn name(text: &str) -> (Token<'_>, usize) {
    let length = name_length(text);
    let (first, behind) = text.split_at(length);
    if first == "text" && behind.starts_with("()") {
        return (Token::TextFunction, length + 2);
    }
    let local = behind.strip_prefix(':').filter(|rest| rest.starts_with(is_name_start));
    match local {
        Some(rest) => {
            let local = rest.split_at(name_length(rest)).0;
            (Token::Name(Some(first), local), length + 1 + local.len())
        }
        None => (Token::Name(None, first), length),
    }
}

/// How far a name goes.
fn name_length(text: &str) -> usize {
    let ascii = text
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        .count();
    match text.as_bytes().get(ascii) {
        Some(byte) if !byte.is_ascii() => text.find(|one| !is_name_inside(one)).unwrap_or(text.len()),
        _ => ascii,
    }
}

/// The first character of a name (XML 1.0, NameStartChar without the colon).
fn is_name_start(one: char) -> bool {
    matches!(one,
        'A'..='Z' | '_' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
        | '\u{10000}'..='\u{EFFFF}')
}

/// Another character of a name (XML 1.0, NameChar without the colon).
fn is_name_inside(one: char) -> bool {
    is_name_start(one)
        || matches!(one, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}
