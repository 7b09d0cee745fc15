//! Formulas on columns: each step works on all slots at once. Pure; where operands come from is for `evaluate`.
//!
//! A slot has a value and a flag, or no value and a flag that says why. The worst flag of what went into a value is
//! its flag; what has no value gives none, except to functions made for that; what is no finite number (a division by
//! zero, the logarithm of nothing) is no value, flagged faulty (or worse).

mod column;
mod window;

#[cfg(test)]
mod tests;

use lang_formula::{Binary, Formula, Function, Step, Unary};

use self::column::{Column, NOTHING};
use strands::is_absent;
use strands::{Flag, Points};

/// The value of a formula in each of the slots named by `times` (ascending). `operands` are the points of its
/// references, in their order, offsets and units already applied; points at other times are passed over.
///
/// The answer has one point for each slot. Those at the ends from which the formula reaches beyond
/// (`Formula::reach`) mean nothing: ask for more slots, and cut.
///
/// Cost: one pass over the columns for each step; `[a] + 2 * [b]` about 7 ns a point.
pub fn compute(formula: &Formula, times: &[i64], operands: &[Points]) -> Points {
    let count = times.len();
    let mut stack: Vec<Column<'_>> = Vec::new();
    for step in formula.steps() {
        let mut taken = taken_by(&mut stack, step);
        let column = match step {
            Step::Number(number) => Column::Same(*number, 0),
            Step::Null => NOTHING,
            Step::Reference(place) => {
                operands.get(*place).map_or(NOTHING, |points| Column::of(points, times))
            }
            Step::Unary(operator) => unary(*operator, last(&mut taken)),
            Step::Binary(operator) => {
                let right = last(&mut taken);
                binary(*operator, last(&mut taken), right, count)
            }
            Step::Call(function, _) => call(*function, taken, count),
        };
        stack.push(column);
    }
    let (mut values, mut flags) = last(&mut stack).into_own(count);
    for (value, flag) in values.iter_mut().zip(&mut flags) {
        if is_absent(*flag) {
            *value = 0.0;
        } else if *flag == Flag::NoValue.number() {
            // Where nothing was said of all that went into a value (numbers alone, say), there is no doubt about it.
            *flag = Flag::Valid.number();
        }
    }
    Points { times: times.to_vec(), values, flags, ..Points::default() }
}

/// The operands of a step.
fn taken_by<'a>(stack: &mut Vec<Column<'a>>, step: &Step) -> Vec<Column<'a>> {
    let left = stack.len().checked_sub(step.operands()).expect("the parser counted the operands");
    stack.split_off(left)
}

/// The top of the stack; the parser saw to it that there is one.
fn last<'a>(stack: &mut Vec<Column<'a>>) -> Column<'a> {
    stack.pop().expect("the parser counted the operands")
}

/// 1 for true, 0 for false.
fn truth(is_true: bool) -> f64 {
    if is_true { 1.0 } else { 0.0 }
}

fn unary<'a>(operator: Unary, operand: Column<'a>) -> Column<'a> {
    match operator {
        Unary::Negate => operand.map(|value| -value),
        Unary::Not => operand.map(|value| truth(value == 0.0)),
    }
}

#[expect(clippy::float_cmp, reason = "users compare numbers, to the bit")]
fn binary<'a>(operator: Binary, left: Column<'a>, right: Column<'a>, count: usize) -> Column<'a> {
    match operator {
        Binary::Or => left.zip(right, count, |one, other| truth(one != 0.0 || other != 0.0)),
        Binary::And => left.zip(right, count, |one, other| truth(one != 0.0 && other != 0.0)),
        Binary::Equal => left.zip(right, count, |one, other| truth(one == other)),
        Binary::NotEqual => left.zip(right, count, |one, other| truth(one != other)),
        Binary::Less => left.zip(right, count, |one, other| truth(one < other)),
        Binary::LessOrEqual => left.zip(right, count, |one, other| truth(one <= other)),
        Binary::Greater => left.zip(right, count, |one, other| truth(one > other)),
        Binary::GreaterOrEqual => left.zip(right, count, |one, other| truth(one >= other)),
        Binary::Add => left.zip(right, count, |one, other| one + other),
        Binary::Subtract => left.zip(right, count, |one, other| one - other),
        Binary::Multiply => left.zip(right, count, |one, other| one * other),
        Binary::Divide => left.zip(right, count, |one, other| one / other),
        Binary::Power => left.zip(right, count, f64::powf),
    }
}

fn call<'a>(function: Function, arguments: Vec<Column<'a>>, count: usize) -> Column<'a> {
    let mut arguments = arguments.into_iter();
    let next = |arguments: &mut std::vec::IntoIter<Column<'a>>| {
        arguments.next().expect("the parser counted the arguments")
    };
    let first = next(&mut arguments);
    match function {
        Function::Abs => first.map(f64::abs),
        Function::Sign => first.map(|value| if value == 0.0 { 0.0 } else { value.signum() }),
        Function::Floor => first.map(f64::floor),
        Function::Ceil => first.map(f64::ceil),
        Function::Sqrt => first.map(f64::sqrt),
        Function::Exp => first.map(f64::exp),
        Function::Round => {
            let digits = arguments.next().map_or(0, |digits| digits.count());
            let scale = 10_f64.powi(i32::try_from(digits).expect("the parser bounds it"));
            first.map(|value| round(value, scale))
        }
        Function::Log => match arguments.next() {
            None => first.map(f64::ln),
            Some(base) => first.zip(base, count, |value, base| value.ln() / base.ln()),
        },
        Function::Mod => {
            let divisor = next(&mut arguments);
            first.zip(divisor, count, |value, divisor| ((value % divisor) + divisor) % divisor)
        }
        Function::Clamp => {
            let (low, high) = (next(&mut arguments), next(&mut arguments));
            first.zip(low, count, f64::max).zip(high, count, f64::min)
        }
        Function::Min => arguments.fold(first, |least, next| least.zip(next, count, f64::min)),
        Function::Max => arguments.fold(first, |most, next| most.zip(next, count, f64::max)),
        Function::Sum => arguments.fold(first, |sum, next| sum.zip_points(&next, count, add_present)),
        Function::Average => average(first, arguments, count),
        Function::If => {
            let (yes, no) = (next(&mut arguments), next(&mut arguments));
            choose(first, yes, no, count)
        }
        Function::Coalesce => arguments.fold(first, |found, next| {
            found.zip_points(&next, count, |one, other| if is_absent(one.1) { other } else { one })
        }),
        Function::IsNull => {
            first.map_points(|(_, flag)| if is_absent(flag) { (1.0, 0) } else { (0.0, flag) })
        }
        Function::Lag => window::shift(first, next(&mut arguments).count(), count),
        Function::Lead => window::shift_back(first, next(&mut arguments).count(), count),
        Function::Delta => {
            let (values, flags) = first.into_own(count);
            let before = window::shift(Column::Own(values.clone(), flags.clone()), 1, count);
            Column::Own(values, flags).zip(before, count, |value, before| value - before)
        }
        Function::MovingAverage | Function::MovingSum | Function::MovingMin | Function::MovingMax => {
            window::moving(function, first, arguments.next().map_or(1, |count| count.count()), count)
        }
    }
}

/// Rounds halves away from zero; what is too large to have such digits stays as it is.
fn round(value: f64, scale: f64) -> f64 {
    let scaled = value * scale;
    if scaled.is_finite() { scaled.round() / scale } else { value }
}

/// A value and its flag byte.
type Point = (f64, u8);

/// The sum of those that are there.
fn add_present(one: Point, other: Point) -> Point {
    match (is_absent(one.1), is_absent(other.1)) {
        (false, false) => (one.0 + other.0, one.1.max(other.1)),
        (true, false) => other,
        (false, true) => one,
        (true, true) => (0.0, one.1.max(other.1)),
    }
}

fn average<'a>(first: Column<'a>, rest: impl Iterator<Item = Column<'a>>, count: usize) -> Column<'a> {
    let present = |column: &Column<'a>| column.clone().map_points(|(_, flag)| (truth(!is_absent(flag)), 0));
    let mut number = present(&first);
    let mut sum = first;
    for next in rest {
        number = number.zip(present(&next), count, |one, other| one + other);
        sum = sum.zip_points(&next, count, add_present);
    }
    sum.zip(number, count, |sum, number| sum / number)
}

/// One or the other, by a condition that has a value; the flags of both the condition and what is chosen count.
fn choose<'a>(condition: Column<'a>, yes: Column<'a>, no: Column<'a>, count: usize) -> Column<'a> {
    if let Column::Same(value, flag) = condition
        && !is_absent(flag)
    {
        return if value == 0.0 { no } else { yes };
    }
    let with_flag = |chosen: Point, flag: u8| {
        if is_absent(flag) { (0.0, flag) } else { (chosen.0, column::worst(chosen.1, flag)) }
    };
    // First what holds where the condition does, then the rest from the other side.
    let is_yes = condition.clone();
    let yes = is_yes.zip_points(&yes, count, move |condition, yes| with_flag(yes, condition.1));
    let no = condition.clone().zip_points(&no, count, move |condition, no| with_flag(no, condition.1));
    let (conditions, flags) = condition.into_own(count);
    let (mut values, mut chosen) = yes.into_own(count);
    let (other_values, other_flags) = no.into_own(count);
    let places = values.iter_mut().zip(&mut chosen).zip(other_values.iter().zip(&other_flags));
    for ((place, other), condition) in places.zip(conditions.iter().zip(&flags)) {
        if *condition.0 == 0.0 && !is_absent(*condition.1) {
            (*place.0, *place.1) = (*other.0, *other.1);
        }
    }
    Column::Own(values, chosen)
}
