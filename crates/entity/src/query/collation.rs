//! Collations: in which order texts come, by the rules and names of ICU (RFC 6067).

use std::fmt;
use std::sync::{Arc, LazyLock};

use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, MaxVariable, Strength};
use icu_collator::preferences::{CollationCaseFirst, CollationNumericOrdering, CollationType};
use icu_collator::{CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;
use icu_locale_core::extensions::unicode::Value;

use crate::Error;

/// The longest name of a collation, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// An order of texts: that of a language, or one variant of it. Its tables are compiled in; clones share.
#[derive(Clone)]
pub struct Collation {
    collator: Arc<CollatorBorrowed<'static>>,
}

/// The order of no language in particular.
static ROOT: LazyLock<Collation> = LazyLock::new(|| {
    Collation::new(CollatorPreferences::default(), CollatorOptions::default())
        .expect("the root collation is compiled in")
});

impl Collation {
    /// The collation that all texts are ordered by unless another one is asked for. Cost: nothing after the first time.
    pub fn root() -> Self {
        ROOT.clone()
    }

    /// The collation of this name: a language tag, perhaps with settings, such as `de-u-co-phonebk` or `und-u-ks-level1`. A
    /// language that has no order of its own has that of the root, as ICU does it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it is no language tag, or a setting is unknown or not available.
    pub fn parse(name: &str) -> Result<Self, Error> {
        // ICU's own name for it is no language tag.
        if name == "root" {
            return Ok(Self::root());
        }
        let invalid = |detail: &str| Error::Invalid(format!("{name:?} is no collation: {detail}"));
        if name.len() > NAME_BYTES_MAX {
            return Err(Error::Invalid(format!("a collation's name is longer than {NAME_BYTES_MAX} bytes")));
        }
        let locale = Locale::try_from_str(name)
            .map_err(|_| invalid("expected a language tag such as de-u-co-phonebk"))?;
        let mut options = CollatorOptions::default();
        for (key, value) in locale.extensions.unicode.keywords.iter() {
            if set(&mut options, key.as_str(), value).is_none() {
                return Err(invalid(&format!("it cannot be set \"{}-{value}\"", key.as_str())));
            }
        }
        Self::new(CollatorPreferences::from(&locale), options).ok_or_else(|| invalid("it is not available"))
    }

    fn new(preferences: CollatorPreferences, options: CollatorOptions) -> Option<Self> {
        let collator = CollatorBorrowed::try_new(preferences, options).ok()?;
        Some(Self { collator: Arc::new(collator) })
    }

    /// What sorts, byte by byte, as the text does. Cost: about a microsecond for a short text.
    pub fn key(&self, text: &str) -> Box<[u8]> {
        let mut key = Vec::with_capacity(text.len() * 2);
        // Writing to memory does not fail.
        let Ok(()) = self.collator.write_sort_key_to(text, &mut key);
        key.into()
    }
}

/// Takes in a setting; `None` if its value is unknown or not available. What settings of collations are called is said by Unicode
/// TR 35, and other keys are none.
fn set(options: &mut CollatorOptions, key: &str, value: &Value) -> Option<()> {
    let text = value.to_string();
    match key {
        "ks" => options.strength = Some(strength(&text)?),
        "ka" => {
            options.alternate_handling = Some(match &*text {
                "noignore" => AlternateHandling::NonIgnorable,
                "shifted" => AlternateHandling::Shifted,
                _ => return None,
            });
        }
        "kc" => options.case_level = Some(if flag(&text)? { CaseLevel::On } else { CaseLevel::Off }),
        "kv" => {
            options.max_variable = Some(match &*text {
                "space" => MaxVariable::Space,
                "punct" => MaxVariable::Punctuation,
                "symbol" => MaxVariable::Symbol,
                "currency" => MaxVariable::Currency,
                _ => return None,
            });
        }
        // The library reads these itself, and passes over what it does not know.
        "co" => drop(CollationType::try_from(value).ok()?),
        "kf" => drop(CollationCaseFirst::try_from(value).ok()?),
        "kn" => drop(CollationNumericOrdering::try_from(value).ok()?),
        // Texts are always compared as if they were normalized.
        "kk" => drop(flag(&text)?),
        "kb" | "kh" | "kr" | "vt" => return None,
        _ => {}
    }
    Some(())
}

fn strength(text: &str) -> Option<Strength> {
    Some(match text {
        "level1" => Strength::Primary,
        "level2" => Strength::Secondary,
        "level3" => Strength::Tertiary,
        "level4" => Strength::Quaternary,
        "identic" => Strength::Identical,
        _ => return None,
    })
}

/// `true`, which may be left out, or `false`.
fn flag(text: &str) -> Option<bool> {
    match text {
        "" | "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

impl fmt::Debug for Collation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Collation").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &[&str]) {
        let collation = Collation::parse(name).unwrap();
        let mut found: Vec<&str> = expected.iter().rev().copied().collect();
        found.sort_by_key(|text| collation.key(text));
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn texts_come_as_their_collation_says() {
        for name in ["und", "und-x-icu", "root", "en", "xx", "en-u-ca-gregory"] {
            check(name, &["", " ", "_", "1", "10", "2", "a", "A", "ä", "b", "Z", "é́z"][..11]);
        }
        check("und", &["Äb", "Ad", "Af"]);
        check("de-u-co-phonebk", &["Ad", "Äb", "Af"]);
        check("und-u-kn", &["2", "10"]);
        check("und-u-kf-upper", &["A", "a"]);
        check("sv", &["z", "ä"]);
        check("und", &["a c", "ab"]);
        check("und-u-ka-shifted", &["ab", "a c"]);
    }

    #[test]
    fn texts_may_be_alike() {
        let alike = |name: &str, one: &str, other: &str| {
            let collation = Collation::parse(name).unwrap();
            collation.key(one) == collation.key(other)
        };
        assert!(alike("und-u-ks-level1", "E", "é"));
        assert!(alike("und-u-ks-level2", "E", "e") && !alike("und-u-ks-level2", "e", "é"));
        assert!(!alike("und", "E", "e") && !alike("und-u-ks-identic", "E", "e"));
        assert!(alike("und", "e\u{301}", "é"));
    }

    #[test]
    fn what_is_no_collation_is_refused() {
        for name in
            ["", "no such", "de-u-co-nonsense", "und-u-ks-level9", "und-u-kn-perhaps", "und-u-kr-latn", "😀"]
        {
            let error = Collation::parse(name).unwrap_err().to_string();
            assert!(error.contains("is no collation: "), "{name}: {error}");
        }
        assert!(Collation::parse(&"a-".repeat(100)).unwrap_err().to_string().contains("128 bytes"));
    }
}
