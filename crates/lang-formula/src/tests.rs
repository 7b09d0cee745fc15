use proptest::prelude::*;

use crate::{
    Aggregation, Binary, DEPTH_MAX, Duration, Formula, Function, Offset, Reference, STACK_MAX, STEPS_MAX,
    Step, Unary, parse,
};

/// The printed form of a formula; printing it again changes nothing.
#[track_caller]
fn check(text: &str, printed: &str) -> Formula {
    let formula = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(formula.to_string(), printed, "{text}");
    assert_eq!(parse(printed).as_ref(), Ok(&formula), "{text}");
    formula
}

#[track_caller]
fn check_error(text: &str, position: usize, message: &str) {
    let error = parse(text).expect_err(text);
    assert_eq!((error.position, error.message.as_str()), (position, message), "{text}");
}

#[test]
fn operators_bind_as_usual() {
    check("1+2*3", "1 + 2 * 3");
    check("(1+2)*3", "(1 + 2) * 3");
    check("((1*2))+3", "1 * 2 + 3");
    check("1-2-3", "1 - 2 - 3");
    check("1-(2-3)", "1 - (2 - 3)");
    check("8/4/2", "8 / 4 / 2");
    check("2^3^2", "2 ^ 3 ^ 2");
    check("(2^3)^2", "(2 ^ 3) ^ 2");
    check("-2^2", "-2 ^ 2");
    check("(-2)^2", "(-2) ^ 2");
    check("2^-1*3", "2 ^ -1 * 3");
    check("- - 2", "--2");
    check("1 - -2", "1 - -2");
    check("1 or 0 and not 1 = 2", "1 or 0 and not 1 = 2");
    check("(1 or 0) and (not (1 = 2))", "(1 or 0) and not 1 = 2");
    check("(not 1) = 2", "(not 1) = 2");
    check("1+2 >= 3*4", "1 + 2 >= 3 * 4");
    check("1 == 2 OR 1 != 2", "1 = 2 or 1 <> 2");
}

#[test]
fn steps_are_in_postfix_order() {
    let formula = check("1 - [a] ^ 2", "1 - [a] ^ 2");
    let steps = [
        Step::Number(1.0),
        Step::Reference(0),
        Step::Number(2.0),
        Step::Binary(Binary::Power),
        Step::Binary(Binary::Subtract),
    ];
    assert_eq!(formula.steps(), steps);
    let formula = check("-max(1, null)", "-max(1, null)");
    let steps = [Step::Number(1.0), Step::Null, Step::Call(Function::Max, 2), Step::Unary(Unary::Negate)];
    assert_eq!(formula.steps(), steps);
}

#[test]
fn references_say_name_offset_unit_and_aggregation() {
    let whole = check("[ Load North , -P1DT30M, kWh ,sum]", "[Load North, -P1DT30M, kWh, SUM]");
    let offset = Duration { is_negative: true, days: 1, minutes: 30, ..Duration::default() };
    let reference = Reference {
        name: "Load North".into(),
        offset: Some(Offset::Duration(offset)),
        unit: Some("kWh".into()),
        aggregation: Some(Aggregation::Sum),
    };
    assert_eq!(whole.references(), [reference]);
    let slots = check("[a,-4]", "[a, -4]");
    assert_eq!(slots.references().first().and_then(|one| one.offset), Some(Offset::Slots(-4)));
    check("[a,,kW]", "[a,, kW]");
    check("[a,,,TWA]", "[a,,, TWA]");
    check("[a,,,]", "[a]");
    check("[\"a, \"\"b\"\" [c]\"]", "[\"a, \"\"b\"\" [c]\"]");
    check("[\"plain\"]", "[plain]");
    check("[\" a\"]", "[\" a\"]");
    check("[Zähler Süd (1)]", "[Zähler Süd (1)]");
    check("[-P1D]", "[-P1D]");
}

#[test]
fn equal_references_are_one() {
    let formula = check("[a] + [b] + [a] + [a, 1]", "[a] + [b] + [a] + [a, 1]");
    assert_eq!(formula.references().len(), 3);
    assert_eq!(formula.names(), ["a", "b"]);
    let renamed = formula.with_renamed("a", "x y");
    assert_eq!(renamed.to_string(), "[x y] + [b] + [x y] + [x y, 1]");
}

#[test]
fn numbers_keep_their_value() {
    check("0.1", "0.1");
    check("1e3", "1e3");
    check("1.5E-7", "1.5e-7");
    check("12345678901234567890", "12345678901234567000");
    check("1e300", "1e300");
    check(".5 + 5.", "0.5 + 5");
    check_error("1e999", 0, "`1e999` is beyond the range of a double");
    check_error("1 + .", 4, "expected a number, found `.`");
}

#[test]
fn functions_take_what_they_take() {
    for function in Function::ALL {
        let (fewest, most) = function.arguments();
        for count in fewest..=most {
            let arguments = vec!["1"; count].join(", ");
            check(
                &format!("{}({arguments})", function.name().to_uppercase()),
                &format!("{}({arguments})", function.name()),
            );
        }
    }
    check("if([a] > 0 and [b] > 0, lag([a], 4), null)", "if([a] > 0 and [b] > 0, lag([a], 4), null)");
    check_error("1 + abs()", 4, "abs takes 1 arguments, not 0");
    check_error("clamp(1, 2)", 0, "clamp takes 3 arguments, not 2");
    check_error("lag([a], -1)", 9, "lag takes a whole number from 0 to 600000 as second argument");
    check_error(
        "movingavg([a], 0)",
        15,
        "movingavg takes a whole number from 1 to 600000 as second argument",
    );
    check_error("round(1, 1.5)", 9, "round takes a whole number from 0 to 15 as second argument");
}

#[test]
fn reach_counts_slots_through_nested_functions() {
    let reach = |text: &str| parse(text).map(|formula| formula.reach());
    assert_eq!(reach("[a] + 1"), Ok((0, 0)));
    assert_eq!(reach("lag([a], 4) + lead([b], 2)"), Ok((4, 2)));
    assert_eq!(reach("lag(movingavg([a], 4), 2) - delta([a])"), Ok((5, 0)));
    assert_eq!(reach("round(lag([a], 3), 2)"), Ok((3, 0)));
    assert_eq!(reach("if(1, lag(lead([a], 5), 1), 7)"), Ok((1, 5)));
}

#[test]
fn errors_say_where_and_what_was_expected() {
    let operand =
        |found: &str| format!("expected a number, a series in brackets, a function or `(`, found {found}");
    check_error("", 0, &operand("the end"));
    check_error("1 +", 3, &operand("the end"));
    check_error("1 + * 2", 4, &operand("`*`"));
    check_error("1 2", 2, "expected an operator or the end, found `2`");
    check_error("(1 + 2", 6, "expected an operator or `)`, found the end");
    check_error("max(1 2)", 6, "expected an operator, `,` or `)`, found `2`");
    check_error("load", 0, "`load` is no function; names of series stand in brackets, as in [load]");
    check_error("abs 1", 4, "expected `(` behind abs, found `1`");
    check_error("1 < 2 < 3", 6, "comparisons do not chain: put one in parentheses");
    check_error("1 + not 2", 4, "put `not` and its operand in parentheses");
    check_error("1 and or 2", 6, &operand("`or`"));
    check_error("1 # 2", 2, "unexpected `#`");
    check_error("1 + ü", 4, "unexpected `\\u{fc}`");
    check_error("[a", 0, "`[` without its `]`");
    check_error("[]", 1, "expected the name of a series");
    check_error("[\"a]", 1, "`\"` without its `\"`");
    check_error("[\"\"]", 1, "expected something between the quotes");
    check_error("[a b \"c\"]", 5, "expected `,` or `]`");
    check_error("[a, P]", 4, "expected a number of slots, or an ISO 8601 duration such as -P1D or PT15M");
    check_error("[a,,,x]", 5, "expected an aggregation: SUM, AVG, MIN, MAX, FIRST, LAST, COUNT, TWA");
    check_error("[a,,,,]", 6, "expected `]` behind the aggregation");
}

#[test]
fn limits_hold_and_long_chains_are_no_depth() {
    let chain = vec!["[a]"; 2_000].join(" + ");
    check(&chain, &chain);
    let powers = vec!["1"; DEPTH_MAX].join(" ^ ");
    check(&powers, &powers);
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(parse(&nested(DEPTH_MAX - 1)).is_ok());
    let message = "nested more than 64 deep";
    check_error(&nested(DEPTH_MAX), DEPTH_MAX, message);
    check_error(&"-".repeat(60_000), DEPTH_MAX, message);
    let many = vec!["1"; STEPS_MAX / 2 + 1].join("+");
    assert!(parse(&many).is_err_and(|error| error.message.contains("operators and operands")));
    let names: Vec<String> = (0..257).map(|number| format!("[{number}]")).collect();
    assert!(parse(&names.join("+")).is_err_and(|error| error.message.contains("references")));
    let sixty = vec!["1"; 63].join(",");
    let deep = format!("max({sixty},max({sixty},max({sixty},1)))");
    assert!(parse(&deep).is_err_and(|error| error.message.contains(&STACK_MAX.to_string())));
    assert!(parse(&" ".repeat(70_000)).is_err());
}

#[test]
fn the_page_for_users_is_right() {
    let page = include_str!("../../../docs/series/formulas.md");
    for function in Function::ALL {
        assert!(page.contains(&format!("`{}(", function.name())), "{} is described", function.name());
    }
    let (_, examples) = page.split_once("## Examples").expect("examples");
    let (examples, _) = examples.split_once("## Limits").expect("limits");
    let rows = examples.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let formulas: Vec<&str> = rows.filter_map(|line| line.split('`').nth(1)).collect();
    assert!(formulas.len() > 12, "{formulas:?}");
    for formula in formulas {
        assert!(parse(formula).is_ok(), "{formula}");
    }
}

/// Texts of formulas, with parentheses in places where none are needed.
fn formulas() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0.0..1e9_f64).prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| format!("{:e}", number.abs())),
        Just("null".to_owned()),
        ("[a-c]{1,2}", -3_i32..3).prop_map(|(name, slots)| format!("[{name}, {slots}]")),
        "[ -~äß]{1,8}"
            .prop_filter("a name", |name| !name.trim().is_empty())
            .prop_map(|name| format!("[\"{}\",, kWh, max]", name.replace('"', "\"\""))),
    ];
    let operators =
        prop::sample::select(vec!["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "=", "<>", "and", "or"]);
    leaf.prop_recursive(6, 60, 4, move |inner| {
        prop_oneof![
            (inner.clone(), operators.clone(), inner.clone())
                .prop_map(|(left, operator, right)| format!("({left}) {operator} ({right})")),
            inner.clone().prop_map(|operand| format!("(-({operand}))")),
            inner.clone().prop_map(|operand| format!("(not ({operand}))")),
            (inner.clone(), 1..9).prop_map(|(operand, count)| format!("lag({operand}, {count})")),
            prop::collection::vec(inner, 1..4)
                .prop_map(|operands| format!("coalesce({})", operands.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn printing_is_stable(text in formulas()) {
        let formula = parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        let printed = formula.to_string();
        prop_assert_eq!(parse(&printed), Ok(formula.clone()), "{}", printed);
        prop_assert!(printed.len() <= text.len() + formula.steps().len(), "no needless parentheses: {}", printed);
    }

    #[test]
    fn noise_makes_no_panic(text in "[\\[\\]\"0-9a-fxP,.()<>=+*/^ ü-]{0,60}") {
        if let Ok(formula) = parse(&text) {
            prop_assert_eq!(parse(&formula.to_string()), Ok(formula));
        }
    }

    #[test]
    fn any_text_makes_no_panic(text in any::<String>()) {
        let _ = parse(&text);
    }

    /// Formulas with a piece cut out or doubled: nearly right, so that deep parts of the parser are reached.
    #[test]
    fn damaged_formulas_make_no_panic(text in formulas(), from in any::<prop::sample::Index>(), length in 0_usize..9) {
        let characters: Vec<char> = text.chars().collect();
        let from = from.index(characters.len());
        let to = (from + length).min(characters.len());
        let cut: String = characters[..from].iter().chain(&characters[to..]).collect();
        let doubled: String = characters[..to].iter().chain(&characters[from..]).collect();
        for text in [cut, doubled] {
            if let Ok(formula) = parse(&text) {
                prop_assert_eq!(parse(&formula.to_string()), Ok(formula));
            }
        }
    }
}
