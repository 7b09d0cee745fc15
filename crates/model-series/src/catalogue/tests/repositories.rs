use store::{Direction, Timestamp};

use super::*;
use crate::catalogue::keys;
use crate::{Edit, Hook, RepositoryChange, SeriesWrite};

fn draft_of(name: &str) -> RepositoryDraft {
    RepositoryDraft { name: name.into(), description: "d".into() }
}

async fn names(repositories: &Repositories) -> Vec<Box<str>> {
    repositories.list().await.expect("listed").into_iter().map(|one| one.name).collect()
}

#[tokio::test]
async fn repositories_are_made_changed_and_listed() {
    let repositories = repositories(&memory());
    assert_eq!(refusal(repositories.get("grid").await), "repository grid is not known");
    repositories.create(draft_of("grid"), NOW).await.expect("made");
    assert_eq!(refusal(repositories.create(draft_of("grid"), NOW).await), "repository grid exists already");
    assert_eq!(repositories.get_or_create("grid", NOW).await.expect("there").tenant().name(), "grid");
    assert_eq!(repositories.get_or_create("default", NOW).await.expect("made").tenant().name(), "");
    let change = RepositoryChange { description: Some("other".into()) };
    let changed = repositories.change("grid", change).await.expect("changed");
    assert_eq!((&*changed.description, changed.created), ("other", NOW));
    assert_eq!(repositories.info("grid").await.expect("there"), changed);
    assert_eq!(names(&repositories).await, ["default", "grid"].map(Box::from));
    for bad in ["", "a b", "ä"] {
        let message = "the name of a repository has 1 to 128 of A-Z a-z 0-9 _ - . :";
        assert_eq!(refusal(repositories.create(draft_of(bad), NOW).await), message);
    }
}

/// All rows of a tenant's catalogue, and whether its first series' partition holds any.
async fn rows(store: &Store, tenant: &Repository, number: u32) -> (Vec<Vec<u8>>, bool) {
    let whole = store::Range::default();
    let catalogue = keys::catalogue_partition(tenant.tenant());
    let page = store.scan(&catalogue, &whole, Direction::Forward, 10_000).await.expect("scanned");
    let points = keys::series_partition(tenant.tenant(), number);
    let points = store.scan(&points, &whole, Direction::Forward, 1).await.expect("scanned");
    (page.rows().map(|(key, _)| key.to_vec()).collect(), !points.is_empty())
}

#[tokio::test]
async fn a_removed_repository_leaves_nothing_and_its_name_is_free() {
    let store = memory();
    let repositories = repositories(&store);
    let repository = repositories.get_or_create("grid", NOW).await.expect("made");
    furnish(&repository).await;
    let hook = Hook {
        name: "h".into(),
        url: "http://x".into(),
        series: None,
        attributes: Vec::new(),
        secret: None,
        is_active: true,
    };
    repository.put_hook(hook).await.expect("a hook");
    let drafts = (0..600).map(|number| draft(&format!("s {number}"))).chain([computed("f", "[s 1]")]);
    repository.define(drafts.collect(), NOW).await.expect("defined");
    let series = find(&repository, "s 1").await;
    let write = SeriesWrite { series: series.clone(), quotation: None, edit: Edit::Put(quarters(0, &[1.0])) };
    repository.write_all(vec![write], NOW).await.expect("written");
    assert!(rows(&store, &repository, series.number).await.1);
    repositories.remove("grid", NOW).await.expect("removed");
    assert_eq!(refusal(repositories.remove("grid", NOW).await), "repository grid is not known");
    assert_eq!(refusal(repositories.get("grid").await), "repository grid is not known");
    let (left, has_points) = rows(&store, &repository, series.number).await;
    assert!(!has_points);
    assert!(left.iter().all(|key| key[0] == b'x'), "only numbers that are not free yet");
    let again = repositories.get_or_create("grid", NOW).await.expect("made again");
    assert!(again.units().await.expect("read").iter().next().is_none());
    assert_ne!(define(&again, draft("s 1")).await.number, series.number);
    repositories.remove("grid", NOW).await.expect("removed");
    let later = Timestamp(NOW.0 + 3_600_000_000);
    repositories.sweep(later).await.expect("swept");
    assert_eq!(rows(&store, &again, series.number).await, (Vec::new(), false));
    let directory = keys::repositories_partition();
    let page =
        store.scan(&directory, &store::Range::default(), Direction::Forward, 9).await.expect("scanned");
    assert!(page.is_empty(), "the name is gone from the directory");
}

#[tokio::test]
async fn what_comes_late_to_a_removed_repository_is_swept() {
    let store = memory();
    let repositories = repositories(&store);
    let held = repositories.get_or_create("grid", NOW).await.expect("made");
    let series = define(&held, draft("s")).await;
    repositories.remove("grid", NOW).await.expect("removed");
    // Two who found the repository, or the series, before.
    let late = define(&held, draft("late")).await;
    let write = SeriesWrite { series: series.clone(), quotation: None, edit: Edit::Put(quarters(0, &[1.0])) };
    held.write_all(vec![write], NOW).await.expect("written");
    repositories.sweep(Timestamp(NOW.0 + 1)).await.expect("swept");
    assert!(!rows(&store, &held, series.number).await.1);
    repositories.sweep(Timestamp(NOW.0 + 3_600_000_000)).await.expect("swept");
    assert_eq!(rows(&store, &held, late.number).await, (Vec::new(), false));
}

#[tokio::test]
async fn the_embedded_engine_keeps_it_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Store::open(folder.path(), store::EmbeddedOptions::recommended()).expect("opened");
    let store = open();
    let repository = repositories(&store).get_or_create("grid", NOW).await.expect("made");
    furnish(&repository).await;
    let tagged =
        DefinitionDraft { attributes: vec![text("Tag", "x")], unit: Some("kW".into()), ..draft("s 1") };
    let drafts =
        (2..700).map(|number| draft(&format!("s {number}"))).chain([tagged, computed("f", "[s 1] * 2")]);
    let defined = repository.define(drafts.collect(), NOW).await.expect("defined");
    let write = SeriesWrite {
        series: find(&repository, "s 1").await,
        quotation: None,
        edit: Edit::Put(quarters(0, &[1.0, 2.0])),
    };
    repository.write_all(vec![write], NOW).await.expect("written");
    store.close().await.expect("closed");
    drop((repository, store));
    let store = open();
    let repositories = repositories(&store);
    let repository = repositories.get("grid").await.expect("there");
    for one in &defined {
        assert_eq!(find(&repository, &one.name).await, *one);
    }
    let search = crate::Search { unit: Some("kW".into()), limit: 10, ..crate::Search::default() };
    assert_eq!(repository.search(&search).await.expect("found").series, [find(&repository, "s 1").await]);
    let reader = repository.reader(crate::ReadRequest::default()).await.expect("a reader");
    let computed = find(&repository, "f").await;
    let points = reader.read(&computed, crate::TimeRange::ALL).await.expect("read");
    assert_eq!(points.values, [2.0, 4.0]);
    assert_eq!(
        refusal(repository.remove(SeriesRef::Name("s 1"), NOW).await),
        "series s 1 is used in formulas of: f"
    );
    repositories.remove("grid", NOW).await.expect("removed");
    let (left, has_points) = rows(&store, &repository, find_number(&defined, "s 1")).await;
    assert!(!has_points && left.iter().all(|key| key[0] == b'x'));
}

fn find_number(defined: &[Arc<Definition>], name: &str) -> u32 {
    defined.iter().find(|one| &*one.name == name).map(|one| one.number).expect("defined")
}

#[tokio::test]
async fn repositories_beyond_the_limit_are_refused() {
    let store = memory();
    repositories(&store).create(draft_of("a"), NOW).await.expect("made");
    let options = SeriesOptions { repositories_max: 2, ..options() };
    let repositories = Repositories::new(store, options);
    repositories.get_or_create("default", NOW).await.expect("made");
    repositories.create(draft_of("b"), NOW).await.expect("made");
    let full = "repository c is not created: tenants_max allows 2 beside `default`";
    assert_eq!(refusal(repositories.create(draft_of("c"), NOW).await), full);
    assert_eq!(refusal(repositories.get_or_create("c", NOW).await), full);
    assert_eq!(refusal(repositories.create(draft_of("b"), NOW).await), "repository b exists already");
    repositories.remove("a", NOW).await.expect("removed");
    repositories.create(draft_of("c"), NOW).await.expect("made in the place of the removed one");
    assert_eq!(refusal(repositories.create(draft_of("d"), NOW).await), full.replace(" c ", " d "));
}
