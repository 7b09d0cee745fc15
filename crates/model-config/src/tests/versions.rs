//! Versions: what is kept, read as of, taken up again, and what is left of pages.

use super::*;

async fn anchor_with(configs: &Configs, name: &str, items: &[Item]) -> Anchor {
    let anchor = configs.create_anchor("d", "s", name).await.unwrap();
    anchor.write_edits(&[add(anchor.schema(), items)], WriteOptions::default()).await.unwrap();
    anchor
}

async fn write(anchor: &Anchor, edit: Edit) -> Written {
    anchor.write_edits(&[edit], WriteOptions::default()).await.unwrap()
}

#[tokio::test]
async fn versions_are_read_as_of_a_number_and_a_time() {
    let clock = clock();
    let configs = made(store::testing::memory(clock.clone()), clock.clone(), 1).await;
    let anchor = anchor_with(&configs, "a", &[one("x", 1)]).await;
    clock.pass(hour());
    write(&anchor, set_count(anchor.schema(), "x", 2)).await;
    clock.pass(hour());
    let after_two = Timestamp(NOW.0 + 90 * 60 * 1_000_000);
    for (time, expected) in [(NOW, 1), (after_two, 2), (clock.now(), 2), (Timestamp(0), 0)] {
        assert_eq!(anchor.version_at(time).await.unwrap(), VersionId(expected), "{time:?}");
    }
    assert_eq!(items_of(&anchor, Some(VersionId(1))).await.unwrap(), [one("x", 1)]);
    assert_eq!(items_of(&anchor, Some(VersionId(0))).await.unwrap(), []);
    let unknown = anchor.read(Some(VersionId(9))).await;
    assert!(matches!(unknown, Err(Error::UnknownVersion { version: VersionId(9), .. })));
    let infos = anchor.versions().await.unwrap();
    assert_eq!(
        infos.iter().map(|info| (info.version.0, info.records)).collect::<Vec<_>>(),
        [(0, 0), (1, 2), (2, 2)]
    );
}

#[tokio::test]
async fn versions_go_by_number_and_by_the_time_since_they_were_superseded() {
    let clock = clock();
    let store = store::testing::memory(clock.clone());
    let age = ConfigOptions { versions_max: 3, version_age_max: hour() * 10, ..options(1) };
    let configs = Configs::new(store, clock.clone(), age);
    make(&configs, Mode::Lenient).await;
    let anchor = anchor_with(&configs, "a", &[one("x", 0)]).await;
    for count in 1..=4 {
        write(&anchor, set_count(anchor.schema(), "x", count)).await;
    }
    let kept =
        async || anchor.versions().await.unwrap().iter().map(|info| info.version.0).collect::<Vec<_>>();
    assert_eq!(kept().await, [3, 4, 5]);
    clock.pass(hour() * 9);
    assert_eq!(configs.tidy().await.unwrap().expired, 0);
    write(&anchor, set_count(anchor.schema(), "x", 9)).await;
    assert_eq!(kept().await, [4, 5, 6]);
    clock.pass(hour() * 2);
    assert_eq!(configs.tidy().await.unwrap().expired, 1);
    assert_eq!(kept().await, [5, 6], "version 5 was the newest two hours ago");
    clock.pass(hour() * 100);
    configs.tidy().await.unwrap();
    assert_eq!(kept().await, [6], "the newest stays");
    assert_eq!(items_of(&anchor, None).await.unwrap(), [one("x", 9)]);
}

#[tokio::test]
async fn what_is_taken_up_again_is_not_let_go_with_the_version_that_superseded_it() {
    let clock = clock();
    let configs = made(store::testing::plain(clock.clone()), clock, 1).await;
    let many = large(300, 400);
    let anchor = anchor_with(&configs, "a", &many).await;
    assert!(page_rows(&configs).await > 10);
    // Pages of version 1 are superseded, and those of the second half are still shared.
    let gone: Vec<Edit> = (0..150).map(|number| remove(anchor.schema(), &format!("i{number}"))).collect();
    anchor.write_edits(&gone, WriteOptions::default()).await.unwrap();
    let written = anchor.roll_back(VersionId(1), WriteOptions::default()).await.unwrap();
    assert_eq!(written.version, VersionId(3));
    assert_eq!(anchor.versions().await.unwrap()[3].restored, Some(VersionId(1)));
    for count in 0..10 {
        write(&anchor, set_count(anchor.schema(), "i299", 1_000 + count)).await;
        assert_eq!(page_rows(&configs).await, pages_of_versions(&anchor).await.len());
    }
    let mut expected = many.clone();
    expected[299].1 = 1_009;
    assert_eq!(items_of(&anchor, None).await.unwrap(), expected);
    // From pages to none, and back.
    anchor
        .write_edits(&[Edit::Delete { entry: Place::Label(Label::top()) }], WriteOptions::default())
        .await
        .unwrap();
    let empty = anchor.version().await.unwrap();
    let full = VersionId(empty.0 - 1);
    for to in [full, empty, full, empty] {
        anchor.roll_back(to, WriteOptions::default()).await.unwrap();
        let expected = if to == full { expected.clone() } else { Vec::new() };
        assert_eq!(items_of(&anchor, None).await.unwrap(), expected);
        assert_eq!(page_rows(&configs).await, pages_of_versions(&anchor).await.len());
    }
    configs.remove_anchor("d", "a").await.unwrap();
    assert_eq!(configs.tidy().await.unwrap().anchors, 1);
    assert_eq!(page_rows(&configs).await, 0);
}

#[tokio::test]
async fn a_reading_is_of_one_moment_whatever_is_written_and_dropped() {
    let clock = clock();
    let configs = made(store::testing::plain(clock.clone()), clock, 1).await;
    let many = large(300, 400);
    let anchor = anchor_with(&configs, "a", &many).await;
    let reading = anchor.read(None).await.unwrap();
    let nothing = Edit::Delete { entry: Place::Label(Label::top()) };
    anchor.write_edits(&[nothing], WriteOptions::default()).await.unwrap();
    for count in 0..10 {
        write(&anchor, add(anchor.schema(), &[one(&format!("n{count}"), count)])).await;
    }
    assert_eq!(page_rows(&configs).await, 0, "the pages are gone from the store");
    // Nor are they in the cache.
    let uncached = Configs::new(configs.store().clone(), self::clock(), options(1));
    assert_eq!(items_of(&uncached.anchor("d", "a").await.unwrap(), None).await.unwrap().len(), 10);
    assert_eq!(items(&reading).await.unwrap(), many);
}

#[tokio::test]
async fn a_small_change_of_a_large_tree_writes_few_pages() {
    let clock = clock();
    let configs = made(store::testing::plain(clock.clone()), clock, 1).await;
    let anchor = anchor_with(&configs, "a", &large(2_000, 400)).await;
    let before = page_rows(&configs).await;
    assert!(before > 90, "{before}");
    write(&anchor, set_count(anchor.schema(), "i1000", -1)).await;
    let written = page_rows(&configs).await - before;
    assert!((1..=4).contains(&written), "{written}");
}

#[tokio::test]
async fn large_trees_are_within_what_a_commit_takes_on_any_store() {
    let clock = clock();
    let configs = made(store::testing::hostile(clock.clone(), 7), clock, 4).await;
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    let many = large(6_000, 500);
    anchor.write_edits(&[add(anchor.schema(), &many)], WriteOptions::default()).await.unwrap();
    assert_eq!(items_of(&anchor, None).await.unwrap(), many);
    configs.remove_anchor("d", "a").await.unwrap();
    tidy(&configs).await;
    assert!(matches!(configs.anchor("d", "a").await, Err(Error::UnknownAnchor { .. })));
}

#[tokio::test]
async fn pages_that_a_writer_left_are_swept() {
    let clock = clock();
    let configs = made(store::testing::plain(clock.clone()), clock, 1).await;
    let anchor = anchor_with(&configs, "a", &large(100, 400)).await;
    let pages = page_rows(&configs).await;
    // A writer that died before its commit, after it had said that it might.
    let place = anchor.place();
    let (_, row) = anchor.row().await.unwrap().unwrap();
    let row = rows::AnchorRow { is_untidy: true, ..row };
    let commit = store::Commit {
        partition: place.partition.clone(),
        write_id: store::WriteIds::new().next(),
        conditions: Vec::new(),
        writes: vec![store::Write::PutStamped(place.key.clone(), row.to_bytes())],
        change: None,
        reclaims: false,
    };
    configs.store().commit(commit).await.unwrap();
    let left = PageId { version: 2, nonce: 7, number: 0 };
    let append =
        store::Append { partition: place.pages.clone(), rows: vec![(anchor.page_key(left), "left".into())] };
    configs.store().append(append, configs.store().fence(&place.partition)).await.unwrap();
    assert_eq!(page_rows(&configs).await, pages + 1);
    assert_eq!(configs.tidy().await.unwrap().rows, 1);
    assert_eq!(page_rows(&configs).await, pages);
    assert!(!anchor.row().await.unwrap().unwrap().1.is_untidy);
    assert_eq!(items_of(&anchor, None).await.unwrap(), large(100, 400));
}

#[tokio::test]
async fn two_versions_are_compared() {
    let clock = clock();
    let configs = made(store::testing::memory(clock.clone()), clock, 1).await;
    let anchor = anchor_with(&configs, "a", &large(1_000, 400)).await;
    let first = anchor.version().await.unwrap();
    write(&anchor, set_count(anchor.schema(), "i5", -1)).await;
    write(&anchor, remove(anchor.schema(), "i700")).await;
    write(&anchor, add(anchor.schema(), &[one("new", 1)])).await;
    let last = anchor.version().await.unwrap();
    // Nothing is in memory.
    let other =
        Configs::new(configs.store().beside(), self::clock(), options(1)).anchor("d", "a").await.unwrap();
    let of = async |from, to, max| other.diff((from, to), max, Deadline::default()).await;
    let path = |name: &str| format!("/shop/item[@name='{name}']");
    let mut found: Vec<_> =
        of(first, last, 10).await.unwrap().into_iter().map(|it| (it.path, it.action)).collect();
    found.sort_by(|one, two| one.0.cmp(&two.0));
    let expected =
        [(path("i5"), Action::Replace), (path("i700"), Action::Remove), (path("new"), Action::Create)];
    assert_eq!(found, expected);
    assert_eq!(of(last, last, 10).await.unwrap(), []);
    let all = of(VersionId(0), first, 10).await.unwrap();
    assert_eq!(all, [VersionDifference { action: Action::Create, path: "/shop".into() }]);
    assert!(of(first, last, 2).await.unwrap_err().to_string().contains("differences_max"));
    assert!(matches!(of(VersionId(9), last, 1).await, Err(Error::UnknownVersion { .. })));
}

#[tokio::test]
async fn a_whole_tree_is_loaded_at_once() {
    let clock = clock();
    let configs = made(store::testing::plain(clock.clone()), clock.clone(), 1).await;
    let many = large(2_000, 400);
    anchor_with(&configs, "a", &many).await;
    // Nothing is in memory, and little fits.
    let options = ConfigOptions { page_cache_bytes: 64 << 10, ..options(1) };
    let other = Configs::new(configs.store().clone(), clock, options);
    let reading = other.anchor("d", "a").await.unwrap().read(None).await.unwrap();
    assert!(
        reading.run(|tree| Ok(config::missing_pages(tree).is_err())).await.unwrap(),
        "even the first is missing"
    );
    reading.load_all().await.unwrap();
    let left = reading.run(|tree| Ok(config::missing_pages(tree))).await.unwrap();
    assert_eq!(left, Ok(Vec::new()));
    assert_eq!(items(&reading).await.unwrap(), many);
}

#[tokio::test]
async fn limits_are_named() {
    let clock = clock();
    let small = ConfigOptions { tree_bytes_max: 1_000, dataspaces_max: 1, schema_sets_max: 1, ..options(1) };
    let configs = Configs::new(store::testing::memory(clock.clone()), clock, small);
    make(&configs, Mode::Lenient).await;
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    let written = anchor.write_edits(&[add(anchor.schema(), &large(10, 400))], WriteOptions::default()).await;
    let limits = [
        written.map(drop).unwrap_err(),
        configs.create_dataspace("e").await.unwrap_err(),
        configs
            .create_schema_set("d", "t", &files(SHOP), schema_set_options(Mode::Lenient))
            .await
            .unwrap_err(),
        configs.create_anchor("d", "s", &"n".repeat(NAME_BYTES_MAX + 1)).await.unwrap_err(),
    ];
    let names = ["tree_bytes_max", "dataspaces_max", "schema_sets_max", "NAME_BYTES_MAX"];
    for (error, name) in limits.into_iter().zip(names) {
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(anchor.version().await.unwrap(), VersionId(0));
}

/// What a roll-back writes anew is the same, in pages of its own: all of it is looked at, and nothing is found.
#[tokio::test]
async fn versions_that_are_the_same_are_compared_within_limits() {
    let no_cache = ConfigOptions { page_cache_bytes: 0, ..options(1) };
    let configs = Configs::new(store::testing::memory(clock()), clock(), no_cache);
    make(&configs, Mode::Lenient).await;
    let anchor = anchor_with(&configs, "a", &large(3_000, 100)).await;
    write(&anchor, Edit::Delete { entry: Place::Label(Label::top()) }).await;
    anchor.roll_back(VersionId(1), WriteOptions::default()).await.unwrap();
    let versions = (VersionId(1), VersionId(3));
    assert_eq!(anchor.diff(versions, 10, Deadline::default()).await.unwrap(), []);
    let late = anchor.diff(versions, 10, Deadline::after_looks(1)).await;
    assert!(matches!(late, Err(Error::TimedOut(_))), "{late:?}");
    write(&anchor, set_count(anchor.schema(), "i2999", -1)).await;
    let found = anchor.diff((VersionId(1), VersionId(4)), 10, Deadline::default()).await.unwrap();
    assert_eq!(found.iter().map(|one| &*one.path).collect::<Vec<_>>(), ["/shop/item[@name='i2999']"]);
}
