//! The tree of a formula, as steps in postfix order: operands first, then what is done with them.

use crate::Function;
use crate::reference::Reference;

/// A formula over series.
///
/// Invariant: made by [`crate::parse`], or from such by renaming: the steps leave exactly one value, none takes
/// more than there are, [`Step::Reference`] is a place in `references`, every call has as many arguments as its
/// function takes, and counts of slots are plain numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    pub(crate) steps: Vec<Step>,
    pub(crate) references: Vec<Reference>,
}

/// One step of an evaluation: takes its operands from the stack of values, the last on top, and leaves its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A number: finite, not negative (a sign is an operator).
    Number(f64),
    /// `null`: a missing value in every slot.
    Null,
    /// A place in [`Formula::references`].
    Reference(usize),
    /// An operator before its operand.
    Unary(Unary),
    /// An operator between its two operands.
    Binary(Binary),
    /// A function of so many arguments.
    Call(Function, usize),
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unary {
    /// `-`
    Negate,
    /// `not`
    Not,
}

/// An operator between operands. Comparisons and logic give 1 for true and 0 for false; what is not 0 is true.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Binary {
    /// `or`
    Or,
    /// `and`
    And,
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `^`
    Power,
}

/// How strongly parts of an expression bind; more binds more.
pub(crate) mod level {
    pub(crate) const OR: u8 = 1;
    pub(crate) const AND: u8 = 2;
    pub(crate) const NOT: u8 = 3;
    pub(crate) const COMPARE: u8 = 4;
    pub(crate) const ADD: u8 = 5;
    pub(crate) const MULTIPLY: u8 = 6;
    pub(crate) const NEGATE: u8 = 7;
    pub(crate) const POWER: u8 = 8;
    pub(crate) const ATOM: u8 = 9;
}

impl Binary {
    /// How strongly it binds.
    pub(crate) fn level(self) -> u8 {
        match self {
            Self::Or => level::OR,
            Self::And => level::AND,
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual => level::COMPARE,
            Self::Add | Self::Subtract => level::ADD,
            Self::Multiply | Self::Divide => level::MULTIPLY,
            Self::Power => level::POWER,
        }
    }

    /// How strongly its left operand must bind to stand without parentheses.
    pub(crate) fn left_level(self) -> u8 {
        match self.level() {
            // Comparisons do not chain, powers go from right to left.
            level @ (level::COMPARE | level::POWER) => level + 1,
            level => level,
        }
    }

    /// How strongly its right operand must bind to stand without parentheses.
    pub(crate) fn right_level(self) -> u8 {
        match self {
            Self::Power => level::NEGATE,
            _ => self.level() + 1,
        }
    }

    /// As it is printed.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Power => "^",
        }
    }
}

impl Step {
    /// How many values it takes from the stack.
    pub fn operands(self) -> usize {
        match self {
            Self::Number(_) | Self::Null | Self::Reference(_) => 0,
            Self::Unary(_) => 1,
            Self::Binary(_) => 2,
            Self::Call(_, arguments) => arguments,
        }
    }
}

impl Formula {
    /// What to do, in order; the value left at the end is that of the formula.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The different references, in order of first use.
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// The different names of series, in order of first use.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::with_capacity(self.references.len());
        for reference in &self.references {
            if !names.contains(&&*reference.name) {
                names.push(&reference.name);
            }
        }
        names
    }

    /// The formula with another name for a series.
    #[must_use]
    pub fn with_renamed(&self, from: &str, to: &str) -> Self {
        let mut renamed = self.clone();
        for reference in renamed.references.iter_mut().filter(|reference| &*reference.name == from) {
            reference.name = to.into();
        }
        renamed
    }

    /// How many slots before and after the one asked for a value hangs on, by functions such as `lag` (offsets of
    /// references not counted).
    pub fn reach(&self) -> (u64, u64) {
        let mut stack: Vec<((u64, u64), Option<u32>)> = Vec::new();
        for step in &self.steps {
            let operands = stack.split_off(stack.len().saturating_sub(step.operands()));
            let mut reach = operands.iter().map(|(reach, _)| *reach).fold((0, 0), wider);
            let mut number = None;
            match step {
                Step::Number(value) => number = exact_count(*value),
                Step::Call(function, _) => {
                    let count = operands.get(1).and_then(|(_, count)| *count).unwrap_or(0);
                    let own = function.reach(count);
                    reach = (reach.0 + u64::from(own.0), reach.1 + u64::from(own.1));
                }
                Step::Null | Step::Reference(_) | Step::Unary(_) | Step::Binary(_) => {}
            }
            stack.push((reach, number));
        }
        stack.pop().map_or((0, 0), |(reach, _)| reach)
    }
}

/// The count that a number is, if it is whole and small enough for a count of slots.
pub(crate) fn exact_count(number: f64) -> Option<u32> {
    let is_count = number.fract() == 0.0 && (0.0..=f64::from(crate::function::SLOTS_MAX)).contains(&number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, and within the bounds"
    )]
    is_count.then_some(number as u32)
}

fn wider(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.max(other.0), one.1.max(other.1))
}
