//! Documents that front ends keep beside the entities (contexts that users host): named texts in
//! collections, whole, durable. Not searched, not indexed.
//!
//! ```text
//! partition                row                    value
//! documents/{tenant}/0     collection 00 name     the document
//! ```

use bytes::Bytes;
use entity::Error;
use store::retry::RetryBackoff;
use store::rows::Pages;
use store::{
    Commit, Condition, ErrorKind, Partition, Range, ReadAttempts, Snapshot, Space, SpaceKind, Store, Tenant,
    Write, WriteIds,
};

/// Documents of one tenant.
const DOCUMENTS: Space = Space { id: 16, kind: SpaceKind::Commit, name: "documents" };
/// Ends the name of a collection in a key.
const TERMINATOR: u8 = 0;
/// Documents read in one page: each may be as large as a commit.
const PAGE_ROWS: usize = 16;
/// How often a delete starts again because another writer came first.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(16);

/// The documents of one tenant; clones share.
///
/// Collections are named by front ends, never by users, hold no zero byte, and do not begin with a capital letter (documents
/// are read by their keys).
#[derive(Clone, Debug)]
pub struct Documents {
    store: Store,
    partition: Partition,
    write_ids: WriteIds,
}

/// The key of a document.
fn key(collection: &str, name: &str) -> Bytes {
    debug_assert!(!collection.starts_with(|first: char| first.is_ascii_uppercase()), "read by its key");
    [collection.as_bytes(), &[TERMINATOR], name.as_bytes()].concat().into()
}

impl Documents {
    /// The documents of `tenant` in `store`.
    pub(crate) fn new(store: Store, tenant: Tenant, write_ids: WriteIds) -> Self {
        let partition = Partition { tenant, space: DOCUMENTS, bucket: 0 };
        Self { store, partition, write_ids }
    }

    /// Keeps a document, in place of the one of the same name. Cost: one commit.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn put(&self, collection: &str, name: &str, document: Bytes) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let write = Write::Put(key(collection, name), document.clone());
            match self.commit(Vec::new(), write).await {
                // It was not carried out.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                outcome => return Ok(outcome?),
            }
        }
        Err(attempts.exhausted(name).into())
    }

    /// A document. Cost: one read.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn get(&self, collection: &str, name: &str) -> Result<Option<Bytes>, Error> {
        let row = self.store.get_linear(&self.partition, &key(collection, name)).await?;
        Ok(row.map(|row| row.value))
    }

    /// The names of all documents of a collection, in their order, with the first `bytes` bytes of each, as they are at one
    /// moment. Cost: reads them all, a page at a time.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn heads(&self, collection: &str, bytes: usize) -> Result<Vec<(String, Bytes)>, Error> {
        let mut attempts = ReadAttempts::default();
        loop {
            match self.heads_of(&self.store.snapshot()?, collection, bytes).await {
                Err(Error::Store(error)) if attempts.again(&error) => {}
                outcome => return outcome,
            }
        }
    }

    async fn heads_of(
        &self,
        snapshot: &Snapshot,
        collection: &str,
        bytes: usize,
    ) -> Result<Vec<(String, Bytes)>, Error> {
        let prefix = key(collection, "");
        let mut pages = Pages::new(snapshot, &self.partition, Range::prefix(prefix.clone()), PAGE_ROWS);
        let mut documents = Vec::new();
        while let Some(page) = pages.next().await? {
            for (key, document) in page.rows() {
                let name = key.get(prefix.len()..).and_then(|name| std::str::from_utf8(name).ok());
                let name =
                    name.ok_or_else(|| store::Error::new(ErrorKind::Corrupt, "reading a document's name"))?;
                let head = document.get(..bytes).unwrap_or(document);
                documents.push((name.to_owned(), Bytes::copy_from_slice(head)));
            }
        }
        Ok(documents)
    }

    /// Removes a document; answers whether there was one. Cost: one read, one commit.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn delete(&self, collection: &str, name: &str) -> Result<bool, Error> {
        let key = key(collection, name);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if self.store.get_linear(&self.partition, &key).await?.is_none() {
                return Ok(false);
            }
            match self.commit(vec![Condition::Present(key.clone())], Write::Delete(key.clone())).await {
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                outcome => return outcome.map(|()| true).map_err(Error::from),
            }
        }
        Err(attempts.exhausted(name).into())
    }

    async fn commit(&self, conditions: Vec<Condition>, write: Write) -> Result<(), store::Error> {
        let commit = Commit {
            partition: self.partition.clone(),
            write_id: self.write_ids.next(),
            conditions,
            writes: vec![write],
            change: None,
            reclaims: false,
        };
        self.store.commit_known(commit).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use store::{Clock, MemoryOptions};

    use super::*;

    fn documents(store: &Store, tenant: u32) -> Documents {
        Documents::new(store.clone(), store::testing::tenant(tenant), WriteIds::new())
    }

    /// None that was put before comes after it, though nobody said what became of it.
    #[tokio::test]
    async fn the_document_that_was_put_last_stays_on_the_worst_store() {
        for seed in store::testing::seeds(40) {
            let store = store::testing::hostile(Clock::System, seed);
            let both = [documents(&store, 1), documents(&store.beside(), 1)];
            for (number, writer) in (0..20_u8).zip(both.iter().cycle()) {
                writer.put("contexts", "a", Bytes::copy_from_slice(&[number])).await.unwrap();
                for reader in both.iter().cycle().take(4) {
                    let found = reader.get("contexts", "a").await.unwrap();
                    assert_eq!(found.as_deref(), Some(&[number][..]), "seed {seed}");
                }
            }
            assert!(both[0].delete("contexts", "a").await.unwrap());
            assert!(!both[1].delete("contexts", "a").await.unwrap());
        }
    }

    #[tokio::test]
    async fn documents_are_kept_by_collection_name_and_tenant() {
        let store =
            Store::memory(MemoryOptions { clock: Clock::System, feed: store::FeedOptions::recommended() });
        let (mine, theirs) = (documents(&store, 0), documents(&store, 1));
        let many: Vec<String> = (100..100 + 2 * PAGE_ROWS + 3).map(|number| number.to_string()).collect();
        for name in &many {
            mine.put("things", name, Bytes::from(format!("text {name}"))).await.unwrap();
        }
        mine.put("things", "100", Bytes::from("newer")).await.unwrap();
        mine.put("thing", "s", Bytes::from("of another collection")).await.unwrap();
        theirs.put("things", "100", Bytes::from("theirs")).await.unwrap();

        let listed = mine.heads("things", 6).await.unwrap();
        assert!(listed.iter().map(|(name, _)| name).eq(&many));
        assert_eq!(listed[0].1, "newer");
        assert_eq!(listed[1].1, "text 1");
        assert_eq!(mine.get("things", "100").await.unwrap(), Some(Bytes::from("newer")));
        assert_eq!(theirs.heads("things", 100).await.unwrap(), [("100".into(), Bytes::from("theirs"))]);

        assert!(mine.delete("things", "100").await.unwrap());
        assert!(!mine.delete("things", "100").await.unwrap());
        assert_eq!(mine.get("things", "100").await.unwrap(), None);
        assert_eq!(theirs.get("things", "100").await.unwrap(), Some(Bytes::from("theirs")));
    }

    /// The first and the last of several pages are of one moment, be the engine one that keeps what was or not.
    #[test]
    fn a_list_is_of_one_moment() {
        let options = || MemoryOptions { clock: Clock::System, feed: store::FeedOptions::recommended() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for store in [Store::memory(options()), Store::validated_memory(options())] {
            let documents = documents(&store, 0);
            let write = |name: &str, number: usize| {
                let text = Bytes::from(number.to_string());
                runtime.block_on(documents.put("things", name, text)).unwrap();
            };
            (100..100 + 4 * PAGE_ROWS).for_each(|number| write(&number.to_string(), 0));
            write("last", 0);
            let (stop, mut listed) = (std::sync::atomic::AtomicBool::new(false), 0);
            std::thread::scope(|scope| {
                let reader = scope.spawn(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    for _ in 0..2_000 {
                        match runtime.block_on(documents.heads("things", 100)) {
                            Ok(heads) => {
                                let number = |at: Option<&(String, Bytes)>| {
                                    std::str::from_utf8(&at.unwrap().1).unwrap().parse::<usize>().unwrap()
                                };
                                let (first, last) = (number(heads.first()), number(heads.last()));
                                assert!(first == last || first == last + 1, "{first} beside {last}");
                                listed += 1;
                            }
                            Err(Error::Store(error)) => assert_eq!(error.kind(), ErrorKind::Changed),
                            Err(error) => panic!("{error}"),
                        }
                    }
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                });
                let mut number = 0;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) && !reader.is_finished() {
                    number += 1;
                    write("100", number);
                    write("last", number);
                }
            });
            assert!(listed > 0, "some lists are read between two writes");
        }
    }
}
