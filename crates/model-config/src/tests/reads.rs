//! Reads: queries within limits, long reads in slices, two readings at once.

use std::sync::Arc;

use config::query::{Answer, Query};
use store::Pace;

use super::*;

async fn shop_with(items: &[Item]) -> (Configs, Anchor) {
    let configs = made(store::testing::memory(clock()), clock(), 1).await;
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    anchor.write_edits(&[add(anchor.schema(), items)], WriteOptions::default()).await.unwrap();
    (configs, anchor)
}

fn query(anchor: &Anchor, path: &str) -> Arc<Query> {
    Arc::new(Query::new(anchor.schema(), &lang_cps_path::parse(path).unwrap()).unwrap())
}

#[tokio::test]
async fn queries_find_what_a_walk_finds_within_limits() {
    let (_configs, anchor) = shop_with(&large(3_000, 200)).await;
    let reading = anchor.read(None).await.unwrap();
    let ask = async |path: &str, max: usize, deadline: Deadline| {
        reading.query(query(&anchor, path), max, deadline).await
    };
    let Answer::Entries(found) = ask("//item[@count>2989]", 100, Deadline::default()).await.unwrap() else {
        panic!("entries are asked for")
    };
    let paths: Vec<String> =
        reading.run(|tree| found.iter().map(|label| tree.path(label)).collect()).await.unwrap();
    assert_eq!((paths.len(), paths[0].as_str()), (10, "/shop/item[@name='i2990']"));
    let Answer::Values(names) = ask("//item[@count=7]/@name", 1, Deadline::default()).await.unwrap() else {
        panic!("values are asked for")
    };
    assert_eq!(names.iter().map(|name| &*name.text).collect::<Vec<_>>(), ["i7"]);
    let many = ask("//item", 2_999, Deadline::default()).await;
    assert!(matches!(&many, Err(Error::Limit { .. })), "{many:?}");
    assert!(many.unwrap_err().to_string().contains("results_max"));
    assert!(matches!(ask("//item", 5_000, Deadline::after_looks(1)).await, Err(Error::TimedOut(_))));
}

#[tokio::test]
async fn a_long_read_goes_on_where_it_was() {
    let many = large(3_000, 200);
    let (configs, _) = shop_with(&many).await;
    // A cache that has room for few pages.
    let small = ConfigOptions { page_cache_bytes: 64 << 10, ..options(1) };
    let other = Configs::new(configs.store().clone(), clock(), small);
    let reading = other.anchor("d", "a").await.unwrap().read(None).await.unwrap();
    let slices = std::cell::Cell::new(0);
    let walk = |tree: &config::Tree<'_>, (from, count): &mut (Option<Label>, usize), pace: &mut Pace| {
        let mut cursor = tree.cursor(&Label::top());
        if let Some(from) = from {
            cursor.seek(from);
            cursor.next_label()?;
        }
        loop {
            let Some(label) = cursor.next_label()? else { return Ok(crate::Step::Done(*count)) };
            (*from, *count) = (Some(label), *count + 1);
            if !pace.spend(20) || pace.is_tired() {
                slices.set(slices.get() + 1);
                return Ok(crate::Step::More);
            }
        }
    };
    let counted = reading.run_long(Deadline::default(), (None, 0), walk).await.unwrap();
    assert_eq!(counted, many.len() + 1, "each once, with the container");
    assert!(slices.get() > 2, "{}", slices.get());
    let late = reading.run_long(Deadline::after_looks(2), (None, 0), walk).await;
    assert!(matches!(late, Err(Error::TimedOut(_))), "{late:?}");
}

#[tokio::test]
async fn two_readings_are_asked_at_once() {
    let (configs, one) = shop_with(&large(500, 300)).await;
    let other = configs.create_anchor("d", "s", "b").await.unwrap();
    other.write_edits(&[add(other.schema(), &large(400, 300))], WriteOptions::default()).await.unwrap();
    let version = one.version().await.unwrap();
    one.write_edits(&[remove(one.schema(), "i9")], WriteOptions::default()).await.unwrap();
    // Nothing is in memory.
    let fresh = Configs::new(configs.store().beside(), clock(), options(1));
    let (one, other) = (fresh.anchor("d", "a").await.unwrap(), fresh.anchor("d", "b").await.unwrap());
    let readings = [
        one.read(None).await.unwrap(),
        one.read(Some(version)).await.unwrap(),
        other.read(None).await.unwrap(),
    ];
    let records = async |left: usize, right: usize| {
        let count = |tree: &config::Tree<'_>| {
            let (mut cursor, mut count) = (tree.cursor(&Label::top()), 0);
            while cursor.next_label()?.is_some() {
                count += 1;
            }
            Ok(count)
        };
        run_both(&readings[left], &readings[right], |one, other| Ok((count(one)?, count(other)?)))
            .await
            .unwrap()
    };
    assert_eq!(records(0, 1).await, (500, 501));
    assert_eq!(records(2, 0).await, (401, 500));
}
