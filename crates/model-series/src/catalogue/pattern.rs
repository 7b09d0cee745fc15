//! Patterns of searches: `%` stands for any characters, `_` for one, `\` before one of these for itself.

/// A pattern, ready to match.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Pattern {
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Piece {
    Character(char),
    One,
    Any,
}

impl Pattern {
    /// Reads a pattern; every text is one.
    pub(crate) fn new(text: &str) -> Self {
        let mut pieces = Vec::with_capacity(text.len());
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let piece = match character {
                '%' => Piece::Any,
                '_' => Piece::One,
                '\\' => Piece::Character(
                    characters.next_if(|next| ['%', '_', '\\'].contains(next)).unwrap_or('\\'),
                ),
                other => Piece::Character(other),
            };
            if piece != Piece::Any || pieces.last() != Some(&Piece::Any) {
                pieces.push(piece);
            }
        }
        Self { pieces }
    }

    /// What every text that matches begins with.
    pub(crate) fn prefix(&self) -> String {
        self.pieces
            .iter()
            .map_while(|piece| match piece {
                Piece::Character(character) => Some(*character),
                Piece::One | Piece::Any => None,
            })
            .collect()
    }

    /// The only text that matches; `None` if there may be more.
    pub(crate) fn exact(&self) -> Option<String> {
        let has_wildcards = self.pieces.iter().any(|piece| matches!(piece, Piece::One | Piece::Any));
        (!has_wildcards).then(|| self.prefix())
    }

    /// Whether a text matches. Cost: the lengths multiplied at worst, usually their sum.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let (mut rest, mut place) = (text.chars(), 0);
        // Where to go on if what follows the last `%` does not fit: one character further.
        let mut retry: Option<(std::str::Chars<'_>, usize)> = None;
        loop {
            let before = rest.clone();
            match (self.pieces.get(place), rest.next()) {
                (Some(Piece::Any), _) => {
                    place += 1;
                    retry = Some((before.clone(), place));
                    rest = before;
                    continue;
                }
                (Some(Piece::One), Some(_)) => {
                    place += 1;
                    continue;
                }
                (Some(Piece::Character(wanted)), Some(found)) if *wanted == found => {
                    place += 1;
                    continue;
                }
                (None, None) => return true,
                _ => {}
            }
            let Some((from, behind)) = &mut retry else {
                return false;
            };
            if from.next().is_none() {
                return false;
            }
            (rest, place) = (from.clone(), *behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wildcards_stand_for_characters() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} on {text}");
        };
        check("", "", true);
        check("", "a", false);
        check("%", "", true);
        check("a%", "abc", true);
        check("%c", "abc", true);
        check("%b%", "abc", true);
        check("a_c", "aüc", true);
        check("a_c", "ac", false);
        check("%ab%ab", "abxabab", true);
        check("%ab%ab", "abxaba", false);
        check("100\\%", "100%", true);
        check("100\\%", "1000", false);
        check("a\\b", "a\\b", true);
        check("Load", "load", false);
    }

    #[test]
    fn prefixes_and_exact_texts_are_known() {
        assert_eq!(Pattern::new("load 1%2").prefix(), "load 1");
        assert_eq!(Pattern::new("load\\_1").exact().as_deref(), Some("load_1"));
        assert_eq!(Pattern::new("load_1").exact(), None);
    }

    /// The definition of matching, by recursion.
    fn matches(pattern: &[char], text: &[char]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            (['%', rest @ ..], _) => {
                matches(rest, text) || text.split_first().is_some_and(|(_, text)| matches(pattern, text))
            }
            (['_', rest @ ..], [_, text @ ..]) => matches(rest, text),
            ([one, rest @ ..], [other, text @ ..]) => one == other && matches(rest, text),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_its_definition(pattern in "[ab%_]{0,8}", text in "[ab]{0,10}") {
            let characters = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = matches(&characters(&pattern), &characters(&text));
            prop_assert_eq!(Pattern::new(&pattern).matches(&text), expected);
        }
    }
}
