//! The bytes of a form between its boundaries, as they come. No byte is looked at again but for the length of a boundary, however the
//! body is cut.

use bytes::{Bytes, BytesMut};
use memchr::memmem::Finder;

use super::{FormError, FormLimits, PART_HEAD_BYTES_MAX};
use crate::{RequestStream, Share};

/// White space after a boundary, at most.
const PADDING_BYTES_MAX: usize = 1 << 10;

/// A form that is being read.
pub(super) struct Scanner<'r> {
    body: &'r mut RequestStream,
    share: &'r mut Share,
    bytes_max: u64,
    /// What came, and was not taken.
    buffer: BytesMut,
    /// Bytes that came, and that parts took.
    came: u64,
    taken: usize,
    /// A line break, two hyphens, and the boundary.
    delimiter: Finder<'static>,
}

impl<'r> Scanner<'r> {
    pub(super) fn new(
        body: &'r mut RequestStream,
        share: &'r mut Share,
        boundary: &str,
        limits: FormLimits,
    ) -> Self {
        let delimiter = Finder::new(&format!("\r\n--{boundary}")).into_owned();
        // As if a line had ended before the body: the first boundary may be its first line.
        let buffer = BytesMut::from(&b"\r\n"[..]);
        Self { body, share, bytes_max: limits.bytes_max, buffer, came: 0, taken: 0, delimiter }
    }

    /// Goes on behind the first boundary. What stands before it is nothing.
    pub(super) async fn begin(&mut self) -> Result<(), FormError> {
        let length = self.delimiter.needle().len();
        while self.delimiter.find(&self.buffer).is_none() {
            // The last bytes may be the beginning of the boundary.
            let done = self.buffer.len().saturating_sub(length - 1);
            drop(self.buffer.split_to(done));
            self.more().await?;
        }
        let at = self.delimiter.find(&self.buffer).expect("it was found");
        drop(self.buffer.split_to(at + length));
        Ok(())
    }

    /// The head of the part that begins behind a boundary; nothing behind the last.
    pub(super) async fn head(&mut self) -> Result<Option<Bytes>, FormError> {
        while self.buffer.len() < 2 {
            self.more().await?;
        }
        if self.buffer.starts_with(b"--") {
            return Ok(None);
        }
        self.pass_padding().await?;
        let mut searched = 0;
        loop {
            // A head without headers is an empty line behind that of the boundary.
            let found = memchr::memmem::find(self.buffer.get(searched..).unwrap_or(&[]), b"\r\n\r\n");
            if let Some(at) = found.map(|at| at + searched).filter(|at| *at <= PART_HEAD_BYTES_MAX) {
                let head = self.buffer.split_to(at).freeze();
                drop(self.buffer.split_to(4));
                return Ok(Some(head));
            }
            if self.buffer.len() > PART_HEAD_BYTES_MAX {
                return Err(malformed(&format!(
                    "the head of a part has more than {PART_HEAD_BYTES_MAX} bytes"
                )));
            }
            searched = self.buffer.len().saturating_sub(3);
            self.more().await?;
        }
    }

    /// All bytes up to the next boundary, behind which it goes on.
    pub(super) async fn data(&mut self) -> Result<Bytes, FormError> {
        let length = self.delimiter.needle().len();
        let mut searched = 0;
        loop {
            let found = self.delimiter.find(self.buffer.get(searched..).unwrap_or(&[]));
            if let Some(at) = found {
                let data = self.buffer.split_to(searched + at).freeze();
                drop(self.buffer.split_to(length));
                self.taken = self.taken.saturating_add(data.len());
                return Ok(data);
            }
            searched = self.buffer.len().saturating_sub(length - 1);
            self.more().await?;
        }
    }

    /// White space behind a boundary, up to the end of its line.
    async fn pass_padding(&mut self) -> Result<(), FormError> {
        let mut passed = 0;
        loop {
            let blank = self.buffer.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            drop(self.buffer.split_to(blank));
            passed += blank;
            if passed > PADDING_BYTES_MAX {
                return Err(malformed("a boundary has too much white space behind it"));
            }
            match self.buffer.get(..2) {
                Some(b"\r\n") => return Ok(()),
                Some(_) => return Err(malformed("a boundary is not the end of its line")),
                None => self.more().await?,
            }
        }
    }

    /// The next piece of the body.
    async fn more(&mut self) -> Result<(), FormError> {
        let piece = self.body.next().await.map_err(FormError::Refused)?;
        let piece = piece.ok_or_else(|| malformed("the body ends before the last boundary"))?;
        self.came = self.came.saturating_add(piece.len() as u64);
        if self.came > self.bytes_max {
            return Err(FormError::TooLarge(self.bytes_max));
        }
        let held = self.taken.saturating_add(self.buffer.len()).saturating_add(piece.len());
        self.share.grow(held).await.map_err(|full| FormError::Refused(full.into()))?;
        self.buffer.extend_from_slice(&piece);
        Ok(())
    }
}

fn malformed(message: &str) -> FormError {
    FormError::Malformed(message.to_owned())
}
