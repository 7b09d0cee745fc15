//! Writes that have little memory, or others beside them.

use super::*;

/// Writers of one anchor beside each other.
const WRITERS: usize = 4;

async fn configs_with(mode: Mode, options: ConfigOptions) -> (Configs, Anchor) {
    let configs = Configs::new(store::testing::memory(clock()), clock(), options);
    make(&configs, mode).await;
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    (configs, anchor)
}

/// What a change or roll-back makes of a tree is checked before it is stored: no cache need hold it.
#[tokio::test]
async fn a_strict_anchor_needs_no_cache() {
    let (_configs, anchor) =
        configs_with(Mode::Strict, ConfigOptions { page_cache_bytes: 0, ..options(1) }).await;
    let many = large(2_000, 100);
    let edits = [add(anchor.schema(), &many)];
    let tried = WriteOptions { dry_run: true, ..WriteOptions::default() };
    assert_eq!(anchor.write_edits(&edits, tried).await.unwrap().version, VersionId(0));
    anchor.write_edits(&edits, WriteOptions::default()).await.unwrap();
    let fewer: Vec<Edit> = (0..1_000).map(|number| remove(anchor.schema(), &format!("i{number}"))).collect();
    anchor.write_edits(&fewer, WriteOptions::default()).await.unwrap();
    assert_eq!(items_of(&anchor, None).await.unwrap(), many[1_000..]);
    let back = anchor.roll_back(VersionId(1), WriteOptions::default()).await.unwrap();
    assert_eq!((back.version, items_of(&anchor, None).await.unwrap()), (VersionId(3), many));
}

/// A roll-back takes longer than a small change, and would lose to writers that never rest: it waits for its turn as they do.
#[tokio::test(start_paused = true)]
async fn a_roll_back_waits_behind_writers_that_wait() {
    let (configs, anchor) = configs_with(Mode::Lenient, options(1)).await;
    anchor.write_edits(&[add(anchor.schema(), &[one("x", 1)])], WriteOptions::default()).await.unwrap();
    anchor.write_edits(&[remove(anchor.schema(), "x")], WriteOptions::default()).await.unwrap();
    let locks = &configs.shared.retry_locks;
    // Another lost, and has its turn.
    let other = locks.lock(locks.of(&[b"d", b"a"])).await;
    let mut roll_back = Box::pin(anchor.roll_back(VersionId(1), WriteOptions::default()));
    assert!(tokio::time::timeout(hour(), &mut roll_back).await.is_err(), "it waits");
    drop(other);
    assert_eq!(roll_back.await.unwrap().version, VersionId(3));
    assert_eq!(items_of(&anchor, None).await.unwrap(), [one("x", 1)]);
}

/// One that lost to another writer has the others wait.
#[test]
fn roll_backs_and_changes_beside_each_other_all_come_through() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.unwrap();
    for seed in store::testing::seeds(6) {
        runtime.block_on(a_roll_back_beside_writers(seed));
    }
}

async fn a_roll_back_beside_writers(seed: u64) {
    let store = store::testing::hostile(clock(), seed);
    let options = ConfigOptions { versions_max: 1_000_000, page_cache_bytes: 0, ..options(1) };
    let configs = Configs::new(store, clock(), options);
    make(&configs, Mode::Lenient).await;
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    let many = large(300, 200);
    anchor.write_edits(&[add(anchor.schema(), &many)], WriteOptions::default()).await.unwrap();
    let nothing = Edit::Delete { entry: Place::Label(Label::top()) };
    anchor.write_edits(&[nothing], WriteOptions::default()).await.unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let anchor = anchor.clone();
            tokio::spawn(async move {
                for count in 0..20 {
                    let edit = add(anchor.schema(), &[one(&format!("w{writer}-{count}"), count)]);
                    anchor.write_edits(&[edit], WriteOptions::default()).await.unwrap();
                }
            })
        })
        .collect();
    let outcome = anchor.roll_back(VersionId(1), WriteOptions::default()).await;
    for writer in writers {
        writer.await.unwrap();
    }
    let version = outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}")).version;
    assert_eq!(items_of(&anchor, Some(version)).await.unwrap(), many);
}

/// How often a slot for long work was taken for some work.
async fn slots_of<T>(configs: &Configs, work: impl Future<Output = T>) -> (u64, T) {
    let before = configs.lane().taken();
    let done = work.await;
    (configs.lane().taken() - before, done)
}

#[tokio::test]
async fn what_replaces_much_is_long_work_however_little_it_gives() {
    let (configs, anchor) = configs_with(Mode::Lenient, options(1)).await;
    let schema = anchor.schema();
    let write = async |edit: Edit| {
        let tried = WriteOptions { dry_run: true, ..WriteOptions::default() };
        let (slots, written) = slots_of(&configs, anchor.write_edits(&[edit], tried)).await;
        written.unwrap();
        slots
    };
    anchor.write_edits(&[add(schema, &large(2_000, 10))], WriteOptions::default()).await.unwrap();
    let one_item = item(schema, &one("i7", 7));
    let (list, nodes) = (one_item.schema, || [one_item.clone()].into());
    assert_eq!(write(Edit::Replace { parent: shop(schema), nodes: nodes(), at: None }).await, 0);
    assert_eq!(write(remove(schema, "i7")).await, 0);
    assert_eq!(write(Edit::ReplaceList { parent: shop(schema), list, nodes: nodes() }).await, 1);
    let content = Arc::new(Content { leaves: Vec::new(), children: vec![one_item.clone()] });
    assert_eq!(write(Edit::ReplaceContent { entry: shop(schema), content }).await, 1);
    let to_front = |name: &str| Edit::Move { entry: place(schema, name), to: Position::First };
    assert_eq!(write(to_front("i7")).await, 0);
    let whole = DataNode {
        schema: node(schema, None, "shop"),
        content: Content { leaves: Vec::new(), children: vec![one_item.clone()] },
    };
    let top = || Place::Label(Label::top());
    assert_eq!(write(Edit::Replace { parent: top(), nodes: [whole].into(), at: None }).await, 1);
}

#[tokio::test]
async fn edits_that_are_long_to_tell_are_told_in_a_slot() {
    let (configs, anchor) = configs_with(Mode::Lenient, options(1)).await;
    for is_long in [false, true] {
        let told = |_: &config::Tree<'_>| Ok::<_, Refusal<Error>>(vec![add(anchor.schema(), &[one("x", 1)])]);
        let options = WriteOptions { is_long, dry_run: true, ..WriteOptions::default() };
        let (slots, written) = slots_of(&configs, anchor.write(told, options)).await;
        written.unwrap();
        assert_eq!(slots, if is_long { 2 } else { 0 });
    }
}

#[tokio::test]
async fn texts_are_read_in_a_slot_if_they_are_long() {
    let (configs, _) = configs_with(Mode::Lenient, options(1)).await;
    let slots = async |bytes: usize| slots_of(&configs, configs.work_on_text(bytes, || ())).await.0;
    assert_eq!((slots(TEXT_BYTES_AT_ONCE).await, slots(TEXT_BYTES_AT_ONCE + 1).await), (0, 1));
}

/// Nothing ends a check by libyang: it keeps no slot from other work, and trees that are checked are bounded.
#[tokio::test]
async fn checks_of_whole_trees_have_slots_and_a_limit_of_their_own() {
    let (configs, anchor) =
        configs_with(Mode::Strict, ConfigOptions { strict_tree_bytes_max: 4_000, ..options(1) }).await;
    anchor.write_edits(&[add(anchor.schema(), &[one("x", 1)])], WriteOptions::default()).await.unwrap();
    let checks = configs.shared.strict_lane.taken();
    assert!(checks > 0);
    let other = [add(anchor.schema(), &[one("y", 1)])];
    let (slots, written) = slots_of(&configs, anchor.write_edits(&other, WriteOptions::default())).await;
    written.unwrap();
    assert_eq!((slots, configs.shared.strict_lane.taken()), (0, checks + 2));
    let much = [add(anchor.schema(), &large(40, 100))];
    let refused = anchor.write_edits(&much, WriteOptions::default()).await.unwrap_err();
    assert!(refused.to_string().contains("strict_tree_bytes_max"), "{refused}");
    assert_eq!(items_of(&anchor, None).await.unwrap().len(), 2);
}
