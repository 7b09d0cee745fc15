//! Messages of the stream: a length, a description (FlatBuffers), and a body of buffers (Arrow columnar format 1.5, "IPC").

use arrow_ipc::{
    Buffer, DictionaryBatchBuilder, FieldNode, MessageBuilder, MessageHeader, MetadataVersion,
    RecordBatchBuilder,
};
use flatbuffers::FlatBufferBuilder;

/// What every message begins with.
pub(crate) const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes of the beginning: the continuation and the length of the description.
pub(crate) const PREFIX: usize = 8;
/// The stream's last message: a description of no length.
pub(crate) const END: [u8; PREFIX] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Lays out a message before its body is appended.
#[derive(Default)]
pub(crate) struct Layout {
    nodes: Vec<FieldNode>,
    buffers: Vec<Buffer>,
    length: usize,
}

impl Layout {
    /// The next column has this many entries and nulls.
    pub(crate) fn column(&mut self, entries: usize, nulls: usize) {
        self.nodes.push(FieldNode::new(signed(entries), signed(nulls)));
    }

    /// The next buffer of the column has this many bytes, padded to 8.
    pub(crate) fn buffer(&mut self, bytes: usize) {
        self.buffers.push(Buffer::new(signed(self.length), signed(bytes)));
        self.length += bytes.next_multiple_of(8);
    }

    /// Appends beginning and description; the body must follow. With `dictionary`, the message is a dictionary of that number.
    pub(crate) fn write(&self, out: &mut Vec<u8>, entries: usize, dictionary: Option<i64>) {
        let mut builder = FlatBufferBuilder::with_capacity(512);
        let nodes = builder.create_vector(&self.nodes);
        let buffers = builder.create_vector(&self.buffers);
        let mut batch = RecordBatchBuilder::new(&mut builder);
        batch.add_length(signed(entries));
        batch.add_nodes(nodes);
        batch.add_buffers(buffers);
        let batch = batch.finish();
        let (kind, header) = match dictionary {
            None => (MessageHeader::RecordBatch, batch.as_union_value()),
            Some(number) => {
                let mut dictionary = DictionaryBatchBuilder::new(&mut builder);
                dictionary.add_id(number);
                dictionary.add_data(batch);
                (MessageHeader::DictionaryBatch, dictionary.finish().as_union_value())
            }
        };
        let mut message = MessageBuilder::new(&mut builder);
        message.add_version(MetadataVersion::V5);
        message.add_header_type(kind);
        message.add_bodyLength(signed(self.length));
        message.add_header(header);
        let message = message.finish();
        builder.finish(message, None);
        write_description(out, builder.finished_data());
    }
}

/// Appends beginning and description of a message.
pub(crate) fn write_description(out: &mut Vec<u8>, description: &[u8]) {
    let padded = description.len().next_multiple_of(8);
    out.extend_from_slice(&CONTINUATION);
    out.extend_from_slice(&u32::try_from(padded).expect("a description of less than 4 GiB").to_le_bytes());
    out.extend_from_slice(description);
    pad(out, description.len());
}

/// Fills up a buffer of `length` bytes, just appended, to a multiple of 8.
pub(crate) fn pad(out: &mut Vec<u8>, length: usize) {
    out.resize(out.len() + length.next_multiple_of(8) - length, 0);
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).expect("a length of something in memory")
}
