use super::*;
use crate::{AttributeSearch, DefinitionChange, Search};

fn attribute(name: &str, value: Option<&str>) -> AttributeSearch {
    AttributeSearch { name: name.into(), value: value.map(Box::from) }
}

fn search() -> Search {
    Search { limit: 100, ..Search::default() }
}

async fn filled() -> Repository {
    let repository = repository().await;
    let attributed = |name: &str, attributes| DefinitionDraft { attributes, ..draft(name) };
    let spontaneous = DefinitionDraft::new("event", Alignment::Spontaneous, None);
    let old = Attribute { to: Some(START), ..node("Europe/Italy") };
    let new = Attribute { from: Some(START), ..node("Europe/Austria/Tyrol") };
    let drafts = vec![
        attributed("load 1", vec![node("Europe/Italy"), text("Tag", "x")]),
        attributed("load 2", vec![old, new, text("Tag", "y"), text("Tag", "100%")]),
        DefinitionDraft { unit: Some("kW".into()), description: "north side".into(), ..draft("load_3") },
        DefinitionDraft { description: "south side".into(), ..draft("Load 4") },
        computed("sum", "[load 1] + [load 2]"),
        spontaneous,
    ];
    repository.define(drafts, NOW).await.expect("defined");
    repository
}

async fn check(repository: &Repository, search: Search, expected: &[&str]) {
    let page = repository.search(&search).await.expect("found");
    let names: Vec<&str> = page.series.iter().map(|one| &*one.name).collect();
    assert_eq!(names, expected, "{search:?}");
}

#[tokio::test]
async fn each_condition_finds_its_series_by_name() {
    let repository = filled().await;
    let all = ["Load 4", "event", "load 1", "load 2", "load_3", "sum"];
    check(&repository, search(), &all).await;
    let named = |name: &str| Search { name: Some(name.into()), ..search() };
    check(&repository, named("load%"), &["load 1", "load 2", "load_3"]).await;
    check(&repository, named("load_3"), &["load_3"]).await;
    check(&repository, named("load__"), &["load 1", "load 2", "load_3"]).await;
    check(&repository, named("load\\_%"), &["load_3"]).await;
    check(&repository, named("%oad 4"), &["Load 4"]).await;
    check(&repository, named("sum"), &["sum"]).await;
    check(&repository, named("summer"), &[]).await;
    let number = find(&repository, "sum").await.number;
    check(&repository, Search { id: Some(number), ..search() }, &["sum"]).await;
    check(&repository, Search { id: Some(number), ..named("load%") }, &[]).await;
    check(&repository, Search { alignment: Some(Alignment::Spontaneous), ..search() }, &["event"]).await;
    check(&repository, Search { description: Some("%side".into()), ..search() }, &["Load 4", "load_3"]).await;
    check(&repository, Search { unit: Some("kW".into()), ..search() }, &["load_3"]).await;
    check(&repository, Search { interval: Some(Some(QUARTER)), ..named("%4") }, &["Load 4"]).await;
    check(&repository, Search { interval: Some(None), ..search() }, &["event"]).await;
    check(&repository, Search { is_computed: Some(true), ..search() }, &["sum"]).await;
    check(
        &repository,
        Search { is_computed: Some(false), ..search() },
        &[all[0], all[1], all[2], all[3], all[4]],
    )
    .await;
}

#[tokio::test]
async fn attributes_are_found_by_value_parent_and_time() {
    let repository = filled().await;
    let by =
        |attributes: &[AttributeSearch], as_of| Search { attributes: attributes.to_vec(), as_of, ..search() };
    let region = |value| attribute("Region", value);
    check(&repository, by(&[region(None)], None), &["load 1", "load 2"]).await;
    check(&repository, by(&[region(Some("Europe"))], None), &["load 1", "load 2"]).await;
    check(&repository, by(&[region(Some("Europe/Austria"))], None), &["load 2"]).await;
    check(&repository, by(&[region(Some("Europe/Aus"))], None), &[]).await;
    check(&repository, by(&[region(Some("Europe/Aus%"))], None), &["load 2"]).await;
    check(&repository, by(&[region(Some("Europe/Italy"))], None), &["load 1", "load 2"]).await;
    check(&repository, by(&[region(Some("Europe/Italy"))], Some(START - 1)), &["load 1", "load 2"]).await;
    check(&repository, by(&[region(Some("Europe/Italy"))], Some(START)), &["load 1"]).await;
    check(&repository, by(&[attribute("Tag", Some("y")), region(None)], None), &["load 2"]).await;
    check(&repository, by(&[attribute("Tag", Some("x")), attribute("Tag", Some("y"))], None), &[]).await;
    check(&repository, by(&[attribute("Tag", Some("100\\%"))], None), &["load 2"]).await;
    check(&repository, by(&[attribute("Colour", None)], None), &[]).await;
}

#[tokio::test]
async fn index_rows_follow_changes() {
    let repository = filled().await;
    let change = DefinitionChange {
        name: Some("renamed".into()),
        attributes: Some(vec![text("Tag", "z")]),
        ..DefinitionChange::default()
    };
    repository.change(SeriesRef::Name("load 1"), change, NOW).await.expect("changed");
    let tagged = |value: &str| Search { attributes: vec![attribute("Tag", Some(value))], ..search() };
    check(&repository, tagged("x"), &[]).await;
    check(&repository, tagged("z"), &["renamed"]).await;
    check(&repository, Search { attributes: vec![attribute("Region", None)], ..search() }, &["load 2"]).await;
    check(&repository, Search { name: Some("load%".into()), ..search() }, &["load 2", "load_3"]).await;
}

#[tokio::test]
async fn pages_follow_each_other() {
    let repository = repository().await;
    let names: Vec<String> = (0..2_500).map(|number| format!("s {number:04}")).collect();
    repository.define(names.iter().map(|name| draft(name)).collect(), NOW).await.expect("defined");
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let asked = Search { name: Some("s%5".into()), after, limit: 7, ..Search::default() };
        let page = repository.search(&asked).await.expect("found");
        assert!(page.series.len() <= 7);
        found.extend(page.series.iter().map(|one| one.name.to_string()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let expected: Vec<String> = names.into_iter().filter(|name| name.ends_with('5')).collect();
    assert_eq!(found, expected);
    let beyond = Search { limit: crate::SEARCH_PAGE_MAX + 1, ..Search::default() };
    let message = "series of a page of a search: 10001, at most 10000 are allowed (SEARCH_PAGE_MAX)";
    assert_eq!(refusal(repository.search(&beyond).await), message);
}
