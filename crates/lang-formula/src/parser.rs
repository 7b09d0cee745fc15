//! Tokens to steps: recursive descent by levels of binding.

use crate::error::ParseError;
use crate::function::Function;
use crate::limits::{DEPTH_MAX, REFERENCES_MAX, STACK_MAX, STEPS_MAX, TEXT_BYTES_MAX};
use crate::reader::{Reader, Token};
use crate::reference::Reference;
use crate::tree::{Binary, Formula, Step, Unary, exact_count, level};

/// Reads a formula. Cost: proportional to the text.
///
/// # Errors
///
/// If the text is not a formula, with the position and what was expected there; if it exceeds a limit.
pub fn parse(text: &str) -> Result<Formula, ParseError> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("a formula has at most {TEXT_BYTES_MAX} bytes");
        return Err(ParseError { position: TEXT_BYTES_MAX, message });
    }
    let mut parser = Parser::new(text)?;
    parser.expression(0)?;
    match parser.token {
        Token::End => Ok(Formula { steps: parser.steps, references: parser.references }),
        _ => Err(parser.expected("an operator or the end")),
    }
}

struct Parser<'a> {
    reader: Reader<'a>,
    /// The current token, and where it begins.
    token: Token<'a>,
    position: usize,
    steps: Vec<Step>,
    references: Vec<Reference>,
    depth: usize,
    /// How many values the steps so far leave on the stack.
    stack: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text);
        let (position, token) = reader.next()?;
        Ok(Self { reader, token, position, steps: Vec::new(), references: Vec::new(), depth: 0, stack: 0 })
    }

    /// Returns the current token, and reads the next.
    fn take(&mut self) -> Result<Token<'a>, ParseError> {
        let (position, next) = self.reader.next()?;
        self.position = position;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { position: self.position, message: message.into() }
    }

    fn expected(&self, what: &str) -> ParseError {
        let found = match &self.token {
            Token::Number(number) => format!("`{number}`"),
            Token::Word(word) => format!("`{word}`"),
            Token::Reference(reference) => format!("`{reference}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".into(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn is_word(&self, expected: &str) -> bool {
        matches!(self.token, Token::Word(word) if word.eq_ignore_ascii_case(expected))
    }

    fn push(&mut self, step: Step) -> Result<(), ParseError> {
        if self.steps.len() >= STEPS_MAX {
            return Err(self.error(format!("a formula has at most {STEPS_MAX} operators and operands")));
        }
        self.stack = self.stack + 1 - step.operands();
        if self.stack > STACK_MAX {
            return Err(self.error(format!("a formula needs at most {STACK_MAX} values at a time")));
        }
        self.steps.push(step);
        Ok(())
    }

    /// An expression whose outermost operator binds at least as strongly as `least`.
    fn expression(&mut self, least: u8) -> Result<(), ParseError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error(format!("nested more than {DEPTH_MAX} deep")));
        }
        self.prefix(least)?;
        let mut is_comparison = false;
        while let Some(operator) = self.binary() {
            let level = operator.level();
            if level < least {
                break;
            }
            if level == level::COMPARE && is_comparison {
                return Err(self.error("comparisons do not chain: put one in parentheses"));
            }
            is_comparison = level == level::COMPARE;
            self.take()?;
            self.expression(operator.right_level())?;
            self.push(Step::Binary(operator))?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// The current token as an operator between operands.
    fn binary(&self) -> Option<Binary> {
        if self.is_word("or") {
            return Some(Binary::Or);
        }
        if self.is_word("and") {
            return Some(Binary::And);
        }
        let Token::Sign(sign) = self.token else {
            return None;
        };
        Some(match sign {
            "=" | "==" => Binary::Equal,
            "<>" | "!=" => Binary::NotEqual,
            "<" => Binary::Less,
            "<=" => Binary::LessOrEqual,
            ">" => Binary::Greater,
            ">=" => Binary::GreaterOrEqual,
            "+" => Binary::Add,
            "-" => Binary::Subtract,
            "*" => Binary::Multiply,
            "/" => Binary::Divide,
            "^" => Binary::Power,
            _ => return None,
        })
    }

    /// An operand, with the operators before it.
    fn prefix(&mut self, least: u8) -> Result<(), ParseError> {
        if self.is_word("not") {
            if least > level::NOT {
                return Err(self.error("put `not` and its operand in parentheses"));
            }
            self.take()?;
            self.expression(level::NOT)?;
            return self.push(Step::Unary(Unary::Not));
        }
        if self.is_word("null") {
            self.take()?;
            return self.push(Step::Null);
        }
        match self.token {
            Token::Number(_) | Token::Reference(_) => self.operand(),
            Token::Sign("-") => {
                self.take()?;
                self.expression(level::NEGATE)?;
                self.push(Step::Unary(Unary::Negate))
            }
            Token::Sign("(") => {
                self.take()?;
                self.expression(0)?;
                self.close("an operator or `)`")
            }
            Token::Word(word) if !self.is_word("and") && !self.is_word("or") => self.call(word),
            _ => Err(self.expected("a number, a series in brackets, a function or `(`")),
        }
    }

    fn operand(&mut self) -> Result<(), ParseError> {
        match self.take()? {
            Token::Number(number) => self.push(Step::Number(number)),
            Token::Reference(reference) => {
                let known = self.references.iter().position(|one| *one == reference);
                let place = known.unwrap_or(self.references.len());
                if place >= REFERENCES_MAX {
                    return Err(self.error(format!("a formula has at most {REFERENCES_MAX} references")));
                }
                if known.is_none() {
                    self.references.push(reference);
                }
                self.push(Step::Reference(place))
            }
            Token::Word(_) | Token::Sign(_) | Token::End => Err(self.expected("an operand")),
        }
    }

    fn close(&mut self, expected: &str) -> Result<(), ParseError> {
        if self.token != Token::Sign(")") {
            return Err(self.expected(expected));
        }
        self.take().map(drop)
    }

    /// A function and its arguments.
    fn call(&mut self, word: &str) -> Result<(), ParseError> {
        let Some(function) = Function::of(word) else {
            let message =
                format!("`{word}` is no function; names of series stand in brackets, as in [{word}]");
            return Err(self.error(message));
        };
        let position = self.position;
        self.take()?;
        if self.token != Token::Sign("(") {
            return Err(self.expected(&format!("`(` behind {}", function.name())));
        }
        self.take()?;
        let mut count = 0;
        if self.token != Token::Sign(")") {
            loop {
                self.argument(function, count)?;
                count += 1;
                if self.token != Token::Sign(",") {
                    break;
                }
                self.take()?;
            }
        }
        self.close("an operator, `,` or `)`")?;
        let (fewest, most) = function.arguments();
        if !(fewest..=most).contains(&count) {
            let wanted = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
            let message = format!("{} takes {wanted} arguments, not {count}", function.name());
            return Err(ParseError { position, message });
        }
        self.push(Step::Call(function, count))
    }

    /// One argument; counts must be plain numbers within their bounds.
    fn argument(&mut self, function: Function, place: usize) -> Result<(), ParseError> {
        let (position, before) = (self.position, self.steps.len());
        self.expression(0)?;
        let Some((least, most)) = function.count_bounds().filter(|_| place == 1) else {
            return Ok(());
        };
        let count = match self.steps.get(before..) {
            Some([Step::Number(number)]) => exact_count(*number),
            _ => None,
        };
        match count {
            Some(count) if (least..=most).contains(&count) => Ok(()),
            _ => {
                let name = function.name();
                let message =
                    format!("{name} takes a whole number from {least} to {most} as second argument");
                Err(ParseError { position, message })
            }
        }
    }
}
