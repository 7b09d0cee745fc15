//! Tokens to a tree.

use crate::error::ParseError;
use crate::lexer::{Lexer, Token};
use crate::limits::{CONDITIONS_MAX, STEPS_MAX, TEXT_BYTES_MAX};
use crate::tree::{
    Comparison, Contains, CpsPath, LeafCondition, Literal, Name, Origin, Predicate, Step, TextCondition,
};

/// Reads a CPS path. The path `/` is the top of a tree, a path without steps.
///
/// Cost: O(length).
///
/// # Errors
///
/// [`ParseError`] with the place, if the text is no CPS path or beyond a limit.
pub fn parse(text: &str) -> Result<CpsPath, ParseError> {
    if text.len() > TEXT_BYTES_MAX {
        let cause = format!("{} bytes of text", text.len());
        return Err(ParseError::new(text, 0, cause, "a path has at most 65536 bytes"));
    }
    Parser { lexer: Lexer::new(text), steps: 0, conditions: 0 }.path()
}

const BEGINNING: &str = "a path begins with `/` or `//` and the name of a container or list";
const STEP: &str = "a name of a container or list, as in /bookstore/categories";
const PREDICATE: &str = "`[` is followed by `@` and a leaf, as in [@code='1'], or by contains(@leaf,'part')";
const BEHIND_TEXT: &str = "behind text() and contains() only /ancestor:: and /@leaf may follow";
const ONE_PREDICATE: &str =
    "a step has one pair of brackets with leaf conditions: join them with `and` or `or`";

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// How many steps there were so far.
    steps: usize,
    /// How many conditions there were so far.
    conditions: usize,
}

impl<'a> Parser<'a> {
    fn path(mut self) -> Result<CpsPath, ParseError> {
        self.take(Token::Slash, "'/'", BEGINNING)?;
        let mut path = CpsPath {
            origin: Origin::Absolute,
            steps: Vec::new(),
            text: None,
            contains: None,
            ancestor: Vec::new(),
            attribute: None,
        };
        match self.lexer.token {
            Token::End => return Ok(path),
            Token::Slash => {
                path.origin = Origin::Descendant;
                self.lexer.advance();
            }
            _ => {}
        }
        if self.lexer.token == Token::Slash {
            return Err(self.mismatched("QName", "a path begins with one or two slashes"));
        }
        self.steps(&mut path)?;
        if self.lexer.token == Token::Open {
            path.contains = Some(self.contains()?);
        }
        self.axes(&mut path)?;
        match self.lexer.token {
            Token::End => Ok(path),
            Token::Slash if path.ancestor.is_empty() && path.attribute.is_none() => {
                self.lexer.advance();
                Err(self.mismatched("{'@', 'ancestor'}", BEHIND_TEXT))
            }
            Token::Open if path.attribute.is_none() => {
                let advice = if path.ancestor.is_empty() { BEHIND_TEXT } else { ONE_PREDICATE };
                Err(self.mismatched("<EOF>", advice))
            }
            _ => Err(self.mismatched("<EOF>", "the path ends here, or goes on with `/`")),
        }
    }

    /// The steps, and the `text()` that may end them: what looks like a step is one of these, or the leaf of `text()`.
    fn steps(&mut self, path: &mut CpsPath) -> Result<(), ParseError> {
        loop {
            let at = self.lexer;
            let name = self.name(STEP)?;
            if self.lexer.token == Token::Open && self.lexer.peek() == Token::TextFunction {
                if path.steps.is_empty() {
                    let advice =
                        "text() stands behind a leaf of a container or list, as in //books/title[text()='x']";
                    return Err(ParseError::new(
                        at.text,
                        at.start,
                        format!("mismatched input '{name}'"),
                        advice,
                    ));
                }
                path.text = Some(self.text_condition(name)?);
                return Ok(());
            }
            let step = self.step(name)?;
            path.steps.push(step);
            if self.lexer.token == Token::Open && self.lexer.peek() == Token::At {
                return Err(self.mismatched("{<EOF>, '/', '['}", ONE_PREDICATE));
            }
            if self.lexer.token != Token::Slash || self.is_axis() {
                return Ok(());
            }
            self.lexer.advance();
        }
    }

    /// Whether the slash at hand begins an axis.
    fn is_axis(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.advance();
        match ahead.token {
            Token::At => true,
            Token::Name(None, "ancestor") => ahead.peek() == Token::ColonColon,
            _ => false,
        }
    }

    /// Behind the name of a step: its predicate, if there is one.
    fn step(&mut self, name: Name) -> Result<Step, ParseError> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(self.refused(format!("more than {STEPS_MAX} steps"), "a path has at most 256 steps"));
        }
        let mut predicate = Predicate::default();
        if self.lexer.token == Token::Open {
            match self.lexer.peek() {
                Token::Name(None, "contains") => {}
                Token::At => predicate = self.predicate()?,
                _ => return Err(self.no_alternative()),
            }
        }
        Ok(Step { name, predicate })
    }

    /// `[@leaf = value and ... or ...]`.
    fn predicate(&mut self) -> Result<Predicate, ParseError> {
        self.lexer.advance();
        let mut alternatives = Vec::new();
        let mut all = vec![self.condition()?];
        loop {
            match self.lexer.token {
                Token::Name(None, "and") => {
                    self.lexer.advance();
                    all.push(self.condition()?);
                }
                Token::Name(None, "or") => {
                    self.lexer.advance();
                    let next = vec![self.condition()?];
                    alternatives.push(std::mem::replace(&mut all, next));
                }
                Token::Close => break self.lexer.advance(),
                _ => {
                    let advice = "conditions are joined by `and` or `or`, and closed by `]`";
                    return Err(self.mismatched("{']', 'and', 'or'}", advice));
                }
            }
        }
        alternatives.push(all);
        Ok(Predicate { alternatives })
    }

    fn condition(&mut self) -> Result<LeafCondition, ParseError> {
        self.conditions += 1;
        if self.conditions > CONDITIONS_MAX {
            let cause = format!("more than {CONDITIONS_MAX} conditions");
            return Err(self.refused(cause, "a path has at most 4096 conditions"));
        }
        self.take(
            Token::At,
            "'@'",
            "a condition is `@`, a leaf, = > < >= or <=, and a value, as in @price>10",
        )?;
        let leaf = self.name("the name of a leaf, as in [@code='1']")?;
        let comparison = match self.lexer.token {
            Token::Equal => Comparison::Equal,
            Token::Greater => Comparison::Greater,
            Token::Less => Comparison::Less,
            Token::GreaterOrEqual => Comparison::GreaterOrEqual,
            Token::LessOrEqual => Comparison::LessOrEqual,
            _ => {
                return Err(
                    self.mismatched("{'=', '>', '<', '>=', '<='}", "a leaf is compared by = > < >= or <=")
                );
            }
        };
        self.lexer.advance();
        Ok(LeafCondition { leaf, comparison, value: self.literal()? })
    }

    fn literal(&mut self) -> Result<Literal, ParseError> {
        let expecting = "{IntegerLiteral, StringLiteral}";
        let literal = match self.lexer.token {
            Token::Integer(digits) => Literal::Integer(self.integer(digits)?),
            Token::Text(inside, quote) => Literal::Text(undouble(inside, quote)),
            Token::Decimal => {
                return Err(self.mismatched(
                    expecting,
                    "a number is an integer; a decimal stands in quotes, as in '9.5'",
                ));
            }
            Token::Unclosed => return Err(self.mismatched(expecting, "the quote is not closed")),
            _ => return Err(self.mismatched(expecting, "an integer, or a text in quotes, as in 'Kids'")),
        };
        self.lexer.advance();
        Ok(literal)
    }

    fn integer(&self, digits: &str) -> Result<i128, ParseError> {
        let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
        let number = digits.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            self.refused(
                format!("number '{digits}'"),
                "an integer has at most 64 bits; a longer one stands in quotes",
            )
        })
    }

    /// `[text()='value']`, behind the name of the leaf.
    fn text_condition(&mut self, leaf: Name) -> Result<TextCondition, ParseError> {
        self.lexer.advance();
        self.lexer.advance();
        self.take(Token::Equal, "'='", "text() is compared by =, as in title[text()='Matilda']")?;
        let value = self.string()?;
        self.take(Token::Close, "']'", "the value of text() is followed by `]`")?;
        Ok(TextCondition { leaf, value })
    }

    /// `[contains(@leaf,'part')]`.
    fn contains(&mut self) -> Result<Contains, ParseError> {
        if self.lexer.peek() != Token::Name(None, "contains") {
            return Err(self.no_alternative());
        }
        self.lexer.advance();
        self.lexer.advance();
        let form = "contains() is written as [contains(@name,'part')]";
        self.take(Token::OpenParenthesis, "'('", form)?;
        self.take(Token::At, "'@'", form)?;
        let leaf = self.name(form)?;
        self.take(Token::Comma, "','", form)?;
        let part = self.string()?;
        self.take(Token::CloseParenthesis, "')'", form)?;
        self.take(Token::Close, "']'", form)?;
        Ok(Contains { leaf, part })
    }

    /// `/ancestor::a/b` and `/@leaf`.
    fn axes(&mut self, path: &mut CpsPath) -> Result<(), ParseError> {
        if self.lexer.token == Token::Slash && self.is_axis() && self.lexer.peek() != Token::At {
            (0..3).for_each(|_| self.lexer.advance());
            loop {
                let name = self.name("the name of an ancestor, as in /ancestor::bookstore")?;
                let step = self.step(name)?;
                path.ancestor.push(step);
                if self.lexer.token != Token::Slash || self.is_axis() {
                    break;
                }
                self.lexer.advance();
            }
        }
        if self.lexer.token == Token::Slash && self.lexer.peek() == Token::At {
            self.lexer.advance();
            self.lexer.advance();
            path.attribute = Some(self.name("the name of a leaf, as in /@name")?);
        }
        Ok(())
    }

    fn name(&mut self, advice: &str) -> Result<Name, ParseError> {
        let Token::Name(prefix, local) = self.lexer.token else {
            return Err(self.mismatched("QName", advice));
        };
        self.lexer.advance();
        Ok(Name { prefix: prefix.map(Box::from), local: local.into() })
    }

    fn string(&mut self) -> Result<Box<str>, ParseError> {
        let Token::Text(inside, quote) = self.lexer.token else {
            return Err(self.mismatched("StringLiteral", "a text in quotes, as in 'Kids'"));
        };
        self.lexer.advance();
        Ok(undouble(inside, quote))
    }

    fn take(&mut self, token: Token<'a>, expecting: &str, advice: &str) -> Result<(), ParseError> {
        if self.lexer.token != token {
            return Err(self.mismatched(expecting, advice));
        }
        self.lexer.advance();
        Ok(())
    }

    /// The token at hand is not what stands here.
    fn mismatched(&self, expecting: &str, advice: &str) -> ParseError {
        self.refused(format!("mismatched input '{}' expecting {expecting}", self.lexer.input()), advice)
    }

    /// A bracket is open, and what is in it is no condition.
    fn no_alternative(&self) -> ParseError {
        let mut inside = self.lexer;
        inside.advance();
        let found = if inside.token == Token::End { "" } else { inside.input() };
        let cause = format!("no viable alternative at input '[{found}'");
        ParseError::new(inside.text, inside.start, cause, PREDICATE)
    }

    fn refused(&self, cause: String, advice: &str) -> ParseError {
        ParseError::new(self.lexer.text, self.lexer.start, cause, advice)
    }
}

/// The text between quotes, with doubled ones made single.
fn undouble(inside: &str, quote: char) -> Box<str> {
    match quote {
        '"' if inside.contains('"') => inside.replace("\"\"", "\"").into(),
        '\'' if inside.contains('\'') => inside.replace("''", "'").into(),
        _ => inside.into(),
    }
}
