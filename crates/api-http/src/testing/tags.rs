//! Entity tags in transcripts: hashes are shown as `"tag-1"`, `"tag-2"`, … in the order they are first met, so that a
//! transcript shows which are the same.

use super::{Got, Sent};

/// The tags that were met, by number.
#[derive(Default)]
pub(super) struct Tags {
    known: Vec<String>,
    /// Whether answers show them.
    shown: bool,
}

impl Tags {
    /// Those of a transcript that begins with this text: it shows tags if it speaks of `ETag`.
    pub(super) fn of(preface: &str) -> Self {
        Self { known: Vec::new(), shown: preface.contains("ETag") }
    }

    /// The request with the tags that it names by number.
    pub(super) fn spell(&self, sent: &Sent) -> Sent {
        let mut sent = sent.clone();
        for (_, value) in &mut sent.headers {
            // The greatest number first: `tag-1` begins `tag-10`.
            for (index, tag) in self.known.iter().enumerate().rev() {
                *value = value.replace(&format!("tag-{}", index + 1), tag);
            }
        }
        sent
    }

    /// The answer with its tag by number, or without it.
    pub(super) fn number(&mut self, mut got: Got) -> Got {
        let shown = self.shown;
        got.headers.retain(|(name, _)| shown || name != "etag");
        for (name, value) in &mut got.headers {
            if name == "etag" {
                *value = format!("\"tag-{}\"", self.place(value.trim_matches('"')));
            }
        }
        got
    }

    fn place(&mut self, tag: &str) -> usize {
        let place = self.known.iter().position(|known| known == tag);
        1 + place.unwrap_or_else(|| {
            self.known.push(tag.to_owned());
            self.known.len() - 1
        })
    }
}
