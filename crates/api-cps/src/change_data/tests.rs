use std::sync::Arc;

use bytes::Bytes;
use config::{
    Attempt, Edit, LeafLists, MergeOptions, PageCache, PageId, PageLimits, Pages, Place, Position, Root,
    apply_with,
};
use lang_yang::{Features, ReadOptions, YangFile, read_json};
use model_config::{
    Anchor, Clock, ConfigOptions, Mode, SchemaSetOptions, Timestamp, VersionId, WriteOptions,
};

use super::*;

const SHOP: &str = "module shop { namespace 'urn:shop'; prefix s; leaf note { type string; } container shop { \
    leaf owner { type string; } leaf-list tag { type string; } leaf box { type string; } \
    list item { key name; leaf name { type string; } leaf count { type uint64; } container at { leaf town { type string; } } } } }";
const MORE: &str = "module more { namespace 'urn:more'; prefix m; import shop { prefix s; } \
    augment /s:shop { leaf box { type string; } } }";
const PLENTY: usize = 256 << 10;
/// Versions that are kept.
const VERSIONS: usize = 3;

async fn made() -> (Configs, Anchor) {
    let clock = Clock::manual(Timestamp(1_767_225_600_000_000));
    let options = ConfigOptions { versions_max: VERSIONS, ..ConfigOptions::recommended() };
    let configs = Configs::new(store::testing::memory(clock.clone()), clock, options);
    configs.create_dataspace("d").await.unwrap();
    let files = [("shop.yang", SHOP), ("more.yang", MORE)];
    let files = files.map(|(name, text)| YangFile { name: name.into(), text: text.into() });
    let options = SchemaSetOptions { mode: Mode::Lenient, features: Features::All };
    configs.create_schema_set("d", "s", &files, options).await.unwrap();
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    (configs, anchor)
}

/// Merges data into an anchor; the change that it is.
async fn merge(anchor: &Anchor, json: &str) -> ConfigChange {
    let content = read_json(anchor.schema(), None, json.as_bytes(), &ReadOptions::RFC7951).unwrap();
    let options = MergeOptions { must_exist: false, leaf_lists: LeafLists::Replace };
    let top = || Place::Label(Label::top());
    let mut edits = vec![Edit::Merge { parent: top(), nodes: content.children.into(), options }];
    if !content.leaves.is_empty() {
        edits.push(Edit::SetLeaves { parent: top(), leaves: content.leaves.into() });
    }
    let VersionId(after) = anchor.write_edits(&edits, WriteOptions::default()).await.unwrap().version;
    ConfigChange {
        dataspace: "d".into(),
        anchor: "a".into(),
        schema_set: "s".into(),
        number: anchor.number(),
        before: VersionId(after - 1),
        after: Some(VersionId(after)),
        at: Timestamp(0),
        observed: None,
        places: Vec::new(),
        is_cut: false,
    }
}

/// The first two versions of an anchor, and the change between them.
async fn changed(anchor: &Anchor) -> ConfigChange {
    merge(
        anchor,
        r#"{"shop:note":"n","shop:shop":{"owner":"Ann","tag":["b"],"item":[{"name":"it's","count":"1"}]}}"#,
    )
    .await;
    merge(anchor, r#"{"shop:shop":{"item":[{"name":"it's","at":{"town":"Jever"}},{"name":"y"}]}}"#).await
}

fn texts(source: Option<&str>, target: Option<&str>) -> Option<PlaceTexts> {
    Some(PlaceTexts { source: source.map(str::to_owned), target: target.map(str::to_owned) })
}

#[tokio::test]
async fn a_place_is_told_as_it_was_and_as_it_is() {
    let (configs, anchor) = made().await;
    let change = changed(&anchor).await;
    let mut data = ChangeData::open(&configs, &change, PLENTY).await.unwrap();
    let one = "/shop/item[@name='it''s']";
    let (old, new) = (
        r#"{"item":[{"name":"it's","count":1}]}"#,
        r#"{"item":[{"name":"it's","count":1,"at":{"town":"Jever"}}]}"#,
    );
    let list = r#"{"item":[{"name":"it's","count":1,"at":{"town":"Jever"}},{"name":"y"}]}"#;
    let whole = r#"{"note":"n","shop":{"owner":"Ann","tag":["b"],"item":[{"name":"it's","count":1,"at":{"town":"Jever"}},{"name":"y"}]}}"#;
    let town = r#"{"at":{"town":"Jever"}}"#;
    for (action, xpath, expected) in [
        (Action::Replace, one, texts(Some(old), Some(new))),
        (Action::Create, one, texts(None, Some(new))),
        (Action::Remove, one, texts(Some(old), None)),
        (Action::Replace, "/shop/item[@name='it''s']/at", texts(None, Some(town))),
        (Action::Create, "/shop/item[@name='none']", texts(None, None)),
        (Action::Replace, "/shop/item", texts(Some(old), Some(list))),
        (Action::Remove, "/shop/owner", texts(Some(r#"{"owner":"Ann"}"#), None)),
        (Action::Remove, "/shop/tag", texts(Some(r#"{"tag":["b"]}"#), None)),
        (Action::Create, "/note", texts(None, Some(r#"{"note":"n"}"#))),
        (Action::Create, "/", texts(None, Some(whole))),
    ] {
        assert_eq!(data.of(action, xpath).await.unwrap(), expected, "{action:?} {xpath}");
    }
    let first = ConfigChange { before: VersionId(0), ..change };
    let mut data = ChangeData::open(&configs, &first, PLENTY).await.unwrap();
    assert_eq!(data.of(Action::Replace, "/").await.unwrap(), texts(None, Some(whole)), "before it was empty");
}

#[tokio::test]
async fn a_path_that_does_not_say_which_node_it_means_is_told_without_data() {
    let (configs, anchor) = made().await;
    let change = merge(&anchor, r#"{"shop:shop":{"box":"one","more:box":"other"}}"#).await;
    let mut data = ChangeData::open(&configs, &change, PLENTY).await.unwrap();
    for unclear in ["/shop/box", "/shop/nothing", "//item", "/shop/item/at", "/shop/owner[@x='1']", "shop["] {
        assert_eq!(data.of(Action::Create, unclear).await.unwrap(), None, "{unclear}");
    }
    let both = r#"{"shop":{"box":"one","m:box":"other"}}"#;
    assert_eq!(data.of(Action::Create, "/shop").await.unwrap(), texts(None, Some(both)));
}

#[tokio::test]
async fn an_event_has_no_more_data_than_it_may() {
    let (configs, anchor) = made().await;
    let change = changed(&anchor).await;
    let (old, new) = (
        r#"{"item":[{"name":"it's","count":1}]}"#,
        r#"{"item":[{"name":"it's","count":1,"at":{"town":"Jever"}}]}"#,
    );
    let xpath = "/shop/item[@name='it''s']";
    let both = old.len() + new.len();
    for (max, expected) in
        [(both, texts(Some(old), Some(new))), (both - 1, None), (old.len() - 1, None), (0, None)]
    {
        let mut data = ChangeData::open(&configs, &change, max).await.unwrap();
        assert_eq!(data.of(Action::Replace, xpath).await.unwrap(), expected, "{max}");
    }
}

#[tokio::test]
async fn events_of_one_change_share_what_they_may_have() {
    let (configs, anchor) = made().await;
    let long = "x".repeat(400 << 10);
    let change = merge(&anchor, &format!(r#"{{"shop:note":"n","shop:shop":{{"owner":"{long}"}}}}"#)).await;
    let mut data = ChangeData::open(&configs, &change, 512 << 10).await.unwrap();
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(data.of(Action::Create, "/shop").await.unwrap().is_some());
    }
    assert_eq!(told, [true, true, false]);
    let note = texts(None, Some(r#"{"note":"n"}"#));
    assert_eq!(data.of(Action::Create, "/note").await.unwrap(), note, "there is room for this one");
}

#[tokio::test]
async fn what_is_gone_is_told_without_data() {
    let (configs, anchor) = made().await;
    let change = changed(&anchor).await;
    let of = async |change: &ConfigChange, action| {
        let mut data = ChangeData::open(&configs, change, PLENTY).await.unwrap();
        data.of(action, "/shop/owner").await.unwrap()
    };
    let owner = r#"{"owner":"Ann"}"#;
    let removed = ConfigChange { after: None, ..change.clone() };
    assert_eq!(of(&removed, Action::Remove).await, None, "the anchor was removed");
    let other = ConfigChange { number: change.number + 1, ..change.clone() };
    assert_eq!(of(&other, Action::Create).await, None, "another anchor has its name");
    let elsewhere = ConfigChange { dataspace: "none".into(), ..change.clone() };
    assert_eq!(of(&elsewhere, Action::Create).await, None);
    assert_eq!(of(&change, Action::Replace).await, texts(Some(owner), Some(owner)));
    for note in 0..VERSIONS - 1 {
        merge(&anchor, &format!(r#"{{"shop:note":"{note}"}}"#)).await;
    }
    assert_eq!(of(&change, Action::Replace).await, None, "the version before is dropped");
    assert_eq!(of(&change, Action::Create).await, texts(None, Some(owner)), "the one after is there");
    merge(&anchor, r#"{"shop:note":"last"}"#).await;
    assert_eq!(of(&change, Action::Create).await, None);
}

/// A tree of many pages, none of which is in memory.
struct Paged {
    schema: Arc<Schema>,
    root: Root,
    stored: Vec<(PageId, Bytes)>,
}

impl Paged {
    async fn of(count: usize) -> Self {
        let (_, anchor) = made().await;
        let schema = Arc::clone(anchor.schema());
        let items: Vec<String> =
            (0..count).map(|item| format!(r#"{{"name":"{item}","count":"{item}"}}"#)).collect();
        let json = format!(r#"{{"shop:shop":{{"item":[{}]}}}}"#, items.join(","));
        let content = read_json(&schema, None, json.as_bytes(), &ReadOptions::RFC7951).unwrap();
        let create = Edit::Create {
            parent: Place::Label(Label::top()),
            nodes: content.children.into(),
            at: Position::Last,
        };
        let limits = PageLimits { inline_bytes_max: 300, leaf_bytes_max: 300, interior_bytes_max: 300 };
        let (empty, pages) = (Root::empty(), Pages::new(Arc::new(PageCache::new(0))));
        let attempt = Attempt { version: 1, nonce: 0 };
        let applied = apply_with(&Tree::new(&schema, &empty, &pages), &[create], attempt, limits).unwrap();
        let stored = applied.pages;
        Self { schema, root: applied.root, stored }
    }

    /// What lies at a path, and how many faults were served on the way.
    fn write(&self, xpath: &str, bytes_max: usize) -> (Written, usize) {
        let spot = Spot::of(&self.schema, xpath).unwrap();
        let pages = Pages::new(Arc::new(PageCache::new(0)));
        let (mut text, mut loaded) = (SpotText::new(&spot, bytes_max), 0);
        loop {
            let fault = match text.write(&Tree::new(&self.schema, &self.root, &pages)) {
                Ok(written) => return (written, loaded),
                Err(fault) => fault,
            };
            assert!(!fault.0.is_empty(), "a fault names pages");
            // One of them alone, each time.
            let id = fault.0.first().unwrap();
            let (_, bytes) = self.stored.iter().find(|(stored, _)| stored == id).unwrap();
            pages.insert(&self.schema, *id, bytes.clone()).unwrap();
            loaded += 1;
        }
    }
}

#[tokio::test]
async fn a_large_tree_is_written_page_by_page_and_no_further_than_it_may() {
    let paged = Paged::of(500).await;
    let items: Vec<String> = (0..500).map(|item| format!(r#"{{"name":"{item}","count":{item}}}"#)).collect();
    let list = format!(r#"{{"item":[{}]}}"#, items.join(","));
    let whole = format!(r#"{{"shop":{list}}}"#);
    for (xpath, expected) in [("/", &whole), ("/shop", &whole), ("/shop/item", &list)] {
        let (written, loaded) = paged.write(xpath, PLENTY);
        assert_eq!(written, Written::Whole(expected.clone()), "{xpath}");
        assert!(loaded > 20, "{loaded}");
        let (written, few) = paged.write(xpath, 1_000);
        assert_eq!(written, Written::TooLarge, "{xpath}");
        assert!(few < loaded / 2, "{few} of {loaded}");
    }
    assert_eq!(paged.write("/shop/item[@name='500']", PLENTY).0, Written::Nothing);
}
