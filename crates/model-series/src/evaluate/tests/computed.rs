//! Computed reads against the oracle: formulas put down by hand, slot by slot, and read like a series that holds what they come to.

use super::against::{assert_rows, range_of, request_of};
use super::oracle::{Calendar, Question, Series, UnitName, Written};
use super::*;
use crate::evaluate::reader::Sizes;

/// What the operands hold, by the number of an hour: `a` itself, of `b` its day's.
struct Held {
    a: BTreeMap<i64, f64>,
    b: BTreeMap<i64, f64>,
}

/// A formula, which hours its references look at, and what it comes to.
struct ByHand {
    formula: &'static str,
    looks_at: fn(&Held, i64) -> bool,
    value: fn(&Held, i64) -> Option<f64>,
}

impl Held {
    fn a(&self, hour: i64) -> Option<f64> {
        self.a.get(&hour).copied()
    }

    fn b(&self, hour: i64) -> Option<f64> {
        self.b.get(&hour).copied()
    }

    /// The values of `a` of so many hours, this one the last.
    fn window(&self, hour: i64, count: i64) -> Vec<f64> {
        (hour - count + 1..=hour).filter_map(|hour| self.a(hour)).collect()
    }
}

const BY_HAND: [ByHand; 9] = [
    ByHand {
        formula: "[a] + 1",
        looks_at: |held, hour| held.a(hour).is_some(),
        value: |held, hour| Some(held.a(hour)? + 1.0),
    },
    ByHand {
        formula: "[a, 5] - [b]",
        looks_at: |held, hour| held.a(hour + 5).or(held.b(hour)).is_some(),
        value: |held, hour| Some(held.a(hour + 5)? - held.b(hour)?),
    },
    ByHand {
        formula: "lag([a], 30)",
        looks_at: |held, hour| held.a(hour).is_some(),
        value: |held, hour| held.a(hour - 30),
    },
    ByHand {
        formula: "lead([b], 26) + [a, -PT3H]",
        looks_at: |held, hour| held.b(hour).or(held.a(hour - 3)).is_some(),
        value: |held, hour| Some(held.b(hour + 26)? + held.a(hour - 3)?),
    },
    ByHand {
        formula: "movingsum([a], 9)",
        looks_at: |held, hour| held.a(hour).is_some(),
        value: |held, hour| {
            Some(held.window(hour, 9).iter().sum()).filter(|_| !held.window(hour, 9).is_empty())
        },
    },
    ByHand {
        formula: "movingmax([a, 2], 70)",
        looks_at: |held, hour| held.a(hour + 2).is_some(),
        value: |held, hour| held.window(hour + 2, 70).into_iter().reduce(f64::max),
    },
    ByHand {
        formula: "coalesce([a], [b], 3)",
        looks_at: |_, _| true,
        value: |held, hour| held.a(hour).or(held.b(hour)).or(Some(3.0)),
    },
    ByHand {
        formula: "isnull([a, 40])",
        looks_at: |_, _| true,
        value: |held, hour| Some(if held.a(hour + 40).is_none() { 1.0 } else { 0.0 }),
    },
    ByHand {
        formula: "lag(coalesce([a], lead([b], 12)), 4)",
        looks_at: |held, hour| held.a(hour).or(held.b(hour)).is_some(),
        value: |held, hour| held.a(hour - 4).or(held.b(hour + 8)),
    },
];

/// The hours of the answers, and of what they may be filled from.
const HOURS_TOLD: i64 = 500;
const HOURS_AROUND: i64 = 110 * 24;

fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.div_ceil(8), ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn computed_reads_are_those_of_the_oracle(
        hours in prop::collection::btree_map(-60..HOURS_TOLD + 60, -40..40_i32, 0..40),
        days in prop::collection::btree_map(-3..25_i64, -40..40_i32, 0..4),
        number in 0..BY_HAND.len(),
        interval in prop::sample::select(vec![
            None,
            Some(Interval::new(IntervalUnit::Minute, 20)),
            Some(HOURS),
            Some(Interval::new(IntervalUnit::Hour, 5)),
            Some(Interval::new(IntervalUnit::Day, 1)),
        ]),
        gaps in prop::sample::select(vec![Gaps::None, Gaps::Null, Gaps::Previous, Gaps::Linear]),
        aggregation in prop::sample::select(vec![None, Some(Aggregation::Sum), Some(Aggregation::Last), Some(Aggregation::Count)]),
        ends in (0..HOURS_TOLD, 1..200_i64),
        sizes in (1..50_u64, 1..50_usize, 1..50_usize, 1..50_usize),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let repository = repository().await;
            let start = at("2026-03-20T00:00:00+01:00");
            let days_of = Interval::new(IntervalUnit::Day, 1);
            let a = define(&repository, draft("a", Alignment::Begin, Some(HOURS), "kW")).await;
            let b = define(&repository, draft("b", Alignment::End, Some(days_of), "kW")).await;
            let rows: Vec<_> = hours.iter().map(|(hour, value)| (start + hour * HOUR, f64::from(*value))).collect();
            write(&repository, &a, None, points(&rows), NOW).await;
            let calendar = Calendar::new("Europe/Berlin", 0);
            let slots = calendar.slots(days_of, (start - 20 * DAY, start + 60 * DAY));
            let first = slots.iter().position(|slot| slot.0 == start).unwrap();
            let mut held = Held { a: hours.iter().map(|(hour, value)| (*hour, f64::from(*value))).collect(), b: BTreeMap::new() };
            let mut rows = Vec::new();
            for (day, value) in &days {
                let slot = slots[usize::try_from(i64::try_from(first).unwrap() + day).unwrap()];
                rows.push((slot.1, f64::from(*value)));
                held.b.extend(((slot.0 - start) / HOUR..(slot.1 - start) / HOUR).map(|hour| (hour, f64::from(*value))));
            }
            write(&repository, &b, None, points(&rows), NOW).await;
            let ByHand { formula, looks_at, value } = &BY_HAND[number];
            let f = define(&repository, computed("f", HOURS, "kW", formula)).await;
            let put = (-HOURS_AROUND..HOURS_TOLD + HOURS_AROUND).filter_map(|hour| {
                let value = value(&held, hour);
                let is_told = value.is_some() || looks_at(&held, hour);
                is_told.then(|| (start + hour * HOUR, (value, if value.is_some() { VALID } else { MISSING })))
            });
            let (alignment, unit, written) = (Alignment::Begin, UnitName::KiloWatt, vec![Written::Put(put.collect())]);
            let series = Series { alignment, interval: Some(HOURS), calendar: calendar.clone(), unit, written };
            let from = start + ends.0 * HOUR;
            let question = Question {
                interval,
                calendar,
                unit: None,
                aggregation,
                gaps,
                writes: None,
                from: Some(from),
                to: Some(from + ends.1 * HOUR),
            };
            let expected = series.read(&question);
            let (request, range) = (request_of(&question), range_of(&question));
            let whole = repository.reader(request.clone()).await.unwrap();
            let mut parted = repository.reader(request).await.unwrap();
            parted.sizes = Sizes { piece_slots: sizes.0, search_points: sizes.1, page_points: sizes.2 };
            let what = (formula, &question, sizes);
            assert_rows(&whole.read(&f, range).await.unwrap(), &expected, &what);
            assert_rows(&parted.read(&f, range).await.unwrap(), &expected, &what);
            assert_rows(&paged(&parted, &f, range, sizes.3).await, &expected, &what);
            let total = Arc::new(parted).total_pages(std::slice::from_ref(&f), range, 1).await.unwrap();
            let (mut total, mut found) = (total.in_pages_of(sizes.3), Points::default());
            while let Some(page) = total.next().await.unwrap() {
                found.extend_from_range(&page, 0..page.len());
            }
            let expected = oracle::sum(&[expected]);
            assert_rows(&found, &expected, &what);
        });
    }
}
