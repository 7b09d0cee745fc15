//! Random loads beside commits, snapshots and readers, against a plain map.

use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::random::{run, runtime};
use super::{FEED, commit, things};
use crate::{
    Clock, Direction, EmbeddedOptions, ErrorKind, Load, LoadRows, MemoryOptions, Range, Snapshot, Stamp,
    Store, Timestamp, Write,
};

type Values = BTreeMap<Bytes, (Bytes, bool)>;

#[derive(Clone, Debug)]
enum Step {
    /// Key, value, whether it is stamped; no value: it is removed.
    Commit(Bytes, Option<Bytes>, bool),
    RemoveFrom(Bytes),
    /// On the version of a row that is there.
    Conditional(Bytes, Bytes),
    Begin,
    Add(usize, Vec<(Bytes, Bytes, bool)>),
    Finish(usize),
    Drop(usize),
    Get(Bytes),
    Skip(Bytes),
    Snapshot,
    Reopen,
}

fn key() -> impl Strategy<Value = Bytes> {
    let text = prop_oneof![4 => "[a-d]{0,2}", 1 => "[a-b]{17,19}", 1 => "T[ab]?"];
    text.prop_map(Bytes::from)
}

fn value() -> impl Strategy<Value = Bytes> {
    proptest::collection::vec(any::<u8>(), 0..40).prop_map(Bytes::from)
}

fn row() -> impl Strategy<Value = (Bytes, Bytes, bool)> {
    (key(), value(), any::<bool>()).prop_map(|(key, value, stamped)| {
        let stamped = stamped && !key.starts_with(b"T");
        (key, value, stamped)
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (row(), proptest::bool::weighted(0.7))
            .prop_map(|((key, value, stamped), is_put)| Step::Commit(key, is_put.then_some(value), stamped)),
        1 => key().prop_map(Step::RemoveFrom),
        2 => (key(), value()).prop_map(|(key, value)| Step::Conditional(key, value)),
        2 => Just(Step::Begin),
        8 => (0..3_usize, proptest::collection::vec(row(), 0..30)).prop_map(|(at, rows)| Step::Add(at, rows)),
        3 => (0..3_usize).prop_map(Step::Finish),
        1 => (0..3_usize).prop_map(Step::Drop),
        4 => key().prop_map(Step::Get),
        2 => key().prop_map(Step::Skip),
        2 => Just(Step::Snapshot),
        1 => Just(Step::Reopen),
    ]
}

struct Scene {
    store: Store,
    values: Values,
    loads: Vec<(Load, Values)>,
    snapshots: Vec<(Snapshot, Values)>,
    writes: u128,
}

impl Scene {
    async fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Commit(key, value, is_stamped) => {
                let write = match value {
                    None => Write::Delete(key.clone()),
                    Some(value) if *is_stamped => Write::PutStamped(key.clone(), value.clone()),
                    Some(value) => Write::Put(key.clone(), value.clone()),
                };
                self.commit(vec![], write).await;
                match value {
                    None => drop(self.values.remove(key)),
                    Some(value) => drop(self.values.insert(key.clone(), (value.clone(), *is_stamped))),
                }
            }
            Step::RemoveFrom(start) => {
                let range = Range { start: start.clone(), end: None };
                self.commit(vec![], Write::DeleteRange(range)).await;
                self.values.retain(|key, _| key < start);
            }
            Step::Conditional(key, value) => {
                let row = self.store.get(&things(0), key).await.unwrap();
                if let Some(row) = row.filter(|row| row.stamp != Stamp::default()) {
                    let same = vec![crate::Condition::Version(key.clone(), row.stamp)];
                    self.commit(same.clone(), Write::PutStamped(key.clone(), value.clone())).await;
                    self.values.insert(key.clone(), (value.clone(), true));
                    let again = self.store.commit(commit(self.writes, same, vec![])).await;
                    prop_assert_eq!(again.unwrap_err().kind(), ErrorKind::Conflict);
                }
            }
            Step::Get(key) => self.get(key).await?,
            Step::Skip(from) => self.skip(from).await?,
            Step::Snapshot => {
                self.snapshots.push((self.store.snapshot().unwrap(), self.values.clone()));
            }
            step => self.step_of_load(step).await,
        }
        Ok(())
    }

    async fn step_of_load(&mut self, step: &Step) {
        match step {
            Step::Begin if self.loads.len() < 3 => {
                let load = self.store.load(&things(0), self.store.fence(&things(0))).await.unwrap();
                self.loads.push((load, Values::new()));
            }
            Step::Add(at, rows) => {
                let Some((load, values)) = self.loads.get_mut(*at) else { return };
                let mut packed = LoadRows::default();
                for (key, value, is_stamped) in rows {
                    match is_stamped {
                        true => packed.put_stamped(key, value),
                        false => packed.put(key, value),
                    }
                    values.insert(key.clone(), (value.clone(), *is_stamped));
                }
                load.add(packed).await.unwrap();
            }
            Step::Finish(at) if *at < self.loads.len() => {
                let (load, values) = self.loads.remove(*at);
                load.finish(None).await.unwrap();
                self.values.extend(values);
            }
            Step::Drop(at) if *at < self.loads.len() => drop(self.loads.remove(*at)),
            _ => {}
        }
    }

    async fn commit(&mut self, conditions: Vec<crate::Condition>, write: Write) {
        self.writes += 1;
        self.store.commit(commit(self.writes, conditions, vec![write])).await.unwrap();
    }

    async fn get(&self, key: &Bytes) -> Result<(), TestCaseError> {
        let row = self.store.get(&things(0), key).await.unwrap();
        let found = row.map(|row| (row.value, row.stamp != Stamp::default()));
        prop_assert_eq!(found.as_ref(), self.values.get(key));
        Ok(())
    }

    async fn skip(&self, from: &Bytes) -> Result<(), TestCaseError> {
        let skipped = self.store.skip(&things(0), &Range::default(), from, usize::MAX).await.unwrap();
        prop_assert_eq!(skipped.rows, self.values.range(from.clone()..).count());
        Ok(())
    }

    /// Everything there is, and was.
    async fn check(&self) -> Result<(), TestCaseError> {
        let all = Range::default();
        let page = self.store.scan(&things(0), &all, Direction::Forward, 9_999).await.unwrap();
        let found: Vec<_> = page.rows().collect();
        let expected: Vec<_> = self.values.iter().map(|(key, (value, _))| (&key[..], &value[..])).collect();
        prop_assert_eq!(found, expected);
        for key in self.values.keys() {
            self.get(key).await?;
        }
        for (snapshot, values) in &self.snapshots {
            for key in self.values.keys().chain(values.keys()) {
                let row = snapshot.get(&things(0), key).await.unwrap();
                let found = row.map(|row| row.value);
                prop_assert_eq!(found.as_ref(), values.get(key).map(|(value, _)| value), "{:?}", key);
            }
            let page = snapshot.scan(&things(0), &all, Direction::Forward, 9_999).await.unwrap();
            prop_assert_eq!(page.len(), values.len());
        }
        Ok(())
    }
}

async fn check(
    steps: &[Step],
    store: Store,
    reopen: impl AsyncFn(Store) -> Store,
) -> Result<(), TestCaseError> {
    let (loads, snapshots) = (Vec::new(), Vec::new());
    let mut scene = Scene { store, values: Values::new(), loads, snapshots, writes: 0 };
    for step in steps {
        if matches!(step, Step::Reopen) {
            scene.check().await?;
            scene.loads.clear();
            scene.snapshots.clear();
            scene.store = reopen(scene.store).await;
        }
        scene.step(step).await?;
    }
    scene.check().await
}

#[test]
fn loads_into_memory_do_what_a_map_does() {
    let runtime = runtime();
    run(200, step(), |steps| {
        let store = Store::memory(MemoryOptions { clock: Clock::manual(Timestamp(0)), feed: FEED });
        runtime.block_on(check(steps, store, async |store| store))
    });
}

#[test]
fn loads_into_the_embedded_engine_do_what_a_map_does() {
    let runtime = runtime();
    run(40, step(), |steps| {
        let folder = tempfile::tempdir().unwrap();
        let options = EmbeddedOptions {
            feed: FEED,
            cache_bytes: 1 << 20,
            memtable_bytes: 64 << 10,
            load_bytes: 8 << 10,
            ..EmbeddedOptions::recommended()
        };
        let open = || Store::open(folder.path(), options.clone()).unwrap();
        let reopen = async |store: Store| {
            store.close().await.unwrap();
            drop(store);
            open()
        };
        runtime.block_on(check(steps, open(), reopen))
    });
}
