use store::Timestamp;

use super::*;
use crate::{DefinitionChange, SeriesWrite, Zone};
use strands::{Edit, TimeRange};

const LATER: Timestamp = Timestamp(NOW.0 + 1);

fn change() -> DefinitionChange {
    DefinitionChange::default()
}

async fn write(repository: &Repository, name: &str) {
    let series = find(repository, name).await;
    let edit = Edit::Put(quarters(0, &[1.0, 2.0]));
    let outcomes = repository.write_all(vec![SeriesWrite { series, quotation: None, edit }], NOW).await;
    outcomes.expect("checked").into_iter().for_each(|outcome| outcome.expect("written"));
}

#[tokio::test]
async fn a_rename_keeps_number_points_and_formulas() {
    let repository = repository().await;
    let before = define(&repository, draft("old")).await;
    define(&repository, computed("sum", "[old] + 2 * [old, -1]")).await;
    write(&repository, "old").await;
    let renamed = DefinitionChange { name: Some("new, name".into()), ..change() };
    let after = repository.change(SeriesRef::Name("old"), renamed.clone(), LATER).await.expect("renamed");
    assert_eq!((after.number, after.created, after.changed), (before.number, NOW, LATER));
    assert_eq!(find(&repository, "new, name").await, after);
    assert_eq!(refusal(repository.find(SeriesRef::Name("old")).await), "series old is not known");
    let sum = find(&repository, "sum").await;
    assert_eq!(sum.formula.as_ref().map(|one| &*one.text), Some("[\"new, name\"] + 2 * [\"new, name\", -1]"));
    assert_eq!(sum.changed, LATER);
    assert!(repository.extent(&after, None).await.expect("read").is_some());
    define(&repository, draft("old")).await;
    let refused = repository.change(SeriesRef::Name("old"), renamed, LATER).await;
    assert_eq!(refusal(refused), "series new, name exists already");
}

/// What no parser would read again must not be stored.
#[tokio::test]
async fn a_rename_that_makes_a_formula_too_long_is_refused() {
    let repository = repository().await;
    define(&repository, draft("a")).await;
    let sum = define(&repository, computed("sum", &vec!["[a]"; 400].join("+"))).await;
    let name = "n".repeat(200);
    let rename = DefinitionChange { name: Some(name.clone().into()), ..change() };
    let refused = refusal(repository.change(SeriesRef::Name("a"), rename, LATER).await);
    assert!(refused.starts_with("bytes of the formula of series sum"), "{refused}");
    assert_eq!(find(&repository, "sum").await, sum);
    assert_eq!(refusal(repository.find(SeriesRef::Name(&name)).await), format!("series {name} is not known"));
}

#[tokio::test]
async fn circles_are_seen_through_renamed_series() {
    let repository = repository().await;
    repository.define(vec![draft("a"), computed("b", "[a]")], NOW).await.expect("defined");
    let formula =
        |name: &str| DefinitionChange { formula: Some(Some(format!("[{name}]").into())), ..change() };
    let circle = DefinitionChange { name: Some("c".into()), ..formula("b") };
    let refused = repository.change(SeriesRef::Name("a"), circle, LATER).await;
    assert_eq!(refusal(refused), "the formula goes in a circle: a -> b -> a");
    let rename = DefinitionChange { name: Some("z".into()), ..change() };
    repository.change(SeriesRef::Name("b"), rename, LATER).await.expect("renamed");
    let refused = repository.change(SeriesRef::Name("a"), formula("z"), LATER).await;
    assert_eq!(refusal(refused), "the formula goes in a circle: a -> z -> a");
    let refused = repository.change(SeriesRef::Name("a"), formula("a"), LATER).await;
    assert_eq!(refusal(refused), "the formula goes in a circle: a -> a");
}

#[tokio::test]
async fn what_points_mean_changes_only_while_there_are_none() {
    let repository = repository().await;
    let series = define(&repository, draft("s")).await;
    let vienna = Zone::get("Europe/Vienna").expect("a zone");
    let changes = [
        DefinitionChange { alignment: Some(Alignment::End), ..change() },
        DefinitionChange { interval: Some(Some(Interval::new(IntervalUnit::Hour, 1))), ..change() },
        DefinitionChange { zone: Some(vienna), ..change() },
        DefinitionChange { audit: Some(true), ..change() },
        DefinitionChange { quotation: Some(true), ..change() },
        DefinitionChange { formula: Some(Some("1".into())), ..change() },
    ];
    write(&repository, "s").await;
    for change in &changes {
        let refused = refusal(repository.change(SeriesRef::Name("s"), change.clone(), LATER).await);
        assert!(refused.starts_with("series s holds points: "), "{refused}");
    }
    let harmless = DefinitionChange {
        compression: Some(false),
        unit: Some(Some("kW".into())),
        description: Some("new".into()),
        retention: Some(crate::Duration::parse("P1Y")),
        attributes: Some(vec![text("Tag", "x")]),
        ..change()
    };
    let changed = repository.change(SeriesRef::Id(series.number), harmless, LATER).await.expect("changed");
    assert_eq!((changed.switches.compression, &*changed.description), (false, "new"));
    let all = TimeRange { from: i64::MIN, to: i64::MAX };
    repository.delete_range(&changed, None, all, NOW).await.expect("deleted");
    for change in &changes[..4] {
        repository.change(SeriesRef::Name("s"), change.clone(), LATER).await.expect("empty");
    }
    // Audited now: what it held once counts too.
    write_at_hours(&repository, "s").await;
    let series = find(&repository, "s").await;
    repository.delete_range(&series, None, all, NOW).await.expect("deleted");
    let back = DefinitionChange { alignment: Some(Alignment::Begin), ..change() };
    let refused = refusal(repository.change(SeriesRef::Name("s"), back, LATER).await);
    assert!(refused.starts_with("series s has held points: "), "{refused}");
    let off = DefinitionChange { audit: Some(false), ..change() };
    repository.change(SeriesRef::Name("s"), off, LATER).await.expect("off at any time");
}

async fn write_at_hours(repository: &Repository, name: &str) {
    let series = find(repository, name).await;
    let edit = Edit::Put(quarters(0, &[1.0]));
    let outcomes = repository.write_all(vec![SeriesWrite { series, quotation: None, edit }], NOW).await;
    outcomes.expect("checked").into_iter().for_each(|outcome| outcome.expect("written"));
}

#[tokio::test]
async fn what_formulas_refer_to_is_not_removed() {
    let repository = repository().await;
    repository
        .define(vec![draft("a"), computed("f", "[a]"), computed("g", "[a] + [f]")], NOW)
        .await
        .expect("defined");
    write(&repository, "a").await;
    let removed = async |name| repository.remove(SeriesRef::Name(name), NOW).await;
    assert_eq!(refusal(removed("f").await), "series f is used in formulas of: g");
    let refused = refusal(removed("a").await);
    assert!(
        ["f, g", "g, f"].map(|names| format!("series a is used in formulas of: {names}")).contains(&refused)
    );
    // Without its reference, the formula is no hindrance any more.
    let other = DefinitionChange { formula: Some(Some("[f]".into())), ..change() };
    repository.change(SeriesRef::Name("g"), other, LATER).await.expect("changed");
    removed("g").await.expect("removed");
    removed("f").await.expect("removed");
    let gone = removed("a").await.expect("removed");
    assert_eq!(&*gone.name, "a");
    assert_eq!(refusal(removed("a").await), "series a is not known");
    assert_eq!(repository.extent(&gone, None).await.expect("read"), None);
    // A new series of the name begins empty.
    let fresh = define(&repository, draft("a")).await;
    assert_ne!(fresh.number, gone.number);
    assert_eq!(repository.extent(&fresh, None).await.expect("read"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_formula_and_the_removal_of_its_operand_do_not_both_happen() {
    let repository = repository().await;
    for round in 0..50 {
        let (operand, user) = (format!("operand {round}"), format!("user {round}"));
        define(&repository, draft(&operand)).await;
        let defining = {
            let (repository, draft) = (repository.clone(), computed(&user, &format!("[{operand}]")));
            tokio::spawn(async move { repository.define(vec![draft], NOW).await.is_ok() })
        };
        let removing = {
            let (repository, operand) = (repository.clone(), operand.clone());
            tokio::spawn(async move { repository.remove(SeriesRef::Name(&operand), NOW).await.is_ok() })
        };
        let (defined, removed) = (defining.await.expect("no panic"), removing.await.expect("no panic"));
        assert!(defined != removed, "round {round}: defined {defined}, removed {removed}");
    }
}

#[tokio::test]
async fn units_and_attribute_types_in_use_stay() {
    let repository = repository().await;
    let used = DefinitionDraft { unit: Some("kW".into()), attributes: vec![text("Tag", "x")], ..draft("s") };
    define(&repository, used).await;
    define(&repository, computed("f", "[s,, kWh]")).await;
    assert_eq!(refusal(repository.remove_unit("kW").await), "unit kW is used by series s");
    assert_eq!(refusal(repository.remove_unit("kWh").await), "unit kWh is used by series f");
    assert_eq!(refusal(repository.remove_unit("MW").await), "unit MW is not known");
    repository.put_unit(crate::Unit { base: Some("kW".into()), ..unit("MW") }).await.expect("a unit");
    repository.remove(SeriesRef::Name("f"), NOW).await.expect("removed");
    repository.remove_unit("kWh").await.expect("removed");
    assert_eq!(
        refusal(repository.remove_attribute_type("Tag").await),
        "attribute type Tag is used by series s"
    );
    let narrower = AttributeType {
        name: "Tag".into(),
        kind: AttributeKind::Text,
        is_multiple: false,
        description: "".into(),
    };
    let refused = refusal(repository.put_attribute_type(narrower).await);
    assert_eq!(refused, "attribute type Tag is used by series s: its kind stays, and it stays multiple");
    repository.remove(SeriesRef::Name("s"), NOW).await.expect("removed");
    assert_eq!(refusal(repository.remove_unit("kW").await), "unit kW is used by unit MW");
    repository.remove_unit("MW").await.expect("removed");
    repository.remove_unit("kW").await.expect("removed");
    repository.remove_attribute_type("Tag").await.expect("removed");
    let left: Vec<Box<str>> =
        repository.attribute_types().await.expect("read").into_iter().map(|one| one.name).collect();
    assert_eq!(left, ["Class", "Critical", "Parent", "Region", "Since"].map(Box::from));
}
