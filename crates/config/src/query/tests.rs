mod composite;
mod oracle;
mod paced;
mod random;

use std::sync::Arc;

use lang_cps_path::parse;
use lang_yang::IntegerWidth;
use lang_yang::testing::integer;

use super::{Address, AddressError, Answer, Evaluation, Progress, Query, QueryError};
use crate::Step;
use crate::shop::Shop;

/// What a path finds in the shop: the uids of entries, or values.
#[track_caller]
fn check(path: &str, expected: &[&str]) {
    let shop = Shop::sample();
    assert_eq!(shop.ask(path), expected, "{path}");
    assert_eq!(shop.ask_in_steps(path, 1), expected, "{path}, one step at a time");
}

#[track_caller]
fn check_error(path: &str, message: &str) {
    let shop = Shop::sample();
    let error = Query::new(&shop.schema, &parse(path).expect(path)).expect_err(path);
    assert_eq!(error.to_string(), message, "{path}");
}

#[test]
fn absolute_paths_walk_by_keys() {
    check("/shop", &["1"]);
    check("/shop/category", &["2", "7", "10"]);
    check("/shop/category[@code='b']", &["7"]);
    check("/shop/category[@code='b']/book", &["8", "9"]);
    check("/shop/category[@code='a/[@x=''1'']']/book", &["11"]);
    check("/shop/category[@code='a']/book[@year=1999 and @title='Two']", &["5"]);
    check("/shop/category[@code='a']/book[@title='Two' and @year='1999']", &["5"]);
    check("/shop/category[@code='a']/book[@title='Two']/meta", &["6"]);
    check("/s:shop/shop:category[@s:code='b']", &["7"]);
    check("/other:shop", &[]);
    check("/category", &[]);
    check("/shop/book", &[]);
    check("/shop/category/book/meta", &["4", "6"]);
    check("/shop/category/book[@price=15]", &["5", "8"]);
    check("/", &["1", "14"]);
}

#[test]
fn descendants_are_found_in_document_order() {
    check("//book", &["3", "5", "8", "9", "11"]);
    check("//category[@code='a']/book", &["3", "5"]);
    check("//meta", &["4", "6", "12", "13"]);
    check("//x:meta", &["13"]);
    check("//shop//book".replace("//book", "/category/book").as_str(), &["3", "5", "8", "9", "11"]);
    check("//nothing", &[]);
}

#[test]
fn conditions_compare_by_type() {
    check("//book[@price=15]", &["5", "8"]);
    check("//book[@price='15']", &["5", "8"]);
    check("//book[@price='015']", &["5", "8"]);
    check("//book[@price>15]", &["3", "11"]);
    check("//book[@price>='15']", &["3", "5", "8", "11"]);
    check("//book[@price<16 and @price>-1]", &["5", "8"]);
    check("//book[@weight='0.50']", &["3"]);
    check("//book[@weight>0]", &["3", "5"]);
    check("//book[@weight<'0.6']", &["3", "9"]);
    check("//book[@year=1999 or @year=2001 and @lang='de']", &["5", "9"]);
    check("//category[@code=7]", &[]);
    check("//book[@lang='DE']", &[]);
    check("//book[@nope='x' or @lang='de']", &["9"]);
    check("//book[@nope='x']", &[]);
    check("//book[@edition=2]", &["3", "5"]);
    check("//book[@kind='novel']", &["3"]);
    check("//book[@kind='shop:novel']", &["3"]);
    check("//book[@sold=18446744073709551615]", &["11"]);
    check("//book[@sold>18446744073709551614]", &["11"]);
    check_error(
        "//book[@lang>5]",
        "\">\" compares numbers, and leaf /shop:shop/category/book/lang has none: compare it by \"=\", or by text() or contains()",
    );
    check_error("//book[@price<='ten']", "can use \"<=\" only with a number, not with 'ten'");
}

#[test]
fn functions_look_at_leaves_and_leaf_lists() {
    check("//book/title[text()='Two']", &["5"]);
    check("//book/title[text()='two']", &[]);
    check("//book/edition[text()='2']", &["3", "5"]);
    check("//book[@price=15]/edition[text()='2']", &["5"]);
    check("//book/price[text()='15']", &["5", "8"]);
    check("//book[contains(@title,'T')]", &["5", "8"]);
    check("//book[contains(@title,'%')]", &[]);
    check("//book[contains(@price,'5')]", &["5", "8"]);
    check("//book[contains(@title,'')]", &["3", "5", "8", "9", "11"]);
    check("//book/nope[text()='2']", &[]);
    check("//category[@code='a'][contains(@name,'x')]", &[]);
}

#[test]
fn ancestors_are_answered_once() {
    check("//book/ancestor::category", &["2", "7", "10"]);
    check("//book/ancestor::shop", &["1"]);
    check("//book/ancestor::shop/category[@code='b']", &["7"]);
    check("//book[@price=15]/ancestor::category[@name>5]".replace("@name>5", "@code='a'").as_str(), &["2"]);
    check("//meta/ancestor::book", &["3", "5"]);
    check("//book/ancestor::book", &["3", "5", "8", "9", "11"]);
    check("//meta/ancestor::meta/meta", &[]);
    check("//book/ancestor::nothing/category", &[]);
    check("/shop/category[@code='a']/book[@title='One' and @year=1998]/meta/ancestor::category", &["2"]);
    check("//book/ancestor::category/@code", &["a", "b", "a/[@x='1']"]);
}

#[test]
fn attributes_are_distinct_in_the_order_of_the_document() {
    check("//book/@price", &["20", "15"]);
    check("//category/@code", &["a", "b", "a/[@x='1']"]);
    check("//book/@edition", &["1", "2", "3"]);
    check("//book/@nope", &[]);
    check("//book[@price=15]/@title", &["Two", "Three"]);
    check("/shop/category[@code='b']/@name", &["Beta"]);
    check("//meta/@uid", &["4", "6", "12", "13"]);
}

#[test]
fn steps_and_results_are_bounded() {
    let shop = Shop::sample();
    let tree = shop.tree();
    let query = |path: &str| Arc::new(Query::new(&shop.schema, &parse(path).expect(path)).expect(path));
    let mut few = Evaluation::new(query("//book"), 4);
    assert_eq!(few.run(&tree, u64::MAX), Ok(Progress::TooMany));
    let mut enough = Evaluation::new(query("//book"), 5);
    assert_eq!(enough.run(&tree, 1), Ok(Progress::More));
    assert_eq!(enough.steps(), 1);
    assert_eq!(enough.run(&tree, u64::MAX), Ok(Progress::Done));
    assert_eq!(enough.run(&tree, u64::MAX), Ok(Progress::Done));
    // What several targets find is one result.
    let mut same = Evaluation::new(query("//meta/ancestor::shop"), 1);
    assert_eq!(same.run(&tree, u64::MAX), Ok(Progress::Done));
    assert!(matches!(same.into_answer(), Answer::Entries(labels) if labels.len() == 1));
    let mut two = Evaluation::new(query("//meta/ancestor::book"), 1);
    assert_eq!(two.run(&tree, u64::MAX), Ok(Progress::TooMany));
    // A key is looked up, siblings are not gone through; what no schema node can be takes no step.
    // Values of a leaf may not take more memory than is allowed, with entries found first or with their values at once.
    for path in ["//book/@title", "/shop/category/book/@title"] {
        let query = || Arc::new(Query::new(&shop.schema, &parse(path).expect(path)).expect(path));
        for (bytes_max, progress) in [(10_000, Progress::Done), (100, Progress::TooLarge)] {
            let mut all = Evaluation::new(query(), usize::MAX);
            all.values_bytes_max = bytes_max;
            assert_eq!(all.run(&tree, u64::MAX), Ok(progress), "{path}");
            assert!(all.values_bytes() < bytes_max + 100);
        }
    }
    let mut keyed = Evaluation::new(query("/shop/category[@code='b']"), 5);
    assert_eq!(keyed.run(&tree, u64::MAX), Ok(Progress::Done));
    assert!(keyed.steps() <= 4, "{}", keyed.steps());
    let mut none = Evaluation::new(query("//book/@nope"), 5);
    assert_eq!(none.run(&tree, u64::MAX), Ok(Progress::Done));
    assert_eq!((none.steps(), none.into_answer()), (0, Answer::Values(Vec::new())));
}

#[test]
fn keys_that_may_be_meant_in_very_many_ways_are_gone_through() {
    use lang_yang::testing::{SchemaBuilder, string};
    let keys: Vec<String> = (0..60).map(|number| format!("k{number}")).collect();
    let names: Vec<&str> = keys.iter().map(String::as_str).collect();
    let schema = SchemaBuilder::new("m", "m")
        .list("l", &names, |list| {
            let int = || integer(IntegerWidth::Int32);
            names.iter().fold(list.leaf("name", string()), |list, name| list.leaf(name, int()))
        })
        .build();
    let query = |text: &str, count: usize| {
        let conditions: Vec<String> =
            names.iter().take(count).map(|name| format!("@{name}={text}")).collect();
        let path = format!("/l[{}]", conditions.join(" and "));
        Query::new(&schema, &parse(&path).expect("a path")).expect("leaves that are numbers")
    };
    let ways = |query: &Query| query.target(0).levels[0].keys.as_ref().map(Vec::len);
    assert_eq!(ways(&query("7", 60)), Some(1));
    assert_eq!(ways(&query("7", 59)), None, "a key is left open");
    // Each text is itself or the canonical one: 2^60 ways.
    assert_eq!(ways(&query("'07'", 60)), None);
}

#[test]
fn addresses_name_one_entry_or_one_list() {
    let shop = Shop::sample();
    let address = |path: &str| Address::new(&shop.schema, &parse(path).expect(path));
    assert_eq!(address("/"), Ok(Address::Top));
    let node = |path: &str| shop.node(path);
    let category =
        |code: &str| Step::entry(node("shop category"), vec![(node("shop category code"), code.into())]);
    let shop_step = || Step::container(node("shop"));
    assert_eq!(address("/shop"), Ok(Address::Entry(vec![shop_step()])));
    assert_eq!(
        address("/shop/category"),
        Ok(Address::List { parent: vec![shop_step()], list: node("shop category") })
    );
    let Ok(Address::Entry(steps)) =
        address("/shop/category[@code=\"a\"]/book[@year='01999' and @title='Two']")
    else {
        panic!("an entry")
    };
    let keys = vec![
        (node("shop category book title"), "Two".into()),
        (node("shop category book year"), "1999".into()),
    ];
    assert_eq!(steps, [shop_step(), category("a"), Step::entry(node("shop category book"), keys)]);
    assert_eq!(
        shop.tree().find(&steps).expect("no page is missing").map(|label| shop.uid(&label)),
        Some("5".into())
    );
    let message = |path: &str| address(path).map_err(|error| error.to_string()).expect_err(path);
    assert!(matches!(address("/shop/nope"), Err(AddressError::Unknown(_))));
    assert_eq!(message("/shop/nope"), "the schema has no container or list /shop:shop/nope");
    assert_eq!(
        message("/shop/category[@name='x']"),
        "list /shop:shop/category is stepped through by its keys, joined by `and`: @code='...'"
    );
    for path in
        ["/shop/category/book", "/shop/category[@code='a']/book[@title='Two']", "/shop/category[@code>1]"]
    {
        assert!(matches!(address(path), Err(AddressError::Keys { .. })), "{path}");
    }
    for path in
        ["//book", "/shop/@name", "/shop/name[text()='x']", "/shop[@name='x']", "/shop/ancestor::shop"]
    {
        assert!(matches!(address(path), Err(AddressError::Search(_))), "{path}");
    }
}

#[test]
fn attributes_are_refused_where_nodes_are_asked_for() {
    assert_eq!(
        QueryError::Attribute("name".into()).to_string(),
        "\"/@name\" answers values, and nodes are asked for here: leave it out"
    );
}
