use std::collections::BTreeMap;

use lang_cps_path::parse;
use lang_yang::Content;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{ALL, GROUPED, flat, pair, random_shop, report};
use crate::delta::{Action, Change, ChangeError, DeltaItem, Subject, edits};
use crate::shop::Shop;
use crate::{ApplyError, Attempt, Depth, Label, Pages, Tree, apply};

/// The items of a report, as a client sends them back.
fn changes(shop: &Shop, items: Vec<DeltaItem>) -> Vec<Change> {
    let change = |item: DeltaItem| {
        let part = item.source.as_ref().or(item.target.as_ref()).expect("an item has data");
        let nodes = part.content.children.iter();
        let names: Vec<&str> = nodes.map(|node| &*shop.schema.node(node.schema).name).collect();
        let path = parse(&item.xpath).expect("xpaths are paths");
        let subject = Subject::new(&shop.schema, &path, item.action, &names).expect("a place of its data");
        assert_eq!(subject.node(), part.parent, "{}", item.xpath);
        let content = |part: Option<crate::delta::Part>| part.map(|part| part.content);
        Change { action: item.action, subject, source: content(item.source), target: content(item.target) }
    };
    items.into_iter().map(change).collect()
}

/// The content after edits, each entry by its path.
fn applied(
    shop: &Shop,
    changes: Vec<Change>,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, ApplyError> {
    let edits = edits(&shop.schema, changes).expect("the items of a report have what they need");
    let attempt = Attempt { version: 2, nonce: 2 };
    let applied = loop {
        match apply(&shop.tree(), &edits, attempt) {
            Err(ApplyError::Fault(fault)) => shop.load(&fault),
            other => break other?,
        }
    };
    let pages = Pages::new(std::sync::Arc::clone(shop.tree().pages.cache()));
    pages.cache().insert_written(&applied.pages);
    let tree = Tree::new(&shop.schema, &applied.root, &pages);
    let content = loop {
        match tree.content(&Label::top(), Depth::All) {
            Err(fault) => shop.load(&fault),
            Ok(content) => break content.expect("the top is always there"),
        }
    };
    Ok(flat(&shop.schema, &content, usize::MAX).into_iter().collect())
}

#[test]
fn an_applied_report_makes_the_source_like_the_target() {
    let (source, target) = pair();
    let expected: BTreeMap<_, _> = flat(&target.schema, &target.content, usize::MAX).into_iter().collect();
    for options in [ALL, GROUPED] {
        let changes = changes(&source, report(&source, &target, options, (9, 99)));
        assert_eq!(applied(&source, changes).as_ref(), Ok(&expected), "{options:?}");
    }
}

#[test]
fn random_reports_that_are_applied_make_the_source_like_the_target() {
    for seed in store::testing::seeds(40) {
        let mut random = StdRng::seed_from_u64(seed);
        let (source, target) = (random_shop(&mut random), random_shop(&mut random));
        let expected: BTreeMap<_, _> =
            flat(&target.schema, &target.content, usize::MAX).into_iter().collect();
        for options in [ALL, GROUPED] {
            let items = report(&source, &target, options, (random.random_range(1..5), 9));
            assert_eq!(
                applied(&source, changes(&source, items)),
                Ok(expected.clone()),
                "seed {seed} {options:?}"
            );
        }
    }
}

#[test]
fn places_follow_from_what_data_can_lie_below() {
    let shop = Shop::sample();
    let subject = |xpath: &str, action, names: &[&str]| {
        Subject::new(&shop.schema, &parse(xpath).expect(xpath), action, names)
    };
    let depth = |xpath: &str, action, names: &[&str]| {
        subject(xpath, action, names).map(|subject| subject.parent.len())
    };
    assert_eq!(depth("/shop", Action::Create, &["category", "meta"]), Ok(1));
    assert_eq!(depth("/shop", Action::Create, &["s:shop"]), Ok(0));
    assert_eq!(depth("/shop", Action::Remove, &["shop", "empty"]), Ok(0));
    assert_eq!(depth("/shop/category[@code='a']", Action::Create, &["category"]), Ok(1));
    assert_eq!(depth("/shop/category[@code='a']", Action::Create, &["book"]), Ok(2));
    assert_eq!(depth("/shop/category[@code='a']", Action::Replace, &["category"]), Ok(1));
    assert_eq!(depth("/", Action::Create, &["shop"]), Ok(0));
    let error =
        subject("/shop/category[@code='a']", Action::Replace, &["book"]).map_err(|error| error.to_string());
    let message = "the data of an item lie below its xpath /shop/category[@code='a'], or are the entry of that xpath: \"book\" is neither";
    assert_eq!(error.as_ref().map_err(String::as_str), Err(message));
    assert!(matches!(subject("/shop", Action::Create, &["nope"]), Err(ChangeError::Misplaced { .. })));
    assert!(matches!(subject("//shop", Action::Create, &["category"]), Err(ChangeError::Address(_))));
}

#[test]
fn items_without_data_are_refused() {
    let shop = Shop::sample();
    let change = |action, source: Option<Content>, target: Option<Content>| {
        let subject = Subject { parent: Vec::new() };
        edits(&shop.schema, vec![Change { action, subject, source, target }])
    };
    let data = || Some(Content::default());
    assert_eq!(change(Action::Create, data(), None), Err(ChangeError::NoData("create", "no targetData")));
    assert_eq!(change(Action::Remove, None, data()), Err(ChangeError::NoData("remove", "no sourceData")));
    assert_eq!(
        change(Action::Replace, None, None),
        Err(ChangeError::NoData("replace", "neither sourceData nor targetData"))
    );
    let event = shop.node("shop event");
    let node = lang_yang::DataNode { schema: event, content: Content::default() };
    let content = Content { leaves: Vec::new(), children: vec![node] };
    assert_eq!(
        change(Action::Remove, Some(content), None),
        Err(ChangeError::NoKeys("/shop:shop/event".into()))
    );
}

/// With a search among all others for each entry, this takes minutes.
#[test]
fn changes_of_many_siblings_are_found_by_their_keys() {
    const MANY: usize = 60_000;
    let shop = Shop::sample();
    let list = shop.node("shop category");
    let draft = crate::shop::Draft(&shop.schema, list);
    let entry = |number: usize, price: &[&str]| {
        let code = number.to_string();
        let leaves = [draft.leaf("code", &[&code])].into_iter();
        let price = price.iter().map(|price| draft.leaf("price", &[price]));
        let content = Content { leaves: leaves.chain(price).collect(), children: Vec::new() };
        lang_yang::DataNode { schema: list, content }
    };
    let content = |numbers: &mut dyn Iterator<Item = usize>, price: &[&str]| {
        Some(Content { leaves: Vec::new(), children: numbers.map(|number| entry(number, price)).collect() })
    };
    let subject = || Subject { parent: vec![crate::Step::container(shop.node("shop"))] };
    let change = |action, source, target| Change { action, subject: subject(), source, target };
    let remove = |number| change(Action::Remove, content(&mut [number].into_iter(), &[]), None);
    // The last one is removed twice: what is below an entry that is gone is gone with it.
    let removals = (0..MANY).map(remove).chain([remove(MANY - 1)]).collect();
    assert_eq!(edits(&shop.schema, removals).map(|edits| edits.len()), Ok(MANY));
    let (mut forth, mut back) = (0..MANY, (0..MANY).rev());
    let replaced = change(Action::Replace, content(&mut forth, &["1"]), content(&mut back, &[]));
    let edits = edits(&shop.schema, vec![replaced]).expect("it has what it needs");
    assert_eq!(edits.len(), 1 + MANY, "a merge, and each price is removed");
}
