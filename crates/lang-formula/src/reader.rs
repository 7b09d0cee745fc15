//! Characters to tokens.

use lang_time::Duration;

use crate::aggregation::Aggregation;
use crate::error::ParseError;
use crate::offset::Offset;
use crate::reference::Reference;

/// A piece of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Number(f64),
    /// A word: the name of a function, or an operator.
    Word(&'a str),
    Reference(Reference),
    /// Signs of one or two characters.
    Sign(&'static str),
    End,
}

/// Signs, longer ones first.
const SIGNS: [&str; 16] =
    ["<=", ">=", "<>", "!=", "==", "<", ">", "=", "+", "-", "*", "/", "^", "(", ")", ","];

/// Reads a text token by token.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, position: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).expect("the position is at the start of a character")
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    fn error(&self, position: usize, message: impl Into<String>) -> ParseError {
        ParseError { position, message: message.into() }
    }

    /// The next token, and where it begins.
    pub(crate) fn next(&mut self) -> Result<(usize, Token<'a>), ParseError> {
        self.skip_space();
        let (position, rest) = (self.position, self.rest());
        let Some(first) = rest.chars().next() else {
            return Ok((position, Token::End));
        };
        let token = if first == '[' {
            Token::Reference(self.reference()?)
        } else if first.is_ascii_digit() || first == '.' {
            Token::Number(self.number()?)
        } else if first.is_ascii_alphabetic() {
            let is_inside = |character: char| character.is_ascii_alphanumeric() || character == '_';
            let word =
                rest.split(|character| !is_inside(character)).next().expect("a split has a first piece");
            self.position += word.len();
            Token::Word(word)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            self.position += sign.len();
            Token::Sign(sign)
        } else {
            return Err(self.error(position, format!("unexpected `{}`", first.escape_default())));
        };
        Ok((position, token))
    }

    /// Digits, perhaps a fraction, perhaps an exponent.
    fn number(&mut self) -> Result<f64, ParseError> {
        let (start, rest) = (self.position, self.rest().as_bytes());
        let digits = |from: usize| rest.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        let mut length = digits(0);
        if rest.get(length) == Some(&b'.') {
            length += 1 + digits(length + 1);
        }
        if matches!(rest.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        let text = self.text.get(start..start + length).expect("digits, signs and letters just counted");
        self.position = start + length;
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.error(start, format!("`{text}` is beyond the range of a double"))),
            Err(_) => Err(self.error(start, format!("expected a number, found `{text}`"))),
        }
    }

    /// `[name, offset, unit, aggregation]`; all but the name may be empty or left out.
    fn reference(&mut self) -> Result<Reference, ParseError> {
        let open = self.position;
        self.position += 1;
        let mut fields: [Option<(usize, String)>; 4] = Default::default();
        let mut fields_left = fields.iter_mut();
        loop {
            let Some(field) = fields_left.next() else {
                return Err(self.error(self.position, "expected `]` behind the aggregation"));
            };
            *field = self.field()?;
            match self.rest().as_bytes().first() {
                Some(b',') => self.position += 1,
                Some(b']') => break self.position += 1,
                Some(_) => return Err(self.error(self.position, "expected `,` or `]`")),
                None => return Err(self.error(open, "`[` without its `]`")),
            }
        }
        let [name, offset, unit, aggregation] = fields;
        let Some((_, name)) = name else {
            return Err(self.error(open + 1, "expected the name of a series"));
        };
        Ok(Reference {
            name: name.into(),
            offset: offset.map(|(position, text)| self.offset(position, &text)).transpose()?,
            unit: unit.map(|(_, unit)| unit.into()),
            aggregation: aggregation.map(|(position, text)| self.aggregation(position, &text)).transpose()?,
        })
    }

    /// A field of a reference, up to the comma or bracket behind it, and where it begins; `None` if it is empty.
    fn field(&mut self) -> Result<Option<(usize, String)>, ParseError> {
        self.skip_space();
        let start = self.position;
        if !self.rest().starts_with('"') {
            let field = self.rest().split([',', ']', '[', '"']).next().expect("a split has a first piece");
            self.position += field.len();
            let field = field.trim_end();
            return Ok((!field.is_empty()).then(|| (start, field.to_owned())));
        }
        self.position += 1;
        let mut text = String::new();
        loop {
            let Some((piece, behind)) = self.rest().split_once('"') else {
                return Err(self.error(start, "`\"` without its `\"`"));
            };
            text.push_str(piece);
            self.position += piece.len() + 1;
            if !behind.starts_with('"') {
                break;
            }
            text.push('"');
            self.position += 1;
        }
        self.skip_space();
        match text.is_empty() {
            true => Err(self.error(start, "expected something between the quotes")),
            false => Ok(Some((start, text))),
        }
    }

    fn offset(&self, position: usize, text: &str) -> Result<Offset, ParseError> {
        let slots = text.parse().map(Offset::Slots).ok();
        slots.or_else(|| Duration::parse(text).map(Offset::Duration)).ok_or_else(|| {
            let message = "expected a number of slots, or an ISO 8601 duration such as -P1D or PT15M";
            self.error(position, message)
        })
    }

    fn aggregation(&self, position: usize, text: &str) -> Result<Aggregation, ParseError> {
        Aggregation::of(text).ok_or_else(|| {
            let names: Vec<&str> = Aggregation::ALL.into_iter().map(Aggregation::name).collect();
            self.error(position, format!("expected an aggregation: {}", names.join(", ")))
        })
    }
}
