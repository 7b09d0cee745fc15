//! What one receiver is to be sent next: messages in memory, in order by key, within a pace that failures slow down. Pure: no
//! rows, no clock, nothing that waits.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bytes::Bytes;
use store::Timestamp;

use crate::Options;

/// One match on its way to a receiver.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// Its number: counts the messages of the receiver. Sent again it has the same.
    pub sequence: u64,
    /// Messages of one key are sent in order.
    pub key: u64,
    /// What the caller made of the match.
    pub payload: Bytes,
}

const FORMAT: u8 = 1;

impl Message {
    /// As the value of its row.
    pub(crate) fn to_value(&self) -> Bytes {
        [&[FORMAT], &self.key.to_be_bytes()[..], &self.payload].concat().into()
    }

    /// The message in a row; `None` for bytes that are none.
    pub(crate) fn of_row(sequence: u64, value: &[u8]) -> Option<Self> {
        let (&FORMAT, rest) = value.split_first()? else { return None };
        let (key, payload) = rest.split_first_chunk()?;
        Some(Self { sequence, key: u64::from_be_bytes(*key), payload: Bytes::copy_from_slice(payload) })
    }
}

/// The messages of one receiver that are in memory, and how fast they may go.
#[derive(Debug)]
pub(crate) struct Queue {
    /// By sequence number.
    waiting: BTreeMap<u64, Message>,
    /// Behind a key that is in flight.
    parked: HashMap<u64, BTreeMap<u64, Message>>,
    in_flight: HashMap<u64, Flight>,
    busy_keys: HashSet<u64>,
    /// All of the above.
    sequences: BTreeSet<u64>,
    bytes: usize,
    /// The most messages in flight: one after a failure, twice as many after each success.
    pace: usize,
    /// Counts failures: what was sent before the last one says nothing new by failing, too.
    generation: u64,
}

#[derive(Debug)]
struct Flight {
    messages: Vec<Message>,
    generation: u64,
}

/// Why the flight of a batch is there.
const IN_FLIGHT: &str = "a batch is in flight until it is settled, once";

impl Queue {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            waiting: BTreeMap::new(),
            parked: HashMap::new(),
            in_flight: HashMap::new(),
            busy_keys: HashSet::new(),
            sequences: BTreeSet::new(),
            bytes: 0,
            pace: full_pace(options),
            generation: 0,
        }
    }

    /// A receiver that failed before begins slowly.
    pub(crate) fn slow_down(&mut self) {
        self.pace = 1;
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.sequences.insert(message.sequence);
        self.bytes += message.payload.len();
        self.waiting.insert(message.sequence, message);
    }

    pub(crate) fn has(&self, sequence: u64) -> bool {
        self.sequences.contains(&sequence)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Messages in memory, those in flight too.
    pub(crate) fn len(&self) -> usize {
        self.sequences.len()
    }

    /// How many could be sent if their keys are free.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.sequences.is_empty()
    }

    /// Whether more may be in flight now.
    pub(crate) fn has_room(&self, options: &Options) -> bool {
        self.in_flight.len() < options.in_flight_max && self.room() > 0
    }

    fn room(&self) -> usize {
        let in_flight: usize = self.in_flight.values().map(|flight| flight.messages.len()).sum();
        self.pace.saturating_sub(in_flight)
    }

    /// Takes the next batch, under a number of the caller's. Cost: the messages in it, and those found behind keys in flight,
    /// each once for each flight.
    pub(crate) fn next_batch(&mut self, batch: u64, options: &Options) -> Option<Vec<Message>> {
        if !self.has_room(options) {
            return None;
        }
        let most = self.room().min(options.batch_messages_max.max(1));
        let mut messages: Vec<Message> = Vec::new();
        while messages.len() < most
            && let Some((sequence, message)) = self.waiting.pop_first()
        {
            if self.busy_keys.contains(&message.key) {
                self.parked.entry(message.key).or_default().insert(sequence, message);
            } else {
                messages.push(message);
            }
        }
        if messages.is_empty() {
            return None;
        }
        self.busy_keys.extend(messages.iter().map(|message| message.key));
        let flight = Flight { messages: messages.clone(), generation: self.generation };
        self.in_flight.insert(batch, flight);
        Some(messages)
    }

    /// Takes in that a batch was acknowledged; answers the numbers of its messages.
    pub(crate) fn acknowledged(&mut self, batch: u64, options: &Options) -> Vec<u64> {
        let flight = self.in_flight.remove(&batch).expect(IN_FLIGHT);
        self.free_keys(&flight.messages);
        self.pace = self.pace.saturating_mul(2).min(full_pace(options));
        flight.messages.iter().map(|message| self.forget(message)).collect()
    }

    /// Takes in that a batch failed; its messages wait again. Whether that is news: other batches that were sent before the last
    /// failure fail by the same cause.
    pub(crate) fn failed(&mut self, batch: u64) -> bool {
        let flight = self.in_flight.remove(&batch).expect(IN_FLIGHT);
        self.free_keys(&flight.messages);
        let is_news = flight.generation == self.generation;
        self.waiting.extend(flight.messages.into_iter().map(|message| (message.sequence, message)));
        if is_news {
            self.generation += 1;
            self.pace = 1;
        }
        is_news
    }

    /// Lets all messages go that are not in flight; answers the lowest number of them.
    pub(crate) fn drop_waiting(&mut self) -> Option<u64> {
        let parked = std::mem::take(&mut self.parked).into_values().flat_map(BTreeMap::into_values);
        let dropped: Vec<Message> = std::mem::take(&mut self.waiting).into_values().chain(parked).collect();
        dropped.iter().map(|message| self.forget(message)).min()
    }

    /// Whether this message is in flight.
    pub(crate) fn is_in_flight(&self, sequence: u64) -> bool {
        let is_it = |message: &Message| message.sequence == sequence;
        self.in_flight.values().any(|flight| flight.messages.iter().any(is_it))
    }

    /// All messages in memory, in no order.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Message> {
        let parked = self.parked.values().flat_map(BTreeMap::values);
        let in_flight = self.in_flight.values().flat_map(|flight| &flight.messages);
        self.waiting.values().chain(parked).chain(in_flight)
    }

    fn free_keys(&mut self, messages: &[Message]) {
        for message in messages {
            self.busy_keys.remove(&message.key);
            self.waiting.extend(self.parked.remove(&message.key).into_iter().flatten());
        }
    }

    fn forget(&mut self, message: &Message) -> u64 {
        self.sequences.remove(&message.sequence);
        self.bytes -= message.payload.len();
        message.sequence
    }
}

fn full_pace(options: &Options) -> usize {
    options.in_flight_max.max(1).saturating_mul(options.batch_messages_max.max(1))
}

/// When a receiver may be tried; all of its state that failures move.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Pause {
    pub(crate) failures: u32,
    pub(crate) retry_at: Timestamp,
}
