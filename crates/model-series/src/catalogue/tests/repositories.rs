use super::*;
use crate::{RepositoryChange, SeriesWrite};
use strands::Edit;

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
    assert_eq!(repositories.get_or_create("default", NOW).await.expect("made").tenant().name(), "default");
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

#[tokio::test]
async fn a_removed_repository_leaves_nothing_and_its_name_is_free_at_once() {
    let store = memory();
    let repositories = repositories(&store);
    let repository = repositories.get_or_create("grid", NOW).await.expect("made");
    furnish(&repository).await;
    let drafts = (0..600).map(|number| draft(&format!("s {number}"))).chain([computed("f", "[s 1]")]);
    repository.define(drafts.collect(), NOW).await.expect("defined");
    let series = find(&repository, "s 1").await;
    let write =
        || SeriesWrite { series: series.clone(), quotation: None, edit: Edit::Put(quarters(0, &[1.0])) };
    repository.write_all(vec![write()], NOW).await.expect("written");
    repositories.remove("grid").await.expect("removed");
    assert_eq!(refusal(repositories.remove("grid").await), "repository grid is not known");
    assert_eq!(refusal(repositories.get("grid").await), "repository grid is not known");
    let again = repositories.get_or_create("grid", NOW).await.expect("made again");
    assert!(again.units().await.expect("read").iter().next().is_none());
    let other = define(&again, draft("s 1")).await;
    // Those who found the repository, or the series, before.
    assert!(repository.define(vec![draft("late")], NOW).await.is_err());
    let late = repository.write_all(vec![write()], NOW).await;
    assert!(late.map_or(true, |outcomes| outcomes.iter().all(Result::is_err)));
    assert!(repository.find(SeriesRef::Name("s 1")).await.is_err());
    assert_eq!(again.extent(&other, None).await.expect("read"), None);

    let number = repository.tenant().number();
    assert!(store::testing::rows_of_tenant(&store, number) > 600);
    let tenants = store::Tenants::new(store.clone());
    // Whose last commit another came before, or was lost, is finished by the next turn of the job.
    while tenants.finish_removals(std::time::Duration::ZERO).await.expect("done") == 0 {}
    assert_eq!(store::testing::rows_of_tenant(&store, number), 0);
    assert_eq!(find(&again, "s 1").await, other);
}

#[tokio::test]
async fn repositories_of_one_name_are_told_apart_by_tenant_and_go_with_it() {
    let store = memory();
    let all = repositories(&store);
    let [city, town] = ["city", "town"].map(|name| store::TenantName::new(name).expect("a name"));
    assert!(all.of_or_create(&city, &draft_of("a b")).await.is_err());
    assert_eq!(refusal(all.of(&city).await), "tenant city is not known");
    let of_city = all.of_or_create(&city, &draft_of("grid")).await.expect("made");
    let of_town = all.of_or_create(&town, &draft_of("grid")).await.expect("made");
    let mut held = Vec::new();
    for repositories in [&all, &of_city, &of_town] {
        let repository = repositories.get_or_create("grid", NOW).await.expect("made");
        define(&repository, draft("s")).await;
        held.push(repository);
    }
    of_city.remove("grid").await.expect("removed");
    assert!(of_city.list().await.expect("listed").is_empty());
    let again = of_city.get_or_create("grid", NOW).await.expect("made");
    for repositories in [&all, &of_town] {
        let repository = repositories.get("grid").await.expect("there");
        assert!(repository.find(SeriesRef::Name("s")).await.is_ok());
    }
    let tenants = store::Tenants::new(store.clone());
    assert!(tenants.remove(&city).await.expect("removed"));
    assert!(again.define(vec![draft("late")], NOW).await.is_err());
    assert!(of_city.get("grid").await.is_err() && of_city.create(draft_of("x"), NOW).await.is_err());
    assert_eq!(refusal(all.of(&city).await), "tenant city is not known");
    assert!(
        all.of_or_create(&city, &draft_of("grid"))
            .await
            .expect("made")
            .list()
            .await
            .expect("listed")
            .is_empty()
    );
    tenants.finish_removals(std::time::Duration::ZERO).await.expect("done");
    for gone in [&held[1], &again] {
        assert_eq!(store::testing::rows_of_tenant(&store, gone.tenant().number()), 0);
    }
    assert!(
        held[0].find(SeriesRef::Name("s")).await.is_ok() && held[2].find(SeriesRef::Name("s")).await.is_ok()
    );
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
}

#[tokio::test]
async fn repositories_beyond_the_limit_are_refused() {
    let store = memory();
    repositories(&store).create(draft_of("a"), NOW).await.expect("made");
    let options = SeriesOptions { repositories_max: 2, ..options() };
    let repositories = Repositories::new(store, options);
    repositories.get_or_create("default", NOW).await.expect("made");
    repositories.create(draft_of("b"), NOW).await.expect("made");
    let full = "repository c is not created: repositories_max allows 2 beside `default`";
    assert_eq!(refusal(repositories.create(draft_of("c"), NOW).await), full);
    assert_eq!(refusal(repositories.get_or_create("c", NOW).await), full);
    assert_eq!(refusal(repositories.create(draft_of("b"), NOW).await), "repository b exists already");
    repositories.remove("a").await.expect("removed");
    repositories.create(draft_of("c"), NOW).await.expect("made in the place of the removed one");
    assert_eq!(refusal(repositories.create(draft_of("d"), NOW).await), full.replace(" c ", " d "));
}
