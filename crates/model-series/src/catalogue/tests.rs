//! The catalogue on a store in memory, and what of it on the embedded engine differs in timing only.

mod buckets;
mod change;
mod computed;
mod damage;
mod define;
mod model;
mod nodes;
mod points;
mod repositories;
mod search;
mod sizes;
mod state;

use std::sync::Arc;

use store::{Change, Clock, Store, Timestamp};

use crate::{
    Alignment, Attribute, AttributeKind, AttributeType, AttributeValue, Definition, DefinitionDraft, Error,
    Interval, IntervalUnit, Repositories, Repository, RepositoryDraft, SeriesOptions, SeriesRef, Unit,
    UnitRule,
};
use store::Cursor;
use strands::{Points, StrandOptions};

/// 2026-01-01T00:00:00Z in microseconds.
pub(crate) const NOW: Timestamp = Timestamp(1_767_225_600_000_000);
/// The same in nanoseconds.
pub(crate) const START: i64 = NOW.0 * 1_000;
pub(crate) const MINUTE: i64 = 60_000_000_000;
pub(crate) const QUARTER: Interval = Interval::new(IntervalUnit::Minute, 15);

pub(crate) fn memory() -> Store {
    store::testing::memory(Clock::manual(NOW))
}

pub(crate) fn options() -> SeriesOptions {
    let strands = StrandOptions::recommended();
    SeriesOptions {
        strands,
        tenants_max: 1_000,
        repositories_max: 1_000,
        catalogue_buckets: 1,
        definitions_cached_max: 1_000,
    }
}

pub(crate) fn repositories(store: &Store) -> Repositories {
    Repositories::new(store.clone(), options())
}

/// A repository with the units kW and kWh and an attribute type of each kind.
pub(crate) async fn repository() -> Repository {
    let repositories = repositories(&memory());
    let draft = RepositoryDraft { name: "grid".into(), description: "".into() };
    repositories.create(draft, NOW).await.expect("created");
    let repository = repositories.get("grid").await.expect("there");
    furnish(&repository).await;
    repository
}

pub(crate) async fn furnish(repository: &Repository) {
    for name in ["kW", "kWh"] {
        repository.put_unit(unit(name)).await.expect("a unit");
    }
    for (name, kind, is_multiple) in [
        ("Region", AttributeKind::Node(vec!["Europe/Austria/Tyrol".into(), "Europe/Italy".into()]), false),
        ("Class", AttributeKind::Category(vec!["A".into(), "B".into()]), false),
        ("Tag", AttributeKind::Text, true),
        ("Since", AttributeKind::Date, false),
        ("Critical", AttributeKind::YesOrNo, false),
        ("Parent", AttributeKind::Series, false),
    ] {
        let of_type = AttributeType { name: name.into(), kind, is_multiple, description: "".into() };
        repository.put_attribute_type(of_type).await.expect("an attribute type");
    }
}

pub(crate) fn unit(name: &str) -> Unit {
    Unit {
        name: name.into(),
        base: None,
        offset: 0.0,
        factor: 1.0,
        integral: None,
        aggregation: UnitRule::Average,
    }
}

/// A series of quarter hours.
pub(crate) fn draft(name: &str) -> DefinitionDraft {
    DefinitionDraft::new(name, Alignment::Begin, Some(QUARTER))
}

pub(crate) fn computed(name: &str, formula: &str) -> DefinitionDraft {
    DefinitionDraft { formula: Some(formula.into()), ..draft(name) }
}

pub(crate) fn text(name: &str, value: &str) -> Attribute {
    Attribute { name: name.into(), value: AttributeValue::Text(value.into()), from: None, to: None }
}

pub(crate) fn node(path: &str) -> Attribute {
    Attribute { name: "Region".into(), value: AttributeValue::Node(path.into()), from: None, to: None }
}

pub(crate) async fn define(repository: &Repository, draft: DefinitionDraft) -> Arc<Definition> {
    let defined = repository.define(vec![draft], NOW).await.expect("defined");
    defined.into_iter().next().expect("one")
}

pub(crate) async fn find(repository: &Repository, name: &str) -> Arc<Definition> {
    repository.find(SeriesRef::Name(name)).await.expect(name)
}

/// All changes of all shards: once each, in the order of their commits.
pub(crate) async fn all_changes(store: &Store) -> Vec<Change> {
    let mut changes = Vec::new();
    for shard in 0..store.feed_shards() {
        changes.extend(store.feed(shard, Cursor::default(), 1_000).await.expect("the feed").changes);
    }
    changes.sort_by_key(|change| change.number);
    changes.dedup_by_key(|change| change.number);
    changes
}

/// The words of a refusal.
#[track_caller]
pub(crate) fn refusal<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    outcome.expect_err("this must be refused").to_string()
}

/// Valid points, a quarter of an hour apart.
pub(crate) fn quarters(first: i64, values: &[f64]) -> Points {
    let mut points = Points::default();
    for (place, value) in (0..).zip(values) {
        points.push(START + (first + place) * 15 * MINUTE, *value, crate::Flag::Valid.number());
    }
    points
}
