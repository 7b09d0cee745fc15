use super::*;
use crate::{Duration, RefusalKind, Switches, Zone};

#[tokio::test]
async fn what_is_defined_is_found_by_name_and_number() {
    let repository = repository().await;
    let whole = DefinitionDraft {
        name: "Load North".into(),
        alignment: Alignment::End,
        interval: Some(Interval::new(IntervalUnit::Day, 1)),
        day_start_seconds: 6 * 3_600,
        unit: Some("kWh".into()),
        description: "gas day".into(),
        zone: Some(Zone::get("Europe/Vienna").expect("a zone")),
        formula: None,
        switches: Switches { compression: false, audit: true, quotation: true },
        retention: Duration::parse("P2Y"),
        attributes: vec![
            node("Europe/Austria"),
            text("Tag", "a"),
            text("Tag", "b"),
            Attribute {
                name: "Since".into(),
                value: AttributeValue::Date(jiff::civil::date(2020, 2, 29)),
                from: Some(START),
                to: Some(START + 1),
            },
            Attribute {
                name: "Critical".into(),
                value: AttributeValue::YesOrNo(true),
                from: None,
                to: Some(-1),
            },
        ],
    };
    let defined = define(&repository, whole.clone()).await;
    assert_eq!(defined.to_draft(), whole);
    assert_eq!((defined.created, defined.changed), (NOW, NOW));
    assert_eq!(defined.raster.as_ref().map(|raster| raster.day_start_seconds()), Some(21_600));
    let found = repository
        .find_many(&[SeriesRef::Id(defined.number), SeriesRef::Name("nobody"), SeriesRef::Name("Load North")])
        .await
        .expect("found");
    assert_eq!(found, [Some(defined.clone()), None, Some(defined.clone())]);
    // A second look-up decodes nothing.
    let again = find(&repository, "Load North").await;
    assert!(Arc::ptr_eq(found[2].as_ref().expect("there"), &again));
    assert_eq!(refusal(repository.find(SeriesRef::Id(1)).await), "series 1 is not known");
}

#[tokio::test]
async fn definitions_are_read_from_the_store_by_another_process() {
    let store = memory();
    let first = repositories(&store).get_or_create("default", NOW).await.expect("made");
    furnish(&first).await;
    let defined = define(&first, computed("Sum", "1 + 1")).await;
    let second = repositories(&store).get("default").await.expect("there");
    assert_eq!(find(&second, "Sum").await, defined);
    assert_eq!(second.tenant().name(), "default");
}

#[tokio::test]
async fn drafts_are_checked_one_by_one() {
    let repository = repository().await;
    let check = async |draft: DefinitionDraft, expected: &str| {
        assert_eq!(refusal(repository.define(vec![draft], NOW).await), expected);
    };
    define(&repository, draft("a")).await;
    check(draft("a"), "series a exists already").await;
    check(draft(""), "the name of a series has 1 to 255 bytes").await;
    let message = "the name of a series has no control characters, and no space at its ends: `a\\n`";
    check(draft("a\n"), message).await;
    let spontaneous = DefinitionDraft::new("b", Alignment::Spontaneous, Some(QUARTER));
    check(spontaneous, "a spontaneous series has no interval").await;
    let periodic = DefinitionDraft::new("b", Alignment::End, None);
    check(periodic, "a series that is not spontaneous has an interval").await;
    check(DefinitionDraft { unit: Some("MW".into()), ..draft("b") }, "unit MW is not known").await;
    let attributed = |attributes| DefinitionDraft { attributes, ..draft("b") };
    check(attributed(vec![text("Colour", "red")]), "attribute type Colour is not known").await;
    check(attributed(vec![text("Class", "A")]), "attribute Class is of kind Category, not Text").await;
    check(attributed(vec![node("Europe/Aus")]), "attribute Region has no node Europe/Aus").await;
    check(
        attributed(vec![node("Europe"), node("Europe/Italy")]),
        "attribute Region has two values at a time",
    )
    .await;
    check(
        attributed(vec![text("Tag", "a"), text("Tag", "a")]),
        "attribute Tag has this value twice at a time",
    )
    .await;
    let parent = Attribute { name: "Parent".into(), value: AttributeValue::Series(7), from: None, to: None };
    check(attributed(vec![parent]), "7 is not known").await;
    let backwards = Attribute { from: Some(2), to: Some(2), ..text("Tag", "a") };
    check(attributed(vec![backwards]), "attribute Tag ends before it begins").await;
    let mut audited = computed("b", "1");
    audited.switches.audit = true;
    check(audited, "a series with a formula is not audited").await;
    check(
        computed("b", "1 +"),
        "formula, position 3: expected a number, a series in brackets, a function or `(`, found the end",
    )
    .await;
    check(computed("b", "[nobody]"), "series nobody of a formula is not known").await;
    check(computed("b", "[a,, MW]"), "unit MW is not known").await;
    check(computed("b", "[a] + [b]"), "the formula goes in a circle: b -> b").await;
}

#[tokio::test]
async fn a_batch_is_stored_whole_or_refused_with_every_position() {
    let repository = repository().await;
    define(&repository, draft("taken")).await;
    let drafts = vec![
        draft("x"),
        draft("taken"),
        draft("x"),
        DefinitionDraft { unit: Some("?".into()), ..draft("y") },
    ];
    let Err(Error::Refused(refusals)) = repository.define(drafts, NOW).await else {
        panic!("refused");
    };
    let told: Vec<_> = refusals.iter().map(|one| (one.place, &*one.series, one.kind)).collect();
    assert_eq!(
        told,
        [
            (1, "taken", RefusalKind::AlreadyExists),
            (2, "x", RefusalKind::AlreadyExists),
            (3, "y", RefusalKind::NotFound)
        ]
    );
    assert_eq!(repository.find_many(&[SeriesRef::Name("x")]).await.expect("looked up"), [None]);
    let names: Vec<String> = (0..1_000).map(|number| format!("series {number}")).collect();
    let defined =
        repository.define(names.iter().map(|name| draft(name)).collect(), NOW).await.expect("defined");
    assert!(names.iter().zip(&defined).all(|(name, one)| **name == *one.name));
    let wanted: Vec<SeriesRef<'_>> = names.iter().map(|name| SeriesRef::Name(name)).collect();
    let found = repository.find_many(&wanted).await.expect("found");
    assert_eq!(found.into_iter().flatten().collect::<Vec<_>>(), defined);
}

#[tokio::test]
async fn as_many_as_one_commit_takes_are_defined_at_once() {
    let repository = repository().await;
    let unit = Some("kWh".into());
    let mut drafts: Vec<_> = (0..crate::DRAFTS_MAX)
        .map(|number| DefinitionDraft { unit: unit.clone(), ..draft(&format!("meter {number}")) })
        .collect();
    let defined = repository.define(drafts.clone(), NOW).await.expect("defined");
    assert_eq!(find(&repository, "meter 9999").await, defined[9_999]);
    drafts.push(draft("one more"));
    let message = "series that are defined at once: 10001, at most 10000 are allowed (DRAFTS_MAX)";
    assert_eq!(refusal(repository.define(drafts, NOW).await), message);
    assert_eq!(repository.define(Vec::new(), NOW).await.expect("nothing to do"), []);
}

#[tokio::test]
async fn definitions_that_one_commit_does_not_take_are_defined_together() {
    let repository = repository().await;
    let large = |number: u32| {
        let value = |tag: u32| text("Tag", &format!("{tag} {}", "x".repeat(4_000)));
        DefinitionDraft { attributes: (0..100).map(value).collect(), ..draft(&format!("large {number}")) }
    };
    let defined = repository.define((0..30).map(large).collect(), NOW).await.expect("defined");
    assert_eq!(find(&repository, "large 29").await, defined[29]);
    // Rows are counted too: each attribute has some.
    let tagged = |number: u32| DefinitionDraft {
        attributes: (0..20).map(|tag| text("Tag", &format!("{tag}"))).collect(),
        ..draft(&format!("tagged {number}"))
    };
    let defined = repository.define((0..5_000).map(tagged).collect(), NOW).await.expect("defined");
    assert_eq!(find(&repository, "tagged 4999").await, defined[4_999]);
    let refused = refusal(repository.define((30..120).map(large).collect(), NOW).await);
    assert!(refused.starts_with("90 series defined at once: "), "{refused}");
    assert!(refused.ends_with("at most 67108864 are allowed (INTENT_BYTES_MAX)"), "{refused}");
    assert_eq!(repository.find_many(&[SeriesRef::Name("large 30")]).await.expect("looked up"), [None]);
}

#[tokio::test]
async fn formulas_may_refer_to_what_is_defined_with_them() {
    let repository = repository().await;
    let drafts = vec![computed("top", "[middle] * 2"), computed("middle", "[base] + 1"), draft("base")];
    let defined = repository.define(drafts, NOW).await.expect("defined");
    assert_eq!(defined.iter().map(|one| &*one.name).collect::<Vec<_>>(), ["top", "middle", "base"]);
    let users = repository.users(defined[2].number).await.expect("users");
    assert_eq!(users.iter().map(|one| &*one.name).collect::<Vec<_>>(), ["middle"]);
    let circle = vec![computed("p", "[q]"), computed("q", "[r]"), computed("r", "[p]")];
    let refused = refusal(repository.define(circle, NOW).await);
    assert_eq!(refused, "series p: the formula goes in a circle: p -> q -> r -> p (and 2 more)");
}

#[tokio::test]
async fn towers_of_formulas_end() {
    let repository = repository().await;
    define(&repository, draft("0")).await;
    for depth in 1..=crate::FORMULA_DEPTH_MAX {
        define(&repository, computed(&depth.to_string(), &format!("[{}]", depth - 1))).await;
    }
    let next = computed("next", &format!("[{}]", crate::FORMULA_DEPTH_MAX));
    let message = "depth of formulas on formulas: 17, at most 16 are allowed (FORMULA_DEPTH_MAX)";
    assert_eq!(refusal(repository.define(vec![next], NOW).await), message);
    // Not from below either.
    define(&repository, draft("ground")).await;
    let change = crate::DefinitionChange { formula: Some(Some("[ground]".into())), ..Default::default() };
    assert_eq!(refusal(repository.change(SeriesRef::Name("0"), change, NOW).await), message);
}

#[tokio::test]
async fn numbers_that_are_taken_are_passed_over() {
    let repository = repository().await;
    // Two names of one home number, found by search.
    let home = crate::keys::home_number;
    let mut seen = std::collections::HashMap::new();
    let (one, other) = (0..)
        .find_map(|number| seen.insert(home(&format!("n{number}")), number).map(|before| (before, number)))
        .expect("a collision");
    let (one, other) = (format!("n{one}"), format!("n{other}"));
    let defined = repository.define(vec![draft(&one), draft(&other)], NOW).await.expect("defined");
    assert_eq!(defined[0].number, home(&one));
    assert_eq!(defined[1].number, home(&one).wrapping_add(1));
    for (name, expected) in [(&one, &defined[0]), (&other, &defined[1])] {
        assert_eq!(find(&repository, name).await, *expected);
    }
    repository.remove(SeriesRef::Name(&one), NOW).await.expect("removed");
    assert_eq!(find(&repository, &other).await, defined[1]);
    assert_eq!(refusal(repository.find(SeriesRef::Name(&one)).await), format!("series {one} is not known"));
    // The number of what was removed is not given again at once.
    assert_eq!(define(&repository, draft(&one)).await.number, home(&one).wrapping_add(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_writers_of_one_name_one_wins() {
    let repository = repository().await;
    for round in 0..50 {
        let name = format!("race {round}");
        let racers = (0..4).map(|_| {
            let (repository, draft) = (repository.clone(), draft(&name));
            tokio::spawn(async move { repository.define(vec![draft], NOW).await })
        });
        let mut won = Vec::new();
        for racer in racers.collect::<Vec<_>>() {
            match racer.await.expect("no panic") {
                Ok(defined) => won.extend(defined),
                Err(error) => assert!(matches!(error, Error::AlreadyExists(_)), "{error}"),
            }
        }
        assert_eq!(won.len(), 1, "{name}");
        assert_eq!(find(&repository, &name).await, won[0]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_writers_of_many_one_stores_all_and_the_other_nothing() {
    let repository = repository().await;
    define(&repository, draft("ground")).await;
    for round in 0..10 {
        // Both want the same name, each among others of its own; some are computed from those beside them.
        let batch = |writer: usize| -> Vec<DefinitionDraft> {
            (0..600)
                .map(|number| match number {
                    _ if number == 100 + 300 * writer => draft(&format!("wanted {round}")),
                    _ if number % 50 == 7 => {
                        let formula = format!("[ground] + [{round} {writer} {}]", number - 1);
                        computed(&format!("{round} {writer} {number}"), &formula)
                    }
                    _ => draft(&format!("{round} {writer} {number}")),
                })
                .collect()
        };
        let racers = [0, 1].map(|writer| {
            let (repository, drafts) = (repository.clone(), batch(writer));
            tokio::spawn(async move { repository.define(drafts, NOW).await })
        });
        let mut won = Vec::new();
        for (writer, racer) in racers.into_iter().enumerate() {
            let outcome = racer.await.expect("no panic");
            let names: Vec<_> = batch(writer).into_iter().map(|draft| draft.name).collect();
            let refs: Vec<_> = names.iter().map(|name| SeriesRef::Name(name)).collect();
            let found = repository.find_many(&refs).await.expect("looked up");
            match outcome {
                Ok(defined) => {
                    assert_eq!(found.into_iter().flatten().collect::<Vec<_>>(), defined);
                    won.push(writer);
                }
                Err(Error::Refused(refusals)) => {
                    assert!(refusals.iter().all(|one| one.kind == RefusalKind::AlreadyExists));
                    assert_eq!(
                        refusals.iter().map(|one| one.place).collect::<Vec<_>>(),
                        [100 + 300 * writer]
                    );
                    // The one that is there is the other's.
                    assert_eq!(found.iter().flatten().count(), 1);
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(won.len(), 1, "{round}");
        let users = repository.users(find(&repository, "ground").await.number).await.expect("users");
        assert_eq!(users.len(), 12 * (round + 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_formulas_that_close_a_circle_one_is_refused() {
    let repository = repository().await;
    for round in 0..30 {
        let (one, other) = (format!("one {round}"), format!("other {round}"));
        repository.define(vec![draft(&one), draft(&other)], NOW).await.expect("defined");
        let racers = [(one.clone(), other.clone()), (other.clone(), one.clone())].map(|(name, operand)| {
            let repository = repository.clone();
            tokio::spawn(async move {
                let formula = Some(Some(format!("[{operand}]").into()));
                let change = crate::DefinitionChange { formula, ..Default::default() };
                repository.change(SeriesRef::Name(&name), change, NOW).await
            })
        });
        let mut refused = 0;
        for racer in racers {
            if let Err(error) = racer.await.expect("no panic") {
                assert!(error.to_string().starts_with("the formula goes in a circle"), "{error}");
                refused += 1;
            }
        }
        assert_eq!(refused, 1);
    }
}
