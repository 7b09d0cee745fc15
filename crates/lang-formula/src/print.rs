//! Formulas as text: with the fewest parentheses, and one space around operators.

use std::fmt;

use crate::tree::level;
use crate::{Formula, Step, Unary};

/// A printed part, and how strongly its outermost operator binds.
struct Part {
    text: String,
    level: u8,
}

impl Part {
    fn atom(text: String) -> Self {
        Self { text, level: level::ATOM }
    }

    /// The text, in parentheses if it binds less than `level`.
    fn within(self, level: u8) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<Part> = Vec::new();
        for step in &self.steps {
            let part = match step {
                Step::Number(number) => Part::atom(print_number(*number)),
                Step::Null => Part::atom("null".into()),
                Step::Reference(place) => {
                    let reference = self.references.get(*place);
                    Part::atom(reference.expect("a step names a reference of its formula").to_string())
                }
                Step::Unary(operator) => print_unary(*operator, parts.pop()),
                Step::Binary(operator) => {
                    let right = take(parts.pop(), operator.right_level());
                    let mut text = take(parts.pop(), operator.left_level());
                    // Appended to the left operand: a long chain costs no more than its text.
                    text.extend([" ", operator.symbol(), " ", &right]);
                    Part { text, level: operator.level() }
                }
                Step::Call(function, arguments) => {
                    let arguments = parts.split_off(parts.len().saturating_sub(*arguments));
                    let texts: Vec<String> = arguments.into_iter().map(|part| part.text).collect();
                    Part::atom(format!("{}({})", function.name(), texts.join(", ")))
                }
            };
            parts.push(part);
        }
        f.write_str(&take(parts.pop(), 0))
    }
}

fn take(part: Option<Part>, level: u8) -> String {
    part.expect("operands precede their operator").within(level)
}

fn print_unary(operator: Unary, operand: Option<Part>) -> Part {
    match operator {
        Unary::Negate => Part { text: format!("-{}", take(operand, level::NEGATE)), level: level::NEGATE },
        Unary::Not => Part { text: format!("not {}", take(operand, level::NOT)), level: level::NOT },
    }
}

/// The shorter of plain and scientific; both read back as the same number.
fn print_number(number: f64) -> String {
    let (plain, scientific) = (number.to_string(), format!("{number:e}"));
    if scientific.len() < plain.len() { scientific } else { plain }
}
