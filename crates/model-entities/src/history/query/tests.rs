//! Entities are found by what they were, living or gone.

use smallvec::smallvec;
use store::Timestamp;

use super::*;
use crate::history::tests::tenant;
use crate::query::{Comparison, Filter, Operand, Path, Scalar};
use crate::write::tests::{run, store};
use crate::{Attribute, Draft, Instance, Kind, Operation};

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
        assert_eq!(names(&find(typed(None), TimeSpan::after(Timestamp(300))).await), [] as [&str; 0]);
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
        let named = Query { ids: vec!["urn:x:3".into(), "urn:x:9".into()], limit: 9, ..Query::default() };
        assert_eq!(names(&find(named, TimeSpan::ALL).await), ["3"]);
        let pattern = regex::Regex::new("^urn:x:[23]$").ok();
        let matching = Query { id_pattern: pattern, limit: 9, ..Query::default() };
        assert_eq!(names(&find(matching, TimeSpan::ALL).await), ["2", "3"]);
    });
}
