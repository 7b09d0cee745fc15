use std::sync::Arc;

use lang_cps_path::parse;
use lang_yang::{Content, DataNode};

use crate::query::runner::STEPS_OF_PAGE;
use crate::query::{Answer, Evaluation, Progress, Query};
use crate::scan::PASSED_AT_ONCE;
use crate::shop::{SMALL, Shop, node, schema};

/// A shop of so many categories, a few of which fill a page.
fn shop(count: usize) -> Shop {
    let schema = schema();
    let list = node(&schema, "shop category");
    let draft = crate::shop::Draft(&schema, list);
    let entry = |number: usize| {
        let (code, name) = (number.to_string(), "x".repeat(24) + &number.to_string());
        let leaves = vec![draft.leaf("code", &[&code]), draft.leaf("name", &[&name])];
        DataNode { schema: list, content: Content { leaves, children: Vec::new() } }
    };
    let below = Content { leaves: Vec::new(), children: (0..count).map(entry).collect() };
    let top = DataNode { schema: node(&schema, "shop"), content: below };
    Shop::new(schema, Content { leaves: Vec::new(), children: vec![top] }, SMALL)
}

/// What a path finds, one step at a time: the steps of all turns, and those of the longest.
fn ask(shop: &Shop, name: &str) -> (usize, u64, u64) {
    let path = format!("/shop/category[@name='{name}']");
    let query = Query::new(&shop.schema, &parse(&path).expect("a path")).expect("leaves of the schema");
    let (mut evaluation, mut longest) = (Evaluation::new(Arc::new(query), 10), 0);
    loop {
        let before = evaluation.steps();
        let progress = evaluation.run(&shop.tree(), 1).expect("no page is missing");
        longest = longest.max(evaluation.steps() - before);
        if progress == Progress::Done {
            break;
        }
    }
    let steps = evaluation.steps();
    let Answer::Entries(labels) = evaluation.into_answer() else { panic!("entries are asked for") };
    (labels.len(), steps, longest)
}

#[test]
fn pages_that_are_passed_over_take_steps_and_turns() {
    let shop = shop(4_000);
    let (last, mut most) = ("x".repeat(24) + "3999", 0);
    // Some of the names seem to be in some page, which is a turn, too.
    let names = (0..20).map(|number| (format!("nobody {number}"), 0)).chain([(last, 1)]);
    for (name, expected) in names {
        let (found, steps, longest) = ask(&shop, &name);
        assert_eq!(found, expected, "{name}");
        assert!(steps > 600 * STEPS_OF_PAGE, "{name}: {steps} steps");
        assert!(longest <= PASSED_AT_ONCE * STEPS_OF_PAGE + 1, "{name}: {longest} steps in a turn");
        most = most.max(longest);
    }
    assert!(most >= (PASSED_AT_ONCE - 1) * STEPS_OF_PAGE, "{most} steps in the longest turn");
}
