//! The names of numbered IRIs as one context spells them, remembered as they are met.

use std::sync::Arc;

use crate::append_only::{Numbers, Slots};
use crate::context::Context;
use crate::memory::{MemoryUse, text_bytes};

/// A name as the context spells it.
#[derive(Debug)]
pub struct Spelling {
    /// The name, unescaped.
    pub name: Box<str>,
    /// The name as the key of a JSON member: escaped, in quotes, with the colon.
    pub key: Box<str>,
}

/// Remembers, for one context, the numbers of names and the names of numbers. Who numbers the IRIs is the caller's
/// business; a number must never change its IRI, and the context must always be the same.
///
/// Both directions fill as names are met; nothing is ever changed or removed, so that readers take
/// no lock and borrow what they find.
#[derive(Debug)]
pub struct NameCache {
    numbers: Numbers,
    spellings: Slots<Spelling>,
    memory: MemoryUse,
}

impl NameCache {
    /// An empty cache, whose growth counts in `memory`.
    pub fn new(memory: MemoryUse) -> Self {
        Self { numbers: Numbers::default(), spellings: Slots::default(), memory }
    }

    /// The number of a name; `find` gives that of an IRI, if it has one. Cost: one hash look-up, once the name was met;
    /// otherwise its expansion and `find`.
    pub fn number(
        &self,
        context: &Context,
        name: &str,
        find: impl FnOnce(&str) -> Option<u32>,
    ) -> Option<u32> {
        if let Some(number) = self.numbers.get(name) {
            return Some(number);
        }
        let number = find(&context.expand(name))?;
        self.numbers.put(name, number, &self.memory);
        Some(number)
    }

    /// The name of a number; `iri` gives its IRI. Cost: two indexes, once the number was met; otherwise `iri` and its
    /// compaction.
    pub fn spelling(
        &self,
        context: &Context,
        number: u32,
        iri: impl FnOnce() -> Option<Arc<str>>,
    ) -> Option<&Spelling> {
        self.spellings.get_or_make(number as usize, &self.memory, || {
            let iri = iri()?;
            let name = context.compact(&iri);
            let mut key = lang_json::string_to(&name);
            key.push(':');
            self.memory.add(text_bytes(name.len()) + text_bytes(key.len()));
            Some(Spelling { name: name.as_ref().into(), key: key.into() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_remembered() {
        let (context, cache) = (Context::core(), NameCache::new(MemoryUse::default()));
        let iri = "https://uri.etsi.org/ngsi-ld/default-context/a\"b";
        assert_eq!(cache.number(&context, "a\"b", |_| None), None);
        assert_eq!(cache.number(&context, "a\"b", |found| (found == iri).then_some(7)), Some(7));
        assert_eq!(cache.number(&context, "a\"b", |_| unreachable!("it was remembered")), Some(7));
        assert!(cache.spelling(&context, 7, || None).is_none());
        for _ in 0..2 {
            let spelling = cache.spelling(&context, 7, || Some(iri.into())).unwrap();
            assert_eq!((&*spelling.name, &*spelling.key), ("a\"b", "\"a\\\"b\":"));
        }
    }
}
