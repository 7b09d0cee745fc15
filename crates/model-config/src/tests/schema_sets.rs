//! Schema sets: texts that are stored once, schemas that are read as they were stored, and what is removed when.

use super::*;

const OTHER: &str = r#"module other {
  namespace "urn:twinfold:test:other";
  prefix o;
  leaf note { type string; }
}"#;

#[tokio::test]
async fn names_are_unknown_taken_or_in_use() {
    let configs = made(store::testing::memory(clock()), clock(), 4).await;
    let lenient = || schema_set_options(Mode::Lenient);
    assert!(matches!(
        configs.create_dataspace("d").await,
        Err(Error::AlreadyExists { kind: Kind::Dataspace, .. })
    ));
    assert!(matches!(configs.create_dataspace("").await, Err(Error::Invalid(_))));
    let again = configs.create_schema_set("d", "s", &files(SHOP), lenient()).await;
    assert!(matches!(again, Err(Error::AlreadyExists { kind: Kind::SchemaSet, .. })));
    let nowhere = configs.create_schema_set("x", "s", &files(SHOP), lenient()).await;
    assert!(matches!(nowhere, Err(Error::UnknownDataspace(_))));
    let wrong = configs.create_schema_set("d", "t", &files("module x {"), lenient()).await;
    assert!(matches!(wrong, Err(Error::Yang(_))), "{wrong:?}");
    assert!(matches!(configs.create_anchor("d", "t", "a").await, Err(Error::UnknownSchemaSet { .. })));
    assert!(matches!(configs.create_anchor("x", "s", "a").await, Err(Error::UnknownDataspace(_))));
    configs.create_anchor("d", "s", "a").await.unwrap();
    assert!(matches!(
        configs.create_anchor("d", "s", "a").await,
        Err(Error::AlreadyExists { kind: Kind::Anchor, .. })
    ));
    assert!(matches!(
        configs.remove_schema_set("d", "s").await,
        Err(Error::InUse { kind: Kind::SchemaSet, .. })
    ));
    assert!(matches!(configs.remove_dataspace("d").await, Err(Error::InUse { kind: Kind::Dataspace, .. })));
    assert!(matches!(configs.anchor("d", "b").await, Err(Error::UnknownAnchor { .. })));
    assert!(matches!(configs.remove_anchor("x", "b").await, Err(Error::UnknownDataspace(_))));
    configs.remove_anchor("d", "a").await.unwrap();
    configs.remove_schema_set("d", "s").await.unwrap();
    configs.remove_dataspace("d").await.unwrap();
    assert_eq!(configs.dataspaces().await.unwrap(), []);
}

#[tokio::test]
async fn names_hold_no_control_characters() {
    let configs = made(store::testing::memory(clock()), clock(), 4).await;
    let problem = |made: Result<(), Error>| made.err().map(|error| error.to_string());
    let names = [("a\0b", 2, "0000"), ("\n", 1, "000A"), ("äb\u{85}", 3, "0085"), ("x\u{7f}", 2, "007F")];
    for (name, place, code) in names {
        let refused = |what: &str| {
            Some(format!(
                "the name of a {what} must not hold control characters: character {place} is U+{code}"
            ))
        };
        assert_eq!(problem(configs.create_dataspace(name).await), refused("dataspace"));
        let made =
            configs.create_schema_set("d", name, &files(OTHER), schema_set_options(Mode::Lenient)).await;
        assert_eq!(problem(made.map(drop)), refused("schema set"));
        assert_eq!(problem(configs.create_anchor("d", "s", name).await.map(drop)), refused("anchor"));
    }
    // Everything that can be seen.
    for name in ["a/b", "it's \"quoted\"", "a b", "männer", "日本", "100%[x]"] {
        assert_eq!(problem(configs.create_dataspace(name).await), None, "{name}");
        assert_eq!(problem(configs.create_anchor("d", "s", name).await.map(drop)), None, "{name}");
    }
}

#[tokio::test]
async fn anchors_are_listed_by_name_over_all_buckets() {
    let configs = made(store::testing::memory(clock()), clock(), 4).await;
    configs.create_schema_set("d", "t", &files(OTHER), schema_set_options(Mode::Strict)).await.unwrap();
    for number in 0..20 {
        let schema_set = if number % 4 == 0 { "t" } else { "s" };
        configs.create_anchor("d", schema_set, &format!("a{number:02}")).await.unwrap();
    }
    let names = async |sets: Option<&[&str]>, after: Option<&str>, max: usize| {
        let found = configs.anchors("d", sets, (after, max)).await.unwrap();
        found.into_iter().map(|info| info.name).collect::<Vec<_>>()
    };
    assert_eq!(
        names(None, None, 100).await,
        (0..20).map(|number| format!("a{number:02}")).collect::<Vec<_>>()
    );
    assert_eq!(names(None, Some("a16"), 2).await, ["a17", "a18"]);
    assert_eq!(names(Some(&["t"]), None, 100).await, ["a00", "a04", "a08", "a12", "a16"]);
    assert_eq!(names(Some(&["t", "s"]), Some("a17"), 100).await, ["a18", "a19"]);
    assert!(matches!(
        configs.anchors("d", Some(&["nope"]), (None, 1)).await,
        Err(Error::UnknownSchemaSet { .. })
    ));
    let info = configs.anchor_info("d", "a04").await.unwrap();
    assert_eq!((info.schema_set.as_str(), info.mode, info.version), ("t", Mode::Strict, VersionId(0)));
}

#[tokio::test]
async fn schema_sets_are_listed_in_pages() {
    let configs = made(store::testing::memory(clock()), clock(), 1).await;
    configs.create_dataspace("e").await.unwrap();
    for number in 0..7 {
        let options = schema_set_options(Mode::Lenient);
        configs.create_schema_set("d", &format!("t{number}"), &files(OTHER), options).await.unwrap();
    }
    let (mut listed, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = configs.some_schema_sets("d", (after.as_deref(), 3)).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 3);
        after = Some(last.name.clone());
        listed.extend(page);
    }
    assert_eq!((listed.len(), listed), (8, configs.schema_sets("d").await.unwrap()));
    assert_eq!(configs.some_schema_sets("e", (None, 3)).await.unwrap(), []);
    assert!(matches!(configs.some_schema_sets("f", (None, 3)).await, Err(Error::UnknownDataspace(_))));
}

#[tokio::test]
async fn texts_are_stored_once_and_go_when_nothing_names_them() {
    let configs = made(store::testing::plain(clock()), clock(), 1).await;
    let rows = || rows_of_tenant(configs.store(), 0);
    let before = rows();
    configs.create_schema_set("d", "t", &files(SHOP), schema_set_options(Mode::Strict)).await.unwrap();
    assert_eq!(rows(), before + 1, "only its name is new");
    assert_eq!(configs.schema_set_files("d", "t").await.unwrap(), files(SHOP));
    let modules = configs.schema_set("d", "t").await.unwrap().modules;
    assert!(
        modules.iter().any(|module| &*module.name == "shop" && &*module.revision == "2026-01-01"),
        "{modules:?}"
    );
    configs.create_anchor("d", "s", "a").await.unwrap();
    configs.clean_dataspace("d").await.unwrap();
    assert_eq!(configs.schema_sets("d").await.unwrap().len(), 1, "the one of which an anchor is");
    assert_eq!(configs.schema_set_files("d", "s").await.unwrap(), files(SHOP));
    configs.remove_anchor("d", "a").await.unwrap();
    configs.clean_dataspace("d").await.unwrap();
    // The number of dataspaces, and the dataspace.
    assert_rows(&configs, 2);
}

#[tokio::test]
async fn a_schema_is_read_as_it_was_stored() {
    let store = store::testing::memory(clock());
    let configs = made(store.clone(), clock(), 1).await;
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    let other = Configs::new(store.beside(), clock(), options(1));
    assert_eq!(other.schema_bytes(), 0);
    let read = other.anchor("d", "a").await.unwrap();
    assert_eq!(read.schema(), anchor.schema());
    assert!(other.schema_bytes() > 0);
    assert_eq!(other.schema("d", "s").await.unwrap(), *anchor.schema());
}

#[tokio::test]
async fn a_strict_anchor_takes_what_libyang_takes() {
    let configs = Configs::new(store::testing::memory(clock()), clock(), options(1));
    make(&configs, Mode::Strict).await;
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    let schema = anchor.schema().clone();
    let owner = |name: &str| {
        let shop_node = node(&schema, None, "shop");
        let leaves = vec![leaf(node(&schema, Some(shop_node), "owner"), ValueKind::Text, name)];
        Edit::SetLeaves { parent: shop(&schema), leaves: leaves.into() }
    };
    let dangling = anchor.write_edits(&[owner("x")], WriteOptions::default()).await;
    assert!(matches!(dangling, Err(Error::Data(_))), "{dangling:?}");
    assert_eq!(anchor.version().await.unwrap(), VersionId(0));
    let tried = WriteOptions { dry_run: true, ..WriteOptions::default() };
    assert!(matches!(anchor.write_edits(&[owner("x")], tried).await, Err(Error::Data(_))));
    let both = [add(&schema, &[one("x", 1)]), owner("x")];
    assert_eq!(anchor.write_edits(&both, WriteOptions::default()).await.unwrap().version, VersionId(1));
    let gone = anchor.write_edits(&[remove(&schema, "x")], WriteOptions::default()).await;
    assert!(matches!(gone, Err(Error::Data(_))), "{gone:?}");
}

#[tokio::test]
async fn subscriptions_are_stored_and_changes_are_told() {
    let store = store::testing::plain(clock());
    let configs = made(store.clone(), clock(), 1).await;
    let wanted = configs
        .change_subscriptions::<Error>(|subscriptions| {
            subscriptions.dataspaces.push(DataspaceSubscription { name: "d".into(), anchors: Vec::new() });
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(configs.subscriptions().await.unwrap(), wanted);
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    let observed = Some(Timestamp(5));
    let options = WriteOptions { observed, ..WriteOptions::default() };
    anchor.write_edits(&[add(anchor.schema(), &[one("it's", 1)])], options).await.unwrap();
    anchor.write_edits(&[set_count(anchor.schema(), "it's", 2)], WriteOptions::default()).await.unwrap();
    configs.remove_anchor("d", "a").await.unwrap();
    let mut told = Vec::new();
    for shard in 0..store.feed_shards() {
        let page = store.feed(shard, store::Cursor::default(), 100).await.unwrap();
        told.extend(
            page.changes
                .iter()
                .filter_map(|change| ConfigChange::of_record(&change.record))
                .map(Result::unwrap),
        );
    }
    let path = "/shop/item[@name='it''s']";
    let places: Vec<_> = told
        .iter()
        .map(|change| (change.before.0, change.after.map(|after| after.0), change.places.clone()))
        .collect();
    let expected = [
        (0, Some(1), vec![(Action::Create, path.into())]),
        (1, Some(2), vec![(Action::Replace, path.into())]),
        (2, None, vec![(Action::Remove, "/".into())]),
    ];
    assert_eq!(places, expected);
    assert_eq!(told[0].observed, observed);
    let interests = wanted.interests();
    assert!(told.iter().all(|change| interests.of(change).is_some() && change.number == anchor.number()));
}

#[tokio::test]
async fn tenants_share_nothing() {
    let configs = Configs::new(store::testing::memory(clock()), clock(), options(1));
    make(&configs, Mode::Lenient).await;
    let name = TenantName::new("t").unwrap();
    assert!(matches!(configs.of(&name).await, Err(Error::UnknownTenant(_))));
    let other = configs.of_or_create(&name).await.unwrap();
    assert_eq!(other.dataspaces().await.unwrap(), []);
    assert!(matches!(other.create_anchor("d", "s", "a").await, Err(Error::UnknownDataspace(_))));
    make(&other, Mode::Strict).await;
    other.create_anchor("d", "s", "a").await.unwrap();
    assert!(matches!(configs.anchor("d", "a").await, Err(Error::UnknownAnchor { .. })));
    assert_eq!(configs.all().await.unwrap().len(), 2);
}
