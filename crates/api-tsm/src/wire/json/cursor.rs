//! A position in the received bytes.

/// The received bytes, and how many of them are read.
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).expect("only received bytes are read")
    }

    /// The next byte that is no white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let rest = self.rest();
        let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        self.at += spaces;
        rest.get(spaces).copied()
    }

    /// Puts the cursor where `rest` begins.
    pub(super) fn move_to(&mut self, rest: &[u8]) {
        self.at = self.bytes.len() - rest.len();
    }
}
