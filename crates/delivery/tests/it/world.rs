//! A store whose changes say whom they concern, and what receivers were sent.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use delivery::{BackOff, Batch, Delivery, Match, Options, Page, Receiver};
use store::testing::{TESTS, record, things};
use store::{Clock, Commit, ErrorKind, Store, Tenant, Timestamp, Write, WriteIds};

pub(crate) fn options() -> Options {
    Options {
        name: "tests",
        page_changes_max: 1_000,
        batch_messages_max: 2,
        in_flight_max: 2,
        sends_max: 8,
        window_messages_max: 6,
        memory_bytes_max: 1 << 20,
        outbox_messages_max: 1_000_000,
        outbox_bytes_max: 1 << 30,
        patience: Duration::from_secs(2),
        back_off: BackOff { first: Duration::from_secs(1), longest: Duration::from_secs(60) },
    }
}

pub(crate) fn receiver(store: &Store, id: u128) -> Receiver {
    let since = (0..store.feed_shards()).map(|shard| store.feed_end(shard)).collect();
    Receiver { id, tenant: Tenant::default(), since, is_paused: false }
}

/// What one receiver is to get, and what it got.
#[derive(Default)]
pub(crate) struct Expected {
    /// Key and number of each change that concerns it, in order.
    pub(crate) changes: Vec<(u8, u32)>,
    /// By change: the sequence numbers under which it was acknowledged.
    pub(crate) acknowledged: BTreeMap<u32, Vec<u64>>,
}

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    write_ids: WriteIds,
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) expected: Vec<Expected>,
    pub(crate) under_way: Vec<Batch>,
    count: u32,
    /// Times that another follower got in the way.
    pub(crate) conflicts: usize,
    /// Whether messages may be lost.
    pub(crate) is_lossy: bool,
}

impl World {
    pub(crate) fn new(store: Store, clock: Clock, receivers: usize) -> Self {
        Self {
            receivers: (0..receivers).map(|at| receiver(&store, at as u128 + 1)).collect(),
            expected: (0..receivers).map(|_| Expected::default()).collect(),
            under_way: Vec::new(),
            write_ids: WriteIds::new(),
            store,
            clock,
            count: 0,
            conflicts: 0,
            is_lossy: false,
        }
    }

    pub(crate) async fn open(&self, options: Options) -> Delivery {
        loop {
            match Delivery::open(self.store.clone(), options, self.receivers.clone()).await {
                // The worst store refuses commits that nobody disturbed.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                opened => return opened.unwrap(),
            }
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A change in the partition `key` that concerns the receivers of these bits.
    pub(crate) async fn change(&mut self, mask: u8, key: u8) {
        self.count += 1;
        let said = [&[mask, key][..], &self.count.to_be_bytes()].concat();
        let commit = || Commit {
            partition: things(key.into()),
            write_id: self.write_ids.next(),
            conditions: Vec::new(),
            writes: vec![Write::Put(Bytes::from_static(b"row"), Bytes::new())],
            change: Some(record(said.clone())),
            reclaims: false,
        };
        while let Err(error) = self.store.commit_known(commit()).await {
            assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        }
        for (at, expected) in self.expected.iter_mut().enumerate() {
            if mask & (1 << at) != 0 {
                expected.changes.push((key, self.count));
            }
        }
    }

    pub(crate) fn matches(&self, page: &Page) -> Vec<Match> {
        let mut matches = Vec::new();
        for change in &page.changes {
            let Some(own) = change.record.of(TESTS) else { continue };
            let (mask, key) = (own.payload[0], own.payload[1]);
            for (at, receiver) in self.receivers.iter().enumerate().take(8) {
                if mask & (1 << at) != 0 {
                    let payload = Bytes::copy_from_slice(&own.payload[1..]);
                    matches.push(Match { receiver: receiver.id, key: key.into(), payload });
                }
            }
        }
        matches
    }

    /// Reads all there is room for.
    pub(crate) async fn read_all(&self, delivery: &mut Delivery) -> Result<(), store::Error> {
        while let Some(page) = delivery.read().await? {
            let matches = self.matches(&page);
            delivery.offer(&page, matches, self.now()).await?;
        }
        Ok(())
    }

    /// Reads all there is room for, and takes batches.
    pub(crate) async fn step(&mut self, delivery: &mut Delivery) {
        if let Err(error) = self.read_all(delivery).await {
            return self.begin_anew(delivery, &error).await;
        }
        let batches = match delivery.batches(self.now()).await {
            Ok(batches) => batches,
            Err(error) => return self.begin_anew(delivery, &error).await,
        };
        for batch in &batches {
            self.check_order(batch);
        }
        self.under_way.extend(batches);
    }

    /// A change for the first receiver, which refuses it: it is stored, and the position moves behind it.
    pub(crate) async fn leave_one_in_the_outbox(&mut self, delivery: &mut Delivery) {
        self.change(1, 0).await;
        self.step(delivery).await;
        self.settle(delivery, 0, false);
        for _ in 0..2 {
            delivery.flush(self.now()).await.unwrap();
        }
    }

    /// Nothing is sent before all earlier messages of its key were acknowledged.
    pub(crate) fn check_order(&self, batch: &Batch) {
        if self.is_lossy {
            return;
        }
        let expected = &self.expected[usize::try_from(batch.receiver).unwrap() - 1];
        let mut before: Vec<u32> = Vec::new();
        for message in &batch.messages {
            let (key, number) = parts(&message.payload);
            let earlier = expected.changes.iter().take_while(|change| **change != (key, number));
            for (_, earlier) in earlier.filter(|change| change.0 == key) {
                let is_acknowledged = expected.acknowledged.contains_key(earlier) || before.contains(earlier);
                assert!(is_acknowledged, "{earlier} comes before {number} of key {key}");
            }
            before.push(number);
        }
    }

    /// Answers a batch under way.
    pub(crate) fn settle(&mut self, delivery: &mut Delivery, at: usize, is_taken: bool) {
        if self.under_way.is_empty() {
            return;
        }
        let batch = self.under_way.remove(at % self.under_way.len());
        if is_taken {
            let expected = &mut self.expected[usize::try_from(batch.receiver).unwrap() - 1];
            for message in &batch.messages {
                let numbers = expected.acknowledged.entry(parts(&message.payload).1).or_default();
                numbers.push(message.sequence);
            }
        }
        delivery.settle(batch.number, if is_taken { Ok(()) } else { Err("refused") }, self.now());
    }

    /// Flushes; one that was disturbed by another follower begins anew.
    pub(crate) async fn flush(&mut self, delivery: &mut Delivery) {
        if let Err(error) = delivery.flush(self.now()).await {
            self.begin_anew(delivery, &error).await;
        }
    }

    async fn begin_anew(&mut self, delivery: &mut Delivery, error: &store::Error) {
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        self.conflicts += 1;
        self.under_way.clear();
        *delivery = self.open(options()).await;
    }

    /// Takes everything from here on, until nothing is left.
    pub(crate) async fn finish(&mut self, delivery: &mut Delivery) {
        for _ in 0..1_000 {
            let conflicts = self.conflicts;
            self.step(delivery).await;
            let was_idle = self.under_way.is_empty();
            while !self.under_way.is_empty() {
                self.settle(delivery, 0, true);
            }
            self.flush(delivery).await;
            let was_alone = conflicts == self.conflicts;
            self.clock.pass(Duration::from_secs(1));
            let mut pending = 0;
            for receiver in &self.receivers {
                let status = delivery::read_status(&self.store, &receiver.tenant, receiver.id).await.unwrap();
                pending += status.pending + u64::from(status.retry_at > self.now());
            }
            if was_alone && was_idle && pending == 0 {
                return;
            }
        }
        panic!("it does not come to an end");
    }
}

/// Key and number of the change that a message is of.
pub(crate) fn parts(payload: &[u8]) -> (u8, u32) {
    (payload[0], u32::from_be_bytes(payload[1..].try_into().unwrap()))
}
