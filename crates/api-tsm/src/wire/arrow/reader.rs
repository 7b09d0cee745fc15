//! Reads the stream: cuts it into messages, looks at each before the Arrow library may, and hands its batches on.
//!
//! A message is kept whole (up to `batch_bytes_max`) and its memory grows with the bytes that came, never with the
//! length that it claims. The newest dictionary of each column stays until the body ends. Only the types of `schema`
//! pass, no compression, and no growing dictionaries.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use arrow_buffer::MutableBuffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{Message, MessageHeader};
use arrow_schema::ArrowError;

use super::batch::take_batch;
use super::bounds::{Layouts, claimed};
use super::message::{CONTINUATION, PREFIX};
use super::schema::Columns;
use crate::wire::gather::Gather;
use crate::wire::{Given, ReadLimits, Shape, WireError};

/// Room made at once for a message that claims to be long.
const ROOM_MAX: usize = 2 << 20;

/// Reads an Arrow stream.
pub(crate) struct ArrowReader {
    shape: Shape,
    limits: ReadLimits,
    /// The message that is coming, its length as far as it is known, and how many bytes came before it.
    message: MutableBuffer,
    length: usize,
    base: usize,
    /// Whether `length` is that of the whole message, not only of beginning and description.
    described: bool,
    ended: bool,
    columns: Option<Columns>,
    layouts: Layouts,
    /// The dictionary that the message brings, and how long those are, by ID, that the decoder keeps.
    dictionary: Option<i64>,
    dictionaries: BTreeMap<i64, usize>,
    decoder: StreamDecoder,
    gather: Gather,
}

impl ArrowReader {
    pub(crate) fn new(shape: Shape, limits: ReadLimits) -> Self {
        Self {
            shape,
            limits,
            message: MutableBuffer::default(),
            length: PREFIX,
            base: 0,
            described: false,
            ended: false,
            columns: None,
            layouts: Layouts::default(),
            dictionary: None,
            dictionaries: BTreeMap::new(),
            decoder: StreamDecoder::new(),
            gather: Gather::new(shape, limits),
        }
    }

    /// See [`Gather::address`].
    pub(crate) fn address(&mut self, names: &[&str]) {
        self.gather.address(names);
    }

    pub(crate) fn feed(&mut self, mut chunk: &[u8]) -> Result<(), WireError> {
        while !chunk.is_empty() {
            if self.ended {
                return Err(self.refuse("something follows the end of the stream"));
            }
            let missing = self.length - self.message.len();
            let (now, rest) = chunk.split_at(missing.min(chunk.len()));
            if self.message.capacity() < self.length {
                self.message.reserve(missing.min(ROOM_MAX.max(now.len())));
            }
            self.message.extend_from_slice(now);
            chunk = rest;
            while !self.ended && self.message.len() == self.length {
                self.advance()?;
            }
        }
        Ok(())
    }

    /// Points, series, and bytes that wait or are kept.
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        let kept: usize = self.dictionaries.values().sum();
        (self.gather.points, self.gather.series.len(), self.message.len() + kept)
    }

    pub(crate) fn finish(self) -> Result<Vec<Given>, WireError> {
        if !self.ended && !self.message.is_empty() {
            return Err(self.refuse("the Arrow stream ends within a message"));
        }
        if self.columns.is_none() {
            return Err(self.refuse("the Arrow stream has no schema"));
        }
        self.gather.finish()
    }

    fn refuse(&self, reason: &str) -> WireError {
        WireError::new(format!("{reason}, in the message at byte {}", self.base))
    }

    /// Continues once `length` bytes are received: finds out how long the message is, or takes it.
    fn advance(&mut self) -> Result<(), WireError> {
        if self.length == PREFIX {
            return self.read_prefix();
        }
        if !self.described {
            let body = self.inspect()?;
            self.described = true;
            self.length += body;
            if self.message.len() < self.length {
                return Ok(());
            }
        }
        let message = std::mem::take(&mut self.message);
        let length = message.len();
        self.check_body(message.as_slice())?;
        self.decode(message)?;
        if let Some(id) = self.dictionary.take() {
            self.dictionaries.insert(id, length);
        }
        self.base += length;
        self.length = PREFIX;
        self.described = false;
        Ok(())
    }

    fn read_prefix(&mut self) -> Result<(), WireError> {
        let prefix = self.message.as_slice().split_first_chunk::<4>();
        let (continuation, length) = prefix.expect("a prefix has eight bytes");
        let length = u32::from_le_bytes(*length.first_chunk().expect("a prefix has eight bytes")) as usize;
        if *continuation != CONTINUATION {
            return Err(self.refuse("this is not an Arrow stream"));
        }
        if length == 0 {
            self.ended = true;
            return Ok(());
        }
        if length > self.limits.batch_bytes_max {
            return Err(self.too_long());
        }
        self.length = PREFIX + length;
        Ok(())
    }

    fn too_long(&self) -> WireError {
        self.refuse(&format!("more than {} bytes (write_batch_bytes_max)", self.limits.batch_bytes_max))
            .of_limit()
    }

    /// Looks at the description: what the message is, and how long its body.
    fn inspect(&mut self) -> Result<usize, WireError> {
        let description = self.message.as_slice().get(PREFIX..).expect("a prefix begins each message");
        let malformed = || self.refuse("a malformed description");
        let message = arrow_ipc::root_as_message(description).map_err(|_| malformed())?;
        let body = usize::try_from(message.bodyLength()).map_err(|_| malformed())?;
        if description.len().saturating_add(body) > self.limits.batch_bytes_max {
            return Err(self.too_long());
        }
        let (mut schema, mut brought) = (None, None);
        match message.header_type() {
            MessageHeader::Schema if self.columns.is_none() => schema = Some(self.read_schema(&message)?),
            MessageHeader::DictionaryBatch if self.columns.is_some() => {
                let dictionary = message.header_as_dictionary_batch().ok_or_else(malformed)?;
                if dictionary.isDelta() {
                    return Err(self.refuse("a dictionary that grows, which is not read,"));
                }
                self.refuse_compressed(dictionary.data())?;
                brought = Some(dictionary.id());
            }
            MessageHeader::RecordBatch if self.columns.is_some() => {
                self.refuse_compressed(message.header_as_record_batch())?;
            }
            _ => return Err(self.refuse("another message than was due")),
        }
        self.dictionary = brought;
        if let Some((columns, layouts)) = schema {
            (self.columns, self.layouts) = (Some(columns), layouts);
        }
        Ok(body)
    }

    fn refuse_compressed(&self, batch: Option<arrow_ipc::RecordBatch<'_>>) -> Result<(), WireError> {
        match batch {
            None => Err(self.refuse("a malformed description")),
            Some(batch) if batch.compression().is_some() => {
                Err(self.refuse("compressed buffers, which are not read (compress the whole body instead),"))
            }
            Some(_) => Ok(()),
        }
    }

    fn read_schema(&self, message: &Message<'_>) -> Result<(Columns, Layouts), WireError> {
        let described = message.header_as_schema().ok_or_else(|| self.refuse("a malformed schema"))?;
        let schema = guarded(|| arrow_ipc::convert::try_fb_to_schema(described))
            .map_err(|reason| self.refuse(&reason))?;
        let columns = Columns::find(&schema)?;
        if self.shape == Shape::Bulk && columns.series.is_none() {
            return Err(WireError::new("there is no column series"));
        }
        Ok((columns, Layouts::of(&schema, described)))
    }

    /// Refuses a whole message whose description does not fit its body, or whose views claim more text than a message may
    /// have.
    fn check_body(&self, message: &[u8]) -> Result<(), WireError> {
        let malformed = || self.refuse("a malformed description");
        let described = message.get(PREFIX..).ok_or_else(malformed)?;
        let root = arrow_ipc::root_as_message(described).map_err(|_| malformed())?;
        let body = usize::try_from(root.bodyLength()).ok().and_then(|body| message.len().checked_sub(body));
        let body = body.and_then(|start| message.get(start..)).ok_or_else(malformed)?;
        let dictionary;
        let (batch, columns) = match root.header_type() {
            MessageHeader::RecordBatch => (root.header_as_record_batch(), self.layouts.columns.as_slice()),
            MessageHeader::DictionaryBatch => {
                let batch = root.header_as_dictionary_batch().ok_or_else(malformed)?;
                let values = self.layouts.dictionaries.get(&batch.id());
                dictionary = *values.ok_or_else(|| self.refuse("a dictionary that no column has,"))?;
                (batch.data(), std::slice::from_ref(&dictionary))
            }
            _ => return Ok(()),
        };
        let claimed = batch.and_then(|batch| claimed(batch, columns, body));
        let claimed = claimed.ok_or_else(|| self.refuse("a description that does not fit its body"))?;
        if usize::try_from(claimed).is_ok_and(|claimed| claimed <= self.limits.batch_bytes_max) {
            Ok(())
        } else {
            Err(self.too_long())
        }
    }

    /// Takes a whole message.
    fn decode(&mut self, message: MutableBuffer) -> Result<(), WireError> {
        let mut buffer = arrow_buffer::Buffer::from(message);
        while !buffer.is_empty() {
            let decoder = &mut self.decoder;
            let batch = guarded(|| decoder.decode(&mut buffer)).map_err(|reason| self.refuse(&reason))?;
            if let (Some(batch), Some(columns)) = (batch, self.columns) {
                self.take(&batch, columns)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, batch: &RecordBatch, columns: Columns) -> Result<(), WireError> {
        take_batch(&mut self.gather, batch, columns)
    }
}

/// Calls the Arrow library, which promises errors for malformed input; should it panic instead, that is an error too, and
/// the reader is not used again.
fn guarded<T>(call: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(format!("{error}")),
        Err(_) => Err("malformed buffers".to_owned()),
    }
}
