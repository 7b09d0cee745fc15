use super::*;

fn unit(name: &str, base: Option<&str>, factor: f64, integral: Option<&str>) -> Unit {
    Unit {
        name: name.into(),
        base: base.map(Into::into),
        offset: 0.0,
        factor,
        integral: integral.map(Into::into),
        aggregation: if integral.is_some() { UnitRule::Average } else { UnitRule::Sum },
    }
}

fn units() -> Units {
    let celsius = Unit { offset: 273.15, ..unit("°C", Some("K"), 1.0, None) };
    let fahrenheit = Unit { offset: -32.0, ..unit("°F", Some("°C"), 5.0 / 9.0, None) };
    Units::new([
        unit("W", None, 1.0, Some("Wh")),
        unit("kW", Some("W"), 1_000.0, Some("kWh")),
        unit("MW", Some("kW"), 1_000.0, None),
        unit("Wh", None, 1.0, None),
        unit("kWh", Some("Wh"), 1_000.0, None),
        unit("MWh", Some("kWh"), 1_000.0, None),
        unit("mWh", Some("Wh"), 0.001, None),
        unit("m³", None, 1.0, None),
        unit("K", None, 1.0, None),
        celsius,
        fahrenheit,
    ])
}

#[track_caller]
fn check(from: &str, to: &str, length: i64, cases: &[(f64, f64)]) {
    let units = units();
    let (forth, back) = (units.conversion(from, to).unwrap(), units.conversion(to, from).unwrap());
    for (value, expected) in cases {
        assert_eq!(forth.apply(*value, length), *expected, "{value} {from} in {to}");
        assert_eq!(back.apply(*expected, length), *value, "{expected} {to} in {from}");
    }
}

#[test]
fn goes_through_bases_both_ways() {
    check("kW", "W", HOUR, &[(1.5, 1_500.0), (0.001, 1.0), (-0.3, -300.0)]);
    check("MW", "W", HOUR, &[(0.0015, 1_500.0), (1.234_567, 1_234_567.0)]);
    check("mWh", "kWh", HOUR, &[(1_500_000.0, 1.5), (100_000.0, 0.1)]);
    check("°C", "K", HOUR, &[(0.0, 273.15), (20.0, 293.15)]);
    let units = units();
    let boiling = units.conversion("°F", "K").unwrap().apply(212.0, HOUR);
    assert!((boiling - 373.15).abs() < 1e-9, "{boiling}");
}

#[test]
fn multiplies_by_the_hours_of_the_slot() {
    check("kW", "kWh", HOUR / 4, &[(4.0, 1.0), (0.3, 0.075)]);
    check("kW", "kWh", HOUR / 12, &[(6.0, 0.5), (3.0, 0.25)]);
    check("kW", "kWh", 23 * HOUR, &[(2.0, 46.0)]);
    check("kW", "kWh", 25 * HOUR, &[(2.0, 50.0)]);
    check("MW", "kWh", HOUR / 4, &[(1.0, 250.0)]);
    check("kW", "MWh", HOUR, &[(1_500.0, 1.5)]);
    check("W", "MWh", 24 * HOUR, &[(1_000_000.0, 24.0)]);
}

#[test]
fn refuses_what_has_no_way() {
    let units = units();
    assert!(matches!(units.conversion("kW", "furlong"), Err(Error::NotFound(_))));
    assert!(matches!(units.conversion("kW", "m³"), Err(Error::Invalid(_))));
    assert!(units.conversion("kW", "kW").unwrap().is_identity());
}

#[test]
fn refuses_circles_and_keeps_what_was() {
    let mut units = units();
    let error = units.insert(unit("W", Some("MW"), 1.0, None)).unwrap_err();
    assert!(error.to_string().contains("defined by itself"), "{error}");
    assert_eq!(units.conversion("MW", "W").unwrap().apply(1.0, HOUR), 1e6);
    assert!(matches!(units.insert(unit("GW", Some("TW"), 1.0, None)), Err(Error::NotFound(_))));
    assert!(matches!(units.insert(unit("GW", Some("MW"), 0.0, None)), Err(Error::Invalid(_))));
    assert!(units.get("GW").is_err());
    let direct = Units::new([
        unit("a", Some("b"), 1.0, None),
        unit("b", Some("a"), 1.0, None),
        unit("c", None, 1.0, None),
    ]);
    assert!(matches!(direct.conversion("a", "c"), Err(Error::Invalid(_))));
    let chain = (0..=UNIT_BASES_MAX + 1).map(|place| {
        let base = place.checked_sub(1).map(|before| format!("u{before}"));
        unit(&format!("u{place}"), base.as_deref(), 1.0, None)
    });
    let chain = Units::new(chain);
    assert!(chain.conversion(&format!("u{UNIT_BASES_MAX}"), "u0").is_ok());
    assert!(matches!(chain.conversion(&format!("u{}", UNIT_BASES_MAX + 1), "u0"), Err(Error::Limit { .. })));
}

#[test]
fn what_is_left_for_later_comes_to_the_same() {
    use Aggregation::{Average, Count, First, Last, Maximum, Minimum, Sum, TimeWeightedMean};
    let minus = Unit { name: "-W".into(), ..unit("", Some("W"), -1.0, None) };
    let mut units = units();
    units.insert(minus).unwrap();
    let put_together = |how, values: [f64; 2]| match how {
        Sum => values[0] + values[1],
        Minimum => values[0].min(values[1]),
        Maximum => values[0].max(values[1]),
        First => values[0],
        Last => values[1],
        Count => 2.0,
        Average | TimeWeightedMean => (values[0] + values[1]) / 2.0,
    };
    for (from, to) in [("kW", "MWh"), ("MWh", "kW"), ("kW", "W"), ("°C", "K"), ("°F", "°C"), ("-W", "kWh")]
    {
        let conversion = units.conversion(from, to).unwrap();
        for how in [Sum, Average, Minimum, Maximum, First, Last, Count, TimeWeightedMean] {
            let (before, after) = conversion.around(how);
            let expected = put_together(how, [3.0, 5.0].map(|value| conversion.apply(value, HOUR / 4)));
            let early = put_together(how, [3.0, 5.0].map(|value| before.apply(value, HOUR / 4)));
            let actual = after.apply(early, HOUR / 2);
            assert!((actual - expected).abs() < 1e-9, "{from} {to} {how:?}: {actual}, expected {expected}");
        }
    }
}

/// As HAKOM has it.
#[test]
fn offsets_are_added_before_the_factor() {
    let fahrenheit = Unit { offset: -32.0, ..unit("F", Some("C"), 0.5556, None) };
    let units = Units::new([unit("C", None, 1.0, None), fahrenheit]);
    let forth = units.conversion("F", "C").unwrap();
    assert_eq!(forth.apply(68.0, HOUR), 36.0 * 0.5556);
    assert_eq!(forth.apply(32.0, HOUR), 0.0);
    assert!((forth.apply(68.0, HOUR) - 20.0).abs() < 0.01);
    let back = units.conversion("C", "F").unwrap();
    assert!((back.apply(forth.apply(451.0, HOUR), HOUR) - 451.0).abs() < 1e-9);
}

#[test]
fn refuses_units_that_contradict_themselves() {
    let mut units = Units::new([unit("kWh", None, 1.0, None)]);
    let refused = |outcome: Result<(), Error>| {
        let error = outcome.expect_err("a contradiction");
        assert!(matches!(error, Error::Invalid(_)), "{error}");
        error.to_string()
    };
    assert!(refused(units.insert(unit("kW", Some("kWh"), 1.0, Some("kWh")))).contains("kWh"));
    assert!(units.get("kW").is_err());
    // Also where the contradiction comes with a later base, or lies further away.
    units.insert(unit("kW", None, 1.0, Some("kWh"))).unwrap();
    units.insert(unit("MW", Some("kW"), 1_000.0, None)).unwrap();
    refused(units.insert(unit("kWh", Some("MW"), 1.0, None)));
    refused(units.insert(unit("kWh", None, 1.0, Some("MW"))));
    refused(units.insert(unit("kW", None, 1.0, Some("kW"))));
    // What was there has stayed, and what is sound is taken.
    assert_eq!(units.conversion("MW", "kWh").unwrap().apply(1.0, HOUR), 1_000.0);
    units.insert(unit("MWh", Some("kWh"), 1_000.0, None)).unwrap();
    units.insert(unit("MW", Some("kW"), 1_000.0, Some("MWh"))).unwrap();
}

/// Families of units, each the integral of the one before, in chains of bases: the last, which leads back to the first, is
/// refused, as is one unit too many. Each unit was compared with each other: the last unit alone took seconds.
#[test]
fn as_many_units_as_there_may_be_are_checked_at_once() {
    let (families, members) = (UNITS_MAX / 8, 8);
    let name = |family: usize, member: usize| format!("u{family}.{member}");
    let member_of = |family: usize, member: usize| {
        let base = member.checked_sub(1).map(|before| name(family, before));
        let integral = (family > 0).then(|| name(family - 1, member));
        unit(&name(family, member), base.as_deref(), 10.0, integral.as_deref())
    };
    let all = (0..families).flat_map(|family| (0..members).map(move |member| (family, member)));
    let mut units = Units::new(all.map(|(family, member)| member_of(family, member)));
    for member in 0..members {
        units.insert(member_of(families / 2, member)).unwrap();
    }
    let first = unit(&name(0, 0), None, 1.0, Some(&name(families - 1, 5)));
    let error = units.insert(first).unwrap_err();
    assert!(error.to_string().contains("leads back"), "{error}");
    assert_eq!(units.get(&name(0, 0)).unwrap().integral, None);
    let error = units.insert(unit("one more", None, 1.0, None)).unwrap_err();
    assert!(matches!(&error, Error::Limit { limit, .. } if limit.name == "UNITS_MAX"), "{error}");
    assert!(units.get("one more").is_err());
}
