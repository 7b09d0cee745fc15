use lang_cps_path::CompositeQuery;

use crate::Depth;
use crate::query::{CompositeEvaluation, Progress, QueryError};
use crate::shop::Shop;

fn query(path: &str, operator: &str, conditions: Vec<CompositeQuery>) -> CompositeQuery {
    CompositeQuery::new(path, Some(operator), conditions).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn leaf(path: &str) -> CompositeQuery {
    query(path, "", Vec::new())
}

/// The uids of the bases, and of what is selected.
#[track_caller]
fn check(query: &CompositeQuery, depth: Depth, bases: &[&str], selected: Option<&[&str]>) {
    let shop = Shop::sample();
    for steps in [u64::MAX, 1] {
        let mut evaluation =
            CompositeEvaluation::new(&shop.schema, query, depth, 100).expect("paths that can be asked");
        while evaluation.run(&shop.tree(), steps).expect("no page is missing") == Progress::More {}
        let answer = evaluation.into_answer();
        let uids = |labels: &[crate::Label]| labels.iter().map(|label| shop.uid(label)).collect::<Vec<_>>();
        assert_eq!(uids(&answer.bases), bases);
        assert_eq!(
            answer.selected.as_deref().map(uids),
            selected.map(|uids| uids.iter().map(|uid| (*uid).to_owned()).collect())
        );
    }
}

#[test]
fn without_conditions_everything_is_answered() {
    check(&leaf("//category[@code='a']"), Depth::All, &["2"], None);
    check(&leaf("//nothing"), Depth::All, &[], None);
}

#[test]
fn conditions_select_below_the_bases_alone() {
    let cheap = || leaf("//book[@price=15]");
    check(&query("//category[@code='a']", "and", vec![cheap()]), Depth::All, &["2"], Some(&["5"]));
    check(&query("//category", "and", vec![cheap()]), Depth::All, &["2", "7", "10"], Some(&["5", "8"]));
    check(&query("//category", "and", vec![cheap()]), Depth::Levels(0), &["2", "7", "10"], Some(&[]));
    check(&query("//category", "and", vec![cheap()]), Depth::Levels(1), &["2", "7", "10"], Some(&["5", "8"]));
    let meta = || leaf("//meta");
    check(&query("/shop", "and", vec![meta()]), Depth::Levels(1), &["1"], Some(&["12", "13"]));
    check(&query("/shop", "and", vec![meta()]), Depth::Levels(3), &["1"], Some(&["4", "6", "12", "13"]));
    check(
        &query("//category", "and", vec![leaf("//category[@code='b']")]),
        Depth::Levels(0),
        &["2", "7", "10"],
        Some(&["7"]),
    );
}

#[test]
fn and_is_what_all_select_and_or_what_any_selects() {
    let old = || leaf("//book[@year=1998]");
    let cheap = || leaf("//book[@price=15]");
    check(&query("/shop", "and", vec![old(), cheap()]), Depth::All, &["1"], Some(&["8"]));
    check(&query("/shop", "or", vec![old(), cheap()]), Depth::All, &["1"], Some(&["3", "5", "8", "11"]));
    check(&query("/shop", "and", vec![old(), leaf("//nothing")]), Depth::All, &["1"], Some(&[]));
}

#[test]
fn nested_conditions_look_below_what_was_selected() {
    let with_meta =
        |operator: &str, path: &str| query("//book[@year=1999 or @year=2001]", operator, vec![leaf(path)]);
    check(
        &query("/shop", "and", vec![with_meta("and", "//meta")]),
        Depth::All,
        &["1"],
        Some(&["5", "6", "9"]),
    );
    check(&query("/shop", "and", vec![with_meta("and", "//event")]), Depth::All, &["1"], Some(&[]));
    check(&query("/shop", "and", vec![with_meta("or", "//event")]), Depth::All, &["1"], Some(&["5", "9"]));
    // The entry itself is not below itself.
    check(&query("/shop", "and", vec![with_meta("and", "//book")]), Depth::All, &["1"], Some(&[]));
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let shop = Shop::sample();
    let values = query("/shop", "and", vec![leaf("//book/@price")]);
    let error = CompositeEvaluation::new(&shop.schema, &values, Depth::All, 10).err();
    assert_eq!(error, Some(QueryError::Attribute("price".into())));
    let mut few = CompositeEvaluation::new(&shop.schema, &leaf("//book"), Depth::All, 2).expect("a path");
    assert_eq!(few.run(&shop.tree(), u64::MAX), Ok(Progress::TooMany));
}

#[test]
fn conditions_are_joined_in_steps_and_what_they_hold_is_bounded() {
    let shop = Shop::sample();
    let conditions = || (0..1_000).map(|_| leaf("//book")).collect::<Vec<_>>();
    for operator in ["and", "or"] {
        let query = query("/shop", operator, conditions());
        let mut evaluation =
            CompositeEvaluation::new(&shop.schema, &query, Depth::All, 5).expect("paths that can be asked");
        let mut runs = 1;
        while evaluation.run(&shop.tree(), 100).expect("no page is missing") == Progress::More {
            runs += 1;
        }
        assert!((50..200).contains(&runs), "5 entries of each of 1,000 conditions: {runs} runs");
        assert_eq!(evaluation.into_answer().selected.map(|labels| labels.len()), Some(5));
    }
    // Different paths each have a list of their own; what is not below a base is not kept.
    let two = |base: &str| query(base, "or", vec![leaf("//book"), leaf("//book[@year>0]")]);
    for (base, progress) in [("/shop", Progress::TooMany), ("//category[@code='b']", Progress::Done)] {
        let mut evaluation =
            CompositeEvaluation::new(&shop.schema, &two(base), Depth::All, 5).expect("paths");
        assert_eq!(evaluation.run(&shop.tree(), u64::MAX), Ok(progress), "{base}");
    }
}
