//! A least-recently-used cache, bounded by entries and by bytes.

use std::num::NonZeroUsize;

use lru::LruCache;

/// Values by text.
#[derive(Debug)]
pub(crate) struct Bounded<T> {
    entries: LruCache<Box<str>, (T, usize)>,
    bytes: usize,
    bytes_max: usize,
}

impl<T: Clone> Bounded<T> {
    /// An empty map for so many entries (at least one) of so many bytes in all.
    pub(crate) fn new(entries_max: usize, bytes_max: usize) -> Self {
        let entries_max = NonZeroUsize::new(entries_max).unwrap_or(NonZeroUsize::MIN);
        Self { entries: LruCache::new(entries_max), bytes: 0, bytes_max }
    }

    /// The value of `key`, which counts as used. Cost: one hash look-up.
    pub(crate) fn get(&mut self, key: &str) -> Option<T> {
        self.entries.get(key).map(|(value, _)| value.clone())
    }

    /// Puts a value of so many bytes; the least recently used values are evicted until there is room. A value
    /// larger than the whole cache is not put.
    pub(crate) fn put(&mut self, key: &str, value: T, bytes: usize) {
        self.remove(key);
        let bytes = bytes.saturating_add(key.len());
        if bytes > self.bytes_max {
            return;
        }
        self.bytes += bytes;
        if let Some((_, (_, freed))) = self.entries.push(key.into(), (value, bytes)) {
            self.bytes -= freed;
        }
        while self.bytes > self.bytes_max {
            let (_, (_, freed)) = self.entries.pop_lru().expect("bytes are those of entries");
            self.bytes -= freed;
        }
    }

    /// Removes `key`; `false`: it was not there.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let removed = self.entries.pop(key);
        if let Some((_, freed)) = &removed {
            self.bytes -= freed;
        }
        removed.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bounded: &Bounded<u8>) -> Vec<String> {
        bounded.entries.iter().map(|(key, _)| key.to_string()).collect()
    }

    #[test]
    fn the_least_used_goes_first() {
        let mut bounded = Bounded::new(2, 1000);
        bounded.put("a", 1, 10);
        bounded.put("b", 2, 10);
        assert_eq!(bounded.get("a"), Some(1));
        bounded.put("c", 3, 10);
        assert_eq!(keys(&bounded), ["c", "a"]);
        assert_eq!(bounded.get("b"), None);
    }

    #[test]
    fn bytes_are_bounded() {
        let mut bounded = Bounded::new(100, 31);
        for key in ["a", "b", "c"] {
            bounded.put(key, 0, 9);
        }
        assert_eq!(keys(&bounded), ["c", "b", "a"]);
        assert_eq!(bounded.bytes, 30);
        bounded.put("a", 1, 10);
        assert_eq!(keys(&bounded), ["a", "c", "b"]);
        bounded.put("d", 2, 20);
        assert_eq!(keys(&bounded), ["d"], "{bounded:?}");
        bounded.put("e", 3, 31);
        assert_eq!(keys(&bounded), ["d"]);
        assert!(bounded.remove("d"));
        assert!(!bounded.remove("d"));
        assert_eq!(bounded.bytes, 0);
    }
}
