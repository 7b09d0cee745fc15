use lang_formula::parse;
use proptest::prelude::*;

use super::*;
use strands::ABSENT;

const VALID: u8 = Flag::Valid.number();
const MISSING: u8 = Flag::Missing.absent();
const FAULTY: u8 = Flag::Faulty.absent();

/// Points in the slots 0, 1, 2, ...: `None` is a slot without a point.
fn points(values: &[Option<(f64, u8)>]) -> Points {
    let mut points = Points::default();
    for (slot, point) in (0..).zip(values) {
        if let Some((value, flag)) = point {
            points.push(slot, *value, *flag);
        }
    }
    points
}

fn valid(values: &[f64]) -> Vec<Option<(f64, u8)>> {
    values.iter().map(|value| Some((*value, VALID))).collect()
}

/// The value and flag of each slot; `operands` are those of `[a]`, `[b]`, ... in the order of first use.
fn run(text: &str, operands: &[Vec<Option<(f64, u8)>>]) -> Vec<(Option<f64>, u8)> {
    let formula = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let count = operands.iter().map(Vec::len).max().unwrap_or(3);
    let times: Vec<i64> = (0..).take(count).collect();
    let operands: Vec<Points> = operands.iter().map(|operand| points(operand)).collect();
    let computed = compute(&formula, &times, &operands);
    assert_eq!(computed.times, times);
    let told = |(value, flag): (&f64, &u8)| ((flag & ABSENT == 0).then_some(*value), *flag);
    computed.values.iter().zip(&computed.flags).map(told).collect()
}

/// All values, of valid operands; none where a slot has no value.
#[track_caller]
fn check(text: &str, operands: &[&[f64]], expected: &[Option<f64>]) {
    let operands: Vec<_> = operands.iter().map(|values| valid(values)).collect();
    let values: Vec<Option<f64>> = run(text, &operands).into_iter().map(|(value, _)| value).collect();
    assert_eq!(values, expected, "{text}");
}

/// The formula's value in one slot.
#[track_caller]
fn one(text: &str, operands: &[f64], expected: f64) {
    let operands: Vec<&[f64]> = operands.iter().map(std::slice::from_ref).collect();
    check(text, &operands, &[Some(expected)]);
}

#[test]
fn operators_work_on_every_slot() {
    check("[a] + 2 * [b]", &[&[1.0, 2.0], &[10.0, 20.0]], &[Some(21.0), Some(42.0)]);
    check("([a] + 1) * ([b] - 1)", &[&[1.0, 2.0], &[10.0, 20.0]], &[Some(18.0), Some(57.0)]);
    check("2 - [a]", &[&[1.0, 5.0]], &[Some(1.0), Some(-3.0)]);
    check("[a] - [a]", &[&[1.0, 5.0]], &[Some(0.0), Some(0.0)]);
    check("-[a] ^ 2", &[&[3.0]], &[Some(-9.0)]);
    check("2 ^ ([a] + 1)", &[&[3.0]], &[Some(16.0)]);
    check("[a] >= 2 and not [a] = 3", &[&[1.0, 2.0, 3.0]], &[Some(0.0), Some(1.0), Some(0.0)]);
    check("[a] < 2 or [a] <> 2", &[&[1.0, 2.0, 3.0]], &[Some(1.0), Some(0.0), Some(1.0)]);
    check("[a] <= 2", &[&[1.0, 2.0, 3.0]], &[Some(1.0), Some(1.0), Some(0.0)]);
    check("[a] > 2", &[&[1.0, 2.0, 3.0]], &[Some(0.0), Some(0.0), Some(1.0)]);
    check("6 * 7", &[], &[Some(42.0), Some(42.0), Some(42.0)]);
}

#[test]
fn functions_do_what_the_page_says() {
    one("abs([a])", &[-2.5], 2.5);
    one("sign([a]) * 10 + sign([b])", &[-2.5, 0.0], -10.0);
    one("round([a])", &[2.5], 3.0);
    one("round([a])", &[-2.5], -3.0);
    one("round([a], 2)", &[1.234], 1.23);
    one("round([a], 15)", &[1e300], 1e300);
    one("floor([a]) + ceil([a])", &[-1.5], -3.0);
    one("sqrt([a])", &[9.0], 3.0);
    one("exp(log([a]))", &[1.0], 1.0);
    one("log([a], 2)", &[8.0], 3.0);
    one("mod([a], 3)", &[-1.0], 2.0);
    one("mod([a], -3)", &[1.0], -2.0);
    one("clamp([a], 0, 10)", &[11.0], 10.0);
    one("clamp([a], 0, 10)", &[-1.0], 0.0);
    one("min([a], 2, [b]) + 10 * max([a], 2, [b])", &[1.0, 3.0], 31.0);
    one("sum([a], [b], 1)", &[1.0, 3.0], 5.0);
    one("avg([a], [b], 2)", &[1.0, 3.0], 2.0);
    one("if([a] > [b], [a], [b])", &[1.0, 3.0], 3.0);
    one("if(1, [a], [b])", &[1.0, 3.0], 1.0);
    one("if(0, [a], 7)", &[1.0], 7.0);
    let ramp: &[f64] = &[1.0, 2.0, 4.0, 8.0];
    check("lag([a], 1)", &[ramp], &[None, Some(1.0), Some(2.0), Some(4.0)]);
    check("lead([a], 3)", &[ramp], &[Some(8.0), None, None, None]);
    check("lag([a], 9)", &[ramp], &[None; 4]);
    check("lag(5, 9) + 0 * [a]", &[ramp], &[Some(5.0); 4]);
    check("delta([a])", &[ramp], &[None, Some(1.0), Some(2.0), Some(4.0)]);
    check("movingsum([a], 2)", &[ramp], &[Some(1.0), Some(3.0), Some(6.0), Some(12.0)]);
    check("movingavg([a], 3)", &[&[3.0, 6.0, 9.0, 0.0]], &[Some(3.0), Some(4.5), Some(6.0), Some(5.0)]);
    check("movingmin([a], 2)", &[&[3.0, 1.0, 2.0, 5.0]], &[Some(3.0), Some(1.0), Some(1.0), Some(2.0)]);
    check("movingmax([a], 2)", &[&[3.0, 1.0, 2.0, 5.0]], &[Some(3.0), Some(3.0), Some(2.0), Some(5.0)]);
}

#[test]
fn a_slot_that_misses_an_operand_has_no_value() {
    let a = vec![Some((1.0, VALID)), None, Some((0.0, MISSING)), Some((4.0, VALID))];
    let b = valid(&[10.0, 20.0, 30.0, 40.0]);
    let both = [a, b];
    let here = |value: f64| (Some(value), VALID);
    let none = (None, MISSING);
    assert_eq!(run("[a] + [b]", &both), [here(11.0), none, none, here(44.0)]);
    assert_eq!(run("[a] > 0 or [b] > 0", &both), [here(1.0), none, none, here(1.0)]);
    assert_eq!(run("max([a], [b])", &both), [here(10.0), none, none, here(40.0)]);
    assert_eq!(run("sum([a], [b])", &both), [here(11.0), here(20.0), here(30.0), here(44.0)]);
    assert_eq!(run("avg([a], [b])", &both), [here(5.5), here(20.0), here(30.0), here(22.0)]);
    assert_eq!(run("coalesce([a], [b])", &both), [here(1.0), here(20.0), here(30.0), here(4.0)]);
    assert_eq!(run("coalesce([a], 0)", &both[..1]), [here(1.0), here(0.0), here(0.0), here(4.0)]);
    assert_eq!(run("isnull([a])", &both[..1]), [here(0.0), here(1.0), here(1.0), here(0.0)]);
    assert_eq!(run("if(isnull([a]), [b], [a])", &both), [here(1.0), here(20.0), here(30.0), here(4.0)]);
    assert_eq!(run("if([a], 1, 2)", &both[..1]), [here(1.0), none, none, here(1.0)]);
    assert_eq!(run("if([b] > 25, null, [b])", &both[1..]), [here(10.0), here(20.0), none, none]);
    assert_eq!(run("movingsum([a], 2)", &both[..1]), [here(1.0), here(1.0), none, here(4.0)]);
    assert_eq!(run("sum([a], null)", &both[..1]), [here(1.0), none, none, here(4.0)]);
    assert_eq!(run("[a]", &both[..1]), [here(1.0), none, none, here(4.0)]);
}

#[test]
fn the_worst_flag_wins_and_what_is_not_finite_is_faulty() {
    let (estimated, accounted) = (Flag::Estimated.number(), Flag::Accounted.number());
    let a = vec![Some((4.0, estimated)), Some((0.0, accounted)), Some((1e308, VALID))];
    let flags = |text: &str| {
        run(text, std::slice::from_ref(&a)).into_iter().map(|(_, flag)| flag).collect::<Vec<_>>()
    };
    assert_eq!(flags("[a] + 1"), [estimated, accounted, VALID]);
    assert_eq!(flags("1 / [a]"), [estimated, FAULTY, VALID]);
    assert_eq!(flags("[a] / 0"), [FAULTY; 3]);
    assert_eq!(flags("log([a])"), [estimated, FAULTY, VALID]);
    assert_eq!(flags("sqrt(-[a] - 1)"), [FAULTY; 3]);
    assert_eq!(flags("sum([a], [a])"), [estimated, accounted, FAULTY]);
    assert_eq!(flags("movingsum([a], 2)"), [estimated, estimated, VALID]);
    assert_eq!(flags("coalesce(1 / [a], 5)"), [estimated, VALID, VALID]);
    assert_eq!(flags("if([a] > 1, 1, 0)"), [estimated, accounted, VALID]);
    assert_eq!(flags("1"), [VALID; 3]);
    assert_eq!(flags("1 / 0"), [FAULTY; 3]);
    // What was worse stays so.
    let (interpolated, partly) = (Flag::Interpolated, Flag::Missing);
    let bad = vec![Some((0.0, interpolated.number())), Some((0.0, partly.number()))];
    assert_eq!(run("1 / [a]", &[bad]), [(None, interpolated.absent()), (None, partly.absent())]);
    assert_eq!(flags("null"), [MISSING; 3]);
    let none = vec![Some((0.0, Flag::Estimated.absent())), None, None];
    let worst = run("[a] + [b]", &[a, none]).into_iter().map(|(_, flag)| flag).collect::<Vec<_>>();
    assert_eq!(worst, [Flag::Estimated.absent(), MISSING, MISSING]);
}

#[test]
fn operands_are_aligned_by_time() {
    let formula = parse("[a] + [b]").expect("a formula");
    let make = |times: &[i64]| Points {
        times: times.to_vec(),
        values: times.iter().map(|time| f64::from(u8::try_from(*time).expect("small"))).collect(),
        flags: vec![VALID; times.len()],
        ..Points::default()
    };
    let computed = compute(&formula, &[2, 4, 6, 8], &[make(&[1, 2, 3, 6, 9]), make(&[0, 2, 4, 6, 8])]);
    assert_eq!(
        (computed.values, computed.flags),
        (vec![4.0, 0.0, 12.0, 0.0], vec![VALID, MISSING, VALID, MISSING])
    );
    assert!(compute(&formula, &[], &[]).is_empty());
    let no_operand = compute(&formula, &[1], &[]);
    assert_eq!(no_operand.flags, [MISSING]);
}

/// The same, slot by slot, as the page of formulas says it: for comparison only.
fn plainly(formula: &Formula, operands: &[Vec<Option<(f64, u8)>>], count: usize) -> Vec<Point> {
    let mut stack: Vec<Vec<Point>> = Vec::new();
    for step in formula.steps() {
        let taken = stack.split_off(stack.len() - step.operands());
        let each = |work: &dyn Fn(&[Point], usize) -> Point| -> Vec<Point> {
            let row = |slot: usize| taken.iter().map(|column| column[slot]).collect::<Vec<_>>();
            (0..count).map(|slot| checked(work(&row(slot), slot))).collect()
        };
        let with = |row: &[Point], value: f64| {
            let flag = row.iter().map(|point| point.1 & !ABSENT).max().unwrap_or(0);
            if row.iter().any(|point| is_absent(point.1)) { (0.0, flag | ABSENT) } else { (value, flag) }
        };
        let number = |row: &[Point], place: usize| row[place].0;
        stack.push(match step {
            Step::Number(value) => vec![(*value, 0); count],
            Step::Null => vec![(0.0, MISSING); count],
            Step::Reference(place) => {
                (0..count).map(|slot| operands[*place][slot].unwrap_or((0.0, MISSING))).collect()
            }
            Step::Unary(Unary::Negate) => each(&|row, _| with(row, -number(row, 0))),
            Step::Unary(Unary::Not) => each(&|row, _| with(row, truth(number(row, 0) == 0.0))),
            Step::Binary(operator) => each(&|row, _| {
                let (one, other) = (number(row, 0), number(row, 1));
                with(
                    row,
                    match operator {
                        Binary::Add => one + other,
                        Binary::Subtract => one - other,
                        Binary::Multiply => one * other,
                        Binary::Divide => one / other,
                        Binary::Less => truth(one < other),
                        Binary::And => truth(one != 0.0 && other != 0.0),
                        _ => unreachable!("not generated"),
                    },
                )
            }),
            Step::Call(function, _) => each(&|row, slot| {
                let present: Vec<Point> = row.iter().copied().filter(|point| !is_absent(point.1)).collect();
                let sum: f64 = present.iter().map(|point| point.0).sum();
                match function {
                    Function::Sum if present.is_empty() => with(row, 0.0),
                    Function::Sum => with(&present, sum),
                    Function::Average if present.is_empty() => with(row, 0.0),
                    Function::Average => with(&present, sum / present.len() as f64),
                    Function::Coalesce => present.first().or(row.last()).copied().expect("an argument"),
                    Function::If if is_absent(row[0].1) => (0.0, row[0].1),
                    Function::If => {
                        let chosen = if row[0].0 == 0.0 { row[2] } else { row[1] };
                        with(&[row[0], chosen], chosen.0)
                    }
                    Function::Lag => {
                        slot.checked_sub(slots(row[1])).map_or((0.0, MISSING), |at| taken[0][at])
                    }
                    Function::MovingMax => {
                        let from = (slot + 1).saturating_sub(slots(row[1]));
                        let window = &taken[0][from..=slot];
                        let there: Vec<Point> =
                            window.iter().copied().filter(|point| !is_absent(point.1)).collect();
                        match there.is_empty() {
                            true => with(window, 0.0),
                            false => with(&there, there.iter().map(|point| point.0).fold(f64::MIN, f64::max)),
                        }
                    }
                    _ => unreachable!("not generated"),
                }
            }),
        });
    }
    stack.pop().expect("one value")
}

fn slots(point: Point) -> usize {
    (0..20_u8).find(|slots| f64::from(*slots) == point.0).expect("a small count").into()
}

fn checked(point: Point) -> Point {
    if point.0.is_finite() || is_absent(point.1) { point } else { (0.0, FAULTY.max(point.1 | ABSENT)) }
}

fn texts() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["[a]", "[b]", "[c]", "2", "0", "null"]).prop_map(str::to_owned);
    leaf.prop_recursive(5, 24, 3, |inner| {
        let two = (inner.clone(), prop::sample::select(vec!["+", "-", "*", "/", "<", "and"]), inner.clone());
        prop_oneof![
            4 => two.prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            1 => inner.clone().prop_map(|operand| format!("-({operand})")),
            1 => inner.clone().prop_map(|operand| format!("(not {operand})")),
            1 => (inner.clone(), 0..4).prop_map(|(operand, slots)| format!("lag({operand}, {slots})")),
            1 => (inner.clone(), 1..5).prop_map(|(operand, slots)| format!("movingmax({operand}, {slots})")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(one, two, three)| format!("if({one}, {two}, {three})")),
            2 => (prop::sample::select(vec!["sum", "avg", "coalesce"]), prop::collection::vec(inner, 1..4))
                .prop_map(|(name, operands)| format!("{name}({})", operands.join(", "))),
        ]
    })
}

proptest! {
    #[test]
    fn columns_compute_what_slots_do(
        text in texts(),
        columns in prop::collection::vec(
            prop::collection::vec(prop::option::weighted(0.8, (-3..4_i8, 0..9_u8, prop::bool::weighted(0.1))), 14),
            3,
        ),
    ) {
        let formula = parse(&text).expect("a formula");
        let point = |(value, flag, is_absent): (i8, u8, bool)| (f64::from(value), if is_absent { flag | ABSENT } else { flag });
        let of_name = |name: &str| {
            let place = ["a", "b", "c"].iter().position(|one| *one == name).expect("one of three");
            columns[place].iter().map(|one| one.map(point)).collect::<Vec<_>>()
        };
        let operands: Vec<_> = formula.references().iter().map(|one| of_name(&one.name)).collect();
        let times: Vec<i64> = (0..14).collect();
        let given: Vec<Points> = operands.iter().map(|operand| points(operand)).collect();
        let computed = compute(&formula, &times, &given);
        let expected = plainly(&formula, &operands, 14);
        // What the formula reaches back for must be there to be the same.
        let first = usize::try_from(formula.reach().0).expect("small");
        for (slot, (value, flag)) in expected.into_iter().enumerate().skip(first) {
            let flag = if flag == 0 { VALID } else { flag };
            prop_assert_eq!(computed.flags[slot], flag, "{} in slot {}", text, slot);
            if !is_absent(flag) {
                let difference = (computed.values[slot] - value).abs();
                prop_assert!(difference <= 1e-9 * value.abs().max(1.0), "{} in slot {}: {}", text, slot, difference);
            }
        }
    }
}
