//! Entities are found by what they were, living or gone.

use entity::query::{Filter, TypeQuery};
use entity::{Attribute, Draft, Instance, Kind, Operation, ScopeQuery};
use proptest::prelude::*;
use smallvec::smallvec;
use store::{Deadline, Timestamp};

use super::*;
use crate::history::tests::tenant;
use crate::write::{tests::run, tests::store};
use entity::{Comparison, Operand, Path, Scalar};

const SPEED: TermId = TermId(10);
const COLOUR: TermId = TermId(11);

async fn write(entities: &TenantEntities, id: &str, values: &[(TermId, &str)], now: i64) {
    let attributes = values
        .iter()
        .map(|(name, value)| Attribute {
            name: *name,
            instances: smallvec![Instance {
                observed_at: Some(Timestamp(now)),
                ..Instance::new(Kind::Property, *value)
            }],
        })
        .collect();
    let draft = Draft { id: id.into(), types: smallvec![TermId(1)], attributes, ..Draft::default() };
    entities.apply(id, Operation::UpsertUpdate(draft), Timestamp(now)).await.unwrap();
}

fn compare(name: TermId, comparison: Comparison, scalar: Scalar) -> Filter {
    let path =
        Path { attribute: Some(name), members: Vec::new(), meta: None, json: Vec::new(), linked: None };
    Filter::Compare(path, comparison, Operand::Values(smallvec![scalar]))
}

fn typed(filter: Option<Filter>) -> Query {
    Query { types: Some(TypeQuery::Is(Some(TermId(1)))), filter, limit: 100, ..Query::default() }
}

#[track_caller]
fn names(page: &HistoryPage) -> Vec<&str> {
    page.ids.iter().map(|id| id.trim_start_matches("urn:x:")).collect()
}

#[test]
fn entities_are_found_by_what_they_were() {
    run(async {
        let entities = tenant(&store()).await;
        write(&entities, "urn:x:1", &[(SPEED, "10"), (COLOUR, "\"red\"")], 100).await;
        write(&entities, "urn:x:1", &[(SPEED, "90")], 200).await;
        write(&entities, "urn:x:2", &[(SPEED, "50")], 100).await;
        write(&entities, "urn:x:2", &[(SPEED, "20")], 300).await;
        write(&entities, "urn:x:3", &[(SPEED, "95")], 300).await;
        entities.apply("urn:x:3", Operation::Delete, Timestamp(400)).await.unwrap();
        entities.fold_history("urn:x:2").await.unwrap();
        let fast = || Some(compare(SPEED, Comparison::Greater, Scalar::Number(45.0)));
        let find = async |query: Query, span| {
            entities.query_history(&query, TimeProperty::ObservedAt, span).await.unwrap()
        };
        let early = TimeSpan::before(Timestamp(150));
        assert_eq!(names(&find(typed(None), TimeSpan::ALL).await), ["1", "2", "3"]);
        assert_eq!(names(&find(typed(None), early).await), ["1", "2"]);
        assert_eq!(names(&find(typed(None), TimeSpan::after(Timestamp(300))).await), ["2", "3"]);
        assert_eq!(names(&find(typed(None), TimeSpan::after(Timestamp(301))).await), [] as [&str; 0]);
        assert_eq!(names(&find(typed(fast()), TimeSpan::ALL).await), ["1", "2", "3"]);
        assert_eq!(names(&find(typed(fast()), early).await), ["2"]);
        let never_ten = Some(compare(SPEED, Comparison::NotEqual, Scalar::Number(10.0)));
        assert_eq!(names(&find(typed(never_ten), TimeSpan::ALL).await), ["2", "3"]);
        let red = compare(COLOUR, Comparison::Equal, Scalar::Text("red".into()));
        let both = Some(Filter::And(vec![fast().unwrap(), red]));
        assert_eq!(names(&find(typed(both), TimeSpan::ALL).await), ["1"]);
        let coloured = Query { attributes: vec![Some(COLOUR)], ..typed(None) };
        assert_eq!(names(&find(coloured, TimeSpan::ALL).await), ["1"]);
        let page = find(Query { offset: 1, limit: 1, count: true, ..typed(None) }, TimeSpan::ALL).await;
        assert_eq!((names(&page), page.count, page.more), (vec!["2"], Some(3), true));
        let backwards = vec![OrderBy { key: OrderKey::Id, descending: true }];
        let backwards = Query { order: backwards, limit: 2, ..typed(None) };
        let page = find(backwards.clone(), TimeSpan::ALL).await;
        assert_eq!((names(&page), page.count, page.more), (vec!["3", "2"], None, true));
        let page = find(Query { offset: 2, count: true, ..backwards }, TimeSpan::ALL).await;
        assert_eq!((names(&page), page.count, page.more), (vec!["1"], Some(3), false));
        // What conditions look at is of the dataset; what is had may be of any.
        let other = || vec![Some("urn:d:1".into())];
        let coloured = Query { attributes: vec![Some(COLOUR)], datasets: other(), ..typed(None) };
        assert_eq!(names(&find(coloured, TimeSpan::ALL).await), ["1"]);
        let fast_there = Query { datasets: other(), ..typed(fast()) };
        assert_eq!(names(&find(fast_there, TimeSpan::ALL).await), [] as [&str; 0]);
        let named = Query { ids: vec!["urn:x:3".into(), "urn:x:9".into()], limit: 9, ..Query::default() };
        assert_eq!(names(&find(named, TimeSpan::ALL).await), ["3"]);
        let pattern = regex::Regex::new("^urn:x:[23]$").ok();
        let matching = Query { id_pattern: pattern, limit: 9, ..Query::default() };
        assert_eq!(names(&find(matching, TimeSpan::ALL).await), ["2", "3"]);
    });
}

/// Conditions that are met by different values of one attribute, of none, or of links.
const CONDITIONS: [&str; 12] = [
    "a > 5",
    "a < 2",
    "a == 3",
    "a != 3",
    "a",
    "!a",
    "b == 1..4",
    "b != 7",
    "!b",
    "unknown",
    "a.observedAt > 2020-01-01T00:00:00Z",
    "a.unknown != 3",
];

fn conditions() -> impl proptest::strategy::Strategy<Value = Filter> {
    let one = prop::sample::select(CONDITIONS.to_vec()).prop_map(entity::testing::query::filter);
    one.prop_recursive(3, 8, 3, |part| {
        prop_oneof![
            prop::collection::vec(part.clone(), 0..3).prop_map(Filter::And),
            prop::collection::vec(part, 0..3).prop_map(Filter::Or),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((96 * ProptestConfig::default().cases).div_ceil(256)))]

    /// In pieces, entities match as they do whole.
    #[test]
    fn histories_match_in_pieces_as_they_do_whole(
        values in prop::collection::vec((0..2_u32, 0..9_u32, prop::bool::weighted(0.1)), 0..60),
        filters in prop::collection::vec(conditions(), 8),
        (from, to) in (0..60_i64, 0..70_i64),
    ) {
        run(async {
            let entities = tenant(&store()).await;
            let span = TimeSpan { from: Timestamp(from), to: Timestamp(to) };
            let mut whole = Draft { types: smallvec![TermId(1)], ..Draft::default() };
            for (now, (name, value, folds)) in (0_i64..).zip(&values) {
                let (name, value) = (TermId(*name), value.to_string());
                write(&entities, "urn:x:1", &[(name, &value)], now).await;
                if *folds {
                    entities.fold_history("urn:x:1").await.unwrap();
                }
                if !span.contains(Timestamp(now)) {
                    continue;
                }
                let instance =
                    Instance { observed_at: Some(Timestamp(now)), ..Instance::new(Kind::Property, value) };
                match whole.attributes.iter_mut().find(|attribute| attribute.name == name) {
                    Some(attribute) => attribute.instances.push(instance),
                    None => whole.attributes.push(Attribute { name, instances: smallvec![instance] }),
                }
            }
            let stored = entity::encode(&whole, Timestamp(0), Timestamp(0));
            for filter in filters {
                let query = typed(Some(filter));
                let matches = Matcher::new(&query)
                    .matches(&EntityView::parse(&stored).unwrap(), &mut Links::default(), &mut Pace::new(Deadline::default()));
                let expected = matches && !whole.attributes.is_empty();
                let found = entities.query_history(&query, TimeProperty::ObservedAt, span).await.unwrap();
                assert_eq!(!found.ids.is_empty(), expected, "{:?}", query.filter);
            }
        });
    }
}

/// A removal within the span is something of the attribute within the span.
#[test]
fn an_attribute_that_was_removed_was_there() {
    run(async {
        let entities = tenant(&store()).await;
        write(&entities, "urn:x:1", &[(SPEED, "10")], 100).await;
        let removal = Operation::DeleteAttribute { name: SPEED, instances: entity::Instances::Default };
        entities.apply("urn:x:1", removal, Timestamp(200)).await.unwrap();
        let query = Query { attributes: vec![Some(SPEED)], ..typed(None) };
        for time in [TimeProperty::ModifiedAt, TimeProperty::DeletedAt] {
            let late = TimeSpan::after(Timestamp(150));
            let found = entities.query_history(&query, time, late).await.unwrap();
            assert_eq!(names(&found), ["1"]);
        }
    });
}

async fn set_scopes(entities: &TenantEntities, id: &str, scopes: &[&str], now: i64) {
    let operation = match scopes.is_empty() {
        true => Operation::DeleteScopes,
        false => {
            let scopes = Some(scopes.iter().map(|scope| Box::from(*scope)).collect());
            Operation::UpsertUpdate(Draft { scopes, ..Draft::default() })
        }
    };
    entities.apply(id, operation, Timestamp(now)).await.unwrap();
}

/// Scopes hold from the time they were set until they are set anew or removed (4.18), folded or not.
#[test]
fn entities_are_found_by_the_scopes_they_had() {
    run(async {
        let entities = tenant(&store()).await;
        let changes: [(&[&str], i64); 3] = [(&["/a"], 150), (&["/b/c", "/d"], 250), (&[], 350)];
        for (scopes, now) in changes {
            write(&entities, "urn:x:1", &[(SPEED, "1")], now - 50).await;
            set_scopes(&entities, "urn:x:1", scopes, now).await;
        }
        write(&entities, "urn:x:1", &[(SPEED, "1")], 400).await;
        let scope = |text: &str| {
            let levels = text.split('/').skip(1).map(Box::from).collect();
            Query { scopes: Some(ScopeQuery::Matches(levels)), ..typed(None) }
        };
        let between = |from, to| TimeSpan::between(Timestamp(from), Timestamp(to));
        for _ in 0..2 {
            for time in [TimeProperty::ObservedAt, TimeProperty::ModifiedAt] {
                for (text, span, expected) in [
                    ("/a", TimeSpan::ALL, true),
                    ("/a", between(0, 460), true),
                    ("/a", between(249, 460), true),
                    // Others were set at that very time.
                    ("/a", between(250, 460), false),
                    ("/d", between(250, 460), true),
                    ("/a", between(390, 460), false),
                    ("/b/#", between(390, 460), false),
                    ("/d", TimeSpan::ALL, true),
                    ("/b/+", TimeSpan::ALL, true),
                    ("/c", TimeSpan::ALL, false),
                ] {
                    let found = entities.query_history(&scope(text), time, span).await.unwrap();
                    assert_eq!(!found.ids.is_empty(), expected, "{text} {span:?} {time:?}");
                }
            }
            entities.fold_history("urn:x:1").await.unwrap();
        }
        // The scope that was set before the span holds at its begin.
        write(&entities, "urn:x:1", &[(SPEED, "1")], 1000).await;
        set_scopes(&entities, "urn:x:1", &["/e"], 1010).await;
        write(&entities, "urn:x:1", &[(SPEED, "1")], 1100).await;
        for (span, expected) in [(between(1050, 1200), 1), (between(900, 1005), 0)] {
            let found = entities.query_history(&scope("/e"), TimeProperty::ObservedAt, span).await.unwrap();
            assert_eq!(found.ids.len(), expected, "{span:?}");
        }
    });
}

/// A history that is written knows the scopes that are written with it; that of an entity gone, those it had.
#[test]
fn scopes_are_written_into_the_history() {
    run(async {
        let entities = tenant(&store()).await;
        let of = |name, value: &str, at| {
            let instance =
                Instance { observed_at: Some(Timestamp(at)), ..Instance::new(Kind::Property, value) };
            Attribute { name, instances: smallvec![instance] }
        };
        let attributes = vec![of(SPEED, "1", 100), of(TermId::SCOPE, "\"/a\"", 90)];
        let draft = Draft { types: smallvec![TermId(1)], attributes, ..Draft::default() };
        entities.write_history("urn:x:1", &draft, Timestamp(5000)).await.unwrap();
        let find = async |name: &str, span| {
            let query = Query { scopes: Some(ScopeQuery::Matches(vec![name.into()])), ..typed(None) };
            entities.query_history(&query, TimeProperty::ObservedAt, span).await.unwrap().ids.len()
        };
        assert_eq!(find("a", TimeSpan::between(Timestamp(95), Timestamp(200))).await, 1);
        assert_eq!(find("a", TimeSpan::before(Timestamp(80))).await, 0);
        assert_eq!(find("b", TimeSpan::ALL).await, 0);
    });
}
