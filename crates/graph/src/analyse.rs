//! The words of a text, by which SEARCH indexes find it: what dictionaries split of Chinese, what Unicode calls words of all else, in small letters.
//!
//! A text and a query match if they share a word. The whole text counts as a word, too: so a text without any (`"!"`) is found, and a query for a
//! phrase in parentheses finds the text that is just this phrase.

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use jieba_rs::Jieba;
use unicode_segmentation::UnicodeSegmentation;

/// The most bytes of a word that are compared; of longer ones the rest is left out.
pub const WORD_BYTES_MAX: usize = 128;

/// The dictionary of Chinese words: some tens of megabytes, so it is loaded when the first Chinese text comes.
static DICTIONARY: OnceLock<Jieba> = OnceLock::new();

/// The words of a text, sorted, each once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Words(Vec<Box<str>>);

impl Words {
    /// Those of a stored text. Cost: linear in it; about a microsecond for ten Chinese characters.
    pub fn of_text(text: &str) -> Self {
        let small = text.to_lowercase();
        let mut words = Vec::new();
        split(&small, &mut words);
        words.push(cut(&small));
        Self::sorted(words)
    }

    /// Those that a query asks for: `(word)` and `(word|word)` name them, anything else is a text.
    pub fn of_query(query: &str) -> Self {
        let named = query.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let Some(named) = named else { return Self::of_text(query) };
        let small = named.to_lowercase();
        let parts: Vec<_> = small.split('|').filter(|word| !word.is_empty()).map(cut).collect();
        Self::sorted(if parts.is_empty() { vec![cut(&small)] } else { parts })
    }

    /// Those of several texts.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        Self::sorted(self.0)
    }

    /// Them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|word| &**word)
    }

    /// Whether both have one. Cost: a search in the longer for each of the shorter.
    pub fn has_any_of(&self, other: &Self) -> bool {
        let (few, many) = if self.0.len() < other.0.len() { (self, other) } else { (other, self) };
        few.0.iter().any(|word| many.0.binary_search(word).is_ok())
    }

    fn sorted(mut words: Vec<Box<str>>) -> Self {
        words.sort_unstable();
        words.dedup();
        Self(words)
    }
}

/// Takes the words of a text in small letters: runs of Chinese characters by the dictionary.
fn split(text: &str, words: &mut Vec<Box<str>>) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_chinese = is_han(first);
        let end = rest.find(|next| is_han(next) != is_chinese).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        if is_chinese {
            let dictionary = DICTIONARY.get_or_init(Jieba::new);
            words.extend(dictionary.cut_for_search(run, true).into_iter().map(|token| cut(token.word)));
        } else {
            split_other(run, words);
        }
        rest = behind;
    }
}

/// Takes the words of a text without Chinese characters. What is joined by a sign (`a_b`, `can't`) counts whole and by parts; numbers like 1.5 stay whole.
fn split_other(run: &str, words: &mut Vec<Box<str>>) {
    for word in run.unicode_words() {
        words.push(cut(word));
        if word.contains(['_', '\'', '\u{2019}', ':']) || word.contains('.') && !is_number(word) {
            let parts = word.split(['_', '\'', '\u{2019}', ':', '.']).filter(|part| !part.is_empty());
            words.extend(parts.map(cut));
        }
    }
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether it is a Chinese character.
fn is_han(character: char) -> bool {
    matches!(u32::from(character),
        0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

/// A word without what is beyond the limit.
fn cut(word: &str) -> Box<str> {
    let end = word.floor_char_boundary(WORD_BYTES_MAX);
    word.get(..end).expect("a boundary of characters").into()
}
