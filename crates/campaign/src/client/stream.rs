//! Answers of any length: their bodies are handed over part by part and are never whole in memory.

use super::framing::{self, Framing, Head};
use super::{CallError, Connection, STREAM_BYTES};

impl Connection {
    /// Hands the body behind `head` to `sink`, without its framing; returns how many bytes it had.
    pub(super) async fn stream_body(
        &mut self,
        head: &Head,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<u64, CallError> {
        match head.framing {
            Framing::Length(length) => {
                self.stream_bytes(length, sink).await?;
                Ok(length as u64)
            }
            Framing::Chunked => self.stream_chunks(sink).await,
            Framing::UntilClose => {
                let mut bytes = 0;
                self.closing = true;
                loop {
                    sink(self.unread());
                    bytes += (self.filled - self.consumed) as u64;
                    self.consumed = self.filled;
                    self.make_room();
                    if self.fill().await? == 0 {
                        return Ok(bytes);
                    }
                }
            }
        }
    }

    async fn stream_bytes(&mut self, mut left: usize, sink: &mut dyn FnMut(&[u8])) -> Result<(), CallError> {
        while left > 0 {
            let part = left.min(self.filled - self.consumed);
            if part == 0 {
                self.make_room();
                self.fill_more().await?;
                continue;
            }
            let end = self.consumed + part;
            sink(self.inbox.get(self.consumed..end).expect("a part that was read"));
            self.consumed = end;
            left -= part;
        }
        Ok(())
    }

    async fn stream_chunks(&mut self, sink: &mut dyn FnMut(&[u8])) -> Result<u64, CallError> {
        let mut bytes = 0;
        loop {
            let Some((line, size)) = framing::chunk_size(self.unread())? else {
                self.make_room();
                self.fill_more().await?;
                continue;
            };
            self.consumed += line;
            if size == 0 {
                self.trailers().await?;
                return Ok(bytes);
            }
            self.stream_bytes(size, sink).await?;
            bytes += size as u64;
            let mut end = [0; 2];
            for byte in &mut end {
                while self.consumed == self.filled {
                    self.make_room();
                    self.fill_more().await?;
                }
                *byte = *self.inbox.get(self.consumed).expect("filled just above");
                self.consumed += 1;
            }
            if end != *b"\r\n" {
                return Err(CallError::Malformed("a chunk is longer than it said".to_owned()));
            }
        }
    }

    /// Moves what is unread to the front, so that the buffer never grows.
    fn make_room(&mut self) {
        if self.inbox.len() < STREAM_BYTES {
            self.inbox.resize(STREAM_BYTES, 0);
        }
        self.inbox.copy_within(self.consumed..self.filled, 0);
        self.filled -= self.consumed;
        self.consumed = 0;
    }
}
