//! Writers that end between any two of their steps, and stores that are opened again.

use std::pin::Pin;
use std::task::{Context, Poll};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

/// Work that ends after so many steps, done or not.
struct Killed<F> {
    work: Pin<Box<F>>,
    steps: usize,
}

impl<F: Future> Future for Killed<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.steps == 0 {
            return Poll::Ready(None);
        }
        self.steps -= 1;
        self.work.as_mut().poll(context).map(Some)
    }
}

fn killed<F: Future>(work: F, steps: usize) -> Killed<F> {
    Killed { work: Box::pin(work), steps }
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(work);
}

/// One change or roll-back, which may end early.
async fn change(configs: &Configs, random: &mut StdRng) {
    let anchor = configs.anchor("d", "a").await.unwrap();
    let steps = random.random_range(1..60);
    let options = WriteOptions::default();
    match random.random_range(0..4) {
        0 => {
            let versions = anchor.versions().await.unwrap();
            let to = versions[random.random_range(0..versions.len())].version;
            killed(anchor.roll_back(to, options), steps).await;
        }
        1 => {
            let nothing = [Edit::Delete { entry: Place::Label(Label::top()) }];
            killed(anchor.write_edits(&nothing, options), steps).await;
        }
        2 => _ = killed(configs.tidy(), steps).await,
        _ => {
            let new = large(random.random_range(1..40), 500).into_iter();
            let new =
                new.map(|(name, count, note)| (format!("{name}-{}", random.random::<u64>()), count, note));
            let edits = [add(anchor.schema(), &new.collect::<Vec<_>>())];
            killed(anchor.write_edits(&edits, options), steps).await;
        }
    }
}

/// Every version that is kept can be read, and is what it was when it was first seen.
async fn check(configs: &Configs, seen: &mut std::collections::HashMap<u64, Vec<Item>>) {
    let anchor = configs.anchor("d", "a").await.unwrap();
    for info in anchor.versions().await.unwrap() {
        let items = match items_of(&anchor, Some(info.version)).await {
            // A commit that was under way when its writer ended came now, and dropped it.
            Err(Error::UnknownVersion { .. }) => continue,
            items => items.unwrap(),
        };
        assert_eq!(seen.entry(info.version.0).or_insert_with(|| items.clone()), &items, "{}", info.version);
    }
}

#[test]
fn writers_that_end_at_any_step_leave_whole_versions() {
    for seed in store::testing::seeds(24) {
        run(async {
            let store = store::testing::hostile(clock(), seed);
            let nodes = [store.clone(), store.beside()].map(|store| Configs::new(store, clock(), options(2)));
            make(&nodes[0], Mode::Lenient).await;
            nodes[0].create_anchor("d", "s", "a").await.unwrap();
            let mut random = StdRng::seed_from_u64(seed);
            let mut seen = std::collections::HashMap::new();
            for _ in 0..30 {
                let node = &nodes[random.random_range(0..2)];
                change(node, &mut random).await;
                check(node, &mut seen).await;
            }
            let anchor = nodes[1].anchor("d", "a").await.unwrap();
            anchor
                .write_edits(&[add(anchor.schema(), &[one("last", 1)])], WriteOptions::default())
                .await
                .unwrap();
            assert_eq!(items_of(&anchor, None).await.unwrap().last(), Some(&one("last", 1)), "it goes on");
        });
    }
}

#[test]
fn removals_and_creations_that_end_at_any_step_are_done_again() {
    for seed in store::testing::seeds(24) {
        run(async {
            let store = store::testing::hostile(clock(), seed);
            let configs = Configs::new(store.clone(), clock(), options(2));
            let mut random = StdRng::seed_from_u64(seed);
            let mut steps = || random.random_range(1..80);
            let files = files(SHOP);
            for _ in 0..6 {
                killed(configs.create_dataspace("d"), steps()).await;
                let made = configs.create_schema_set("d", "s", &files, schema_set_options(Mode::Lenient));
                killed(made, steps()).await;
                killed(configs.create_anchor("d", "s", "a"), steps()).await;
                killed(configs.remove_anchor("d", "a"), steps()).await;
                killed(configs.clean_dataspace("d"), steps()).await;
                killed(configs.remove_dataspace("d"), steps()).await;
            }
            // Whatever is there now: all can be made whole, used, and removed.
            let done = |outcome: Result<(), Error>| match outcome {
                Ok(()) | Err(Error::AlreadyExists { .. }) => {}
                Err(error) => panic!("seed {seed}: {error}"),
            };
            done(configs.create_dataspace("d").await);
            let made = configs.create_schema_set("d", "s", &files, schema_set_options(Mode::Lenient)).await;
            done(made.map(drop));
            done(configs.create_anchor("d", "s", "a").await.map(drop));
            let other = Configs::new(store.beside(), clock(), options(2));
            let anchor = other.anchor("d", "a").await.unwrap();
            anchor
                .write_edits(&[add(anchor.schema(), &[one("x", 1)])], WriteOptions::default())
                .await
                .unwrap();
            assert_eq!(other.schema_set_files("d", "s").await.unwrap(), files, "seed {seed}");
            other.remove_anchor("d", "a").await.unwrap();
            other.remove_schema_set("d", "s").await.unwrap();
            other.remove_dataspace("d").await.unwrap();
            assert_eq!(configs.dataspaces().await.unwrap(), []);
        });
    }
}

#[test]
fn texts_of_schema_sets_that_never_came_about_go() {
    let mut random = StdRng::seed_from_u64(7);
    let noise: String = (0..3 << 20).map(|_| char::from(random.random_range(b' '..b'~'))).collect();
    let files = files(&SHOP.replacen(
        "revision",
        &format!("description '{}'; revision", noise.replace('\'', "_")),
        1,
    ));
    let mut left = 0;
    for seed in store::testing::seeds(32) {
        run(async {
            let store = store::testing::hostile(clock(), seed);
            let configs = Configs::new(store.clone(), clock(), options(2));
            configs.create_dataspace("d").await.unwrap();
            // Some end before their appends, some after their commit.
            const STEPS_MAX: usize = 40;
            let made = configs.create_schema_set("d", "s", &files, schema_set_options(Mode::Lenient));
            let made = killed(made, StdRng::seed_from_u64(seed).random_range(1..STEPS_MAX)).await;
            assert!(!matches!(made, Some(Err(_))), "{made:?}");
            // Whoever comes next.
            let other = Configs::new(store.beside(), clock(), options(2));
            if other.schema_set("d", "s").await.is_ok() {
                return;
            }
            left += u32::from(text_rows(&other).await > 0);
            tidy(&other).await;
            assert_eq!(text_rows(&other).await, 0, "seed {seed}");
        });
    }
    assert!(left > 0, "some ended between their appends and their commit");
}

/// Rows of texts and compiled schemas.
async fn text_rows(configs: &Configs) -> usize {
    let partition = keys::blobs(configs.tenant());
    let (mut rows, mut pages) = (0, RowPages::new(configs.store(), &partition, keys::all_blobs(), 1_000));
    while let Some(page) = pages.next().await.unwrap() {
        rows += page.len();
    }
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_is_there_when_the_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(folder.path(), embedded_options()).unwrap();
    let many = large(2_000, 400);
    let (number, small) = {
        let store = open();
        let configs = made(store.clone(), clock(), 1).await;
        let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
        anchor.write_edits(&[add(anchor.schema(), &many)], WriteOptions::default()).await.unwrap();
        anchor.write_edits(&[set_count(anchor.schema(), "i7", -7)], WriteOptions::default()).await.unwrap();
        let small = configs.create_anchor("d", "s", "small").await.unwrap();
        small.write_edits(&[add(small.schema(), &many[..3])], WriteOptions::default()).await.unwrap();
        configs.create_anchor("d", "s", "gone").await.unwrap();
        configs.remove_anchor("d", "gone").await.unwrap();
        let numbers = (anchor.number(), small.number());
        store.close().await.unwrap();
        numbers
    };
    let store = open();
    let configs = Configs::new(store.clone(), clock(), options(1));
    let anchor = configs.anchor("d", "a").await.unwrap();
    assert_eq!((anchor.number(), anchor.version().await.unwrap()), (number, VersionId(2)));
    let mut expected = many.clone();
    assert_eq!(items_of(&anchor, Some(VersionId(1))).await.unwrap(), expected);
    expected[7].1 = -7;
    assert_eq!(items_of(&anchor, None).await.unwrap(), expected);
    let again = configs.anchor("d", "small").await.unwrap();
    assert_eq!((again.number(), items_of(&again, None).await.unwrap()), (small, many[..3].to_vec()));
    assert!(matches!(configs.anchor("d", "gone").await, Err(Error::UnknownAnchor { .. })));
    store.close().await.unwrap();
}
